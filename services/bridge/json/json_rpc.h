#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace callslip::bridge {

// The longest line in either direction. The official clients close the pipe on a line of more than
// 10 MiB.
inline constexpr size_t kMaxLineBytes = size_t{10} * 1024 * 1024;

// Error codes of JSON-RPC 2.0 and, from -32000 on, those that the official MCP clients use for a
// lost connection and for a timeout.
inline constexpr int kParseError = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kInternalError = -32603;
inline constexpr int kConnectionError = -32000;
inline constexpr int kRequestTimeout = -32001;
// Only this error to `server/discover` shows a client that the server supports a stateless
// revision; for any other error the client falls back to `initialize`.
inline constexpr int kUnsupportedVersion = -32022;
inline constexpr char kModernVersion[] = "2026-07-28";

// The parts of a `tools/call` that the bridge uses. Members that are absent or of the wrong type
// are empty or zero: validating them is the gateway's task.
struct ToolCall {
  std::string tool;
  std::string action;
  std::string what;
  std::string correlation_id;
  // Makes the call safe to repeat; empty if there is none.
  std::string request_id;
  std::optional<absl::Duration> wait = std::nullopt;  // `wait_ms`
  bool asks_person = false;                           // `wait`: true
  bool as_task = false;  // The caller expects an MCP task, not a plain tool result.
};

// One JSON-RPC message and the facts that decide how it is handled. `line` is forwarded unchanged
// except for the fixes of MendJson(), the escapes of EscapeLineSeparators() and a request_id (see
// AddRequestId()); it is never rebuilt from the facts.
struct Message {
  enum class Kind { kRequest, kNotification, kResponse, kInvalid };

  Kind kind = Kind::kInvalid;
  std::string line;
  // The bytes of the id as received, quotes included. Empty if there is none, and for a response to
  // an unreadable message (its id is absent or null).
  std::string id;
  // Equal for two ids exactly if they are the same id: "A" and "\u0041" are, and 1 and 1.0; 1 and
  // "1" are not.
  std::string id_key;
  std::string method;
  // The values that the headers of a message of the stateless revisions repeat. `is_modern` is true
  // if its `_meta` names a protocol version; `name` is that of a tool or prompt, a URI or a task
  // id.
  bool is_modern = false;
  std::string protocol_version;
  std::optional<std::string> name;
  std::optional<ToolCall> tool_call;
  // The `id_key` of the request that a `notifications/cancelled` cancels; otherwise empty.
  std::string cancelled_key;

  bool IsMethod(absl::string_view wanted) const { return method == wanted; }
  bool is_request() const { return kind == Kind::kRequest; }
  // Requests an event stream that stays open: it has no deadline once it has begun.
  bool is_stream() const { return is_request() && IsMethod("subscriptions/listen"); }

  // Why the message is kInvalid, for an error answer.
  int error_code = 0;
  std::string error;
};

// Never fails: an invalid message is kInvalid, and so is a batch.
Message ParseMessage(std::string line);

// Adds a `request_id` from `make` to a `tools/call` that submits a command, unless it has one: a
// repeated call with it is the same command. Such calls are `interact` except its `cancel`, and
// `analyze`, for annotations only if the user is asked for some. All other messages stay unchanged.
void AddRequestId(Message& message, const std::function<std::string()>& make);

// Sets `wait_ms` in the arguments of a `tools/call`, replacing any present one.
void SetWait(Message& message, absl::Duration wait);

// Reads a text in the `_meta` of a message, empty if there is none; or replaces it, if there is
// one.
std::string MetaText(const Message& message, absl::string_view name);
void ReplaceMetaText(Message& message, absl::string_view name, absl::string_view text);

// The `files` in the arguments of an `upload`; empty if they are not a list of texts, which the
// gateway refuses.
std::vector<std::string> FilesOf(const Message& message);

// Replaces these `files`.
void SetFiles(Message& message, const std::vector<std::string>& files);

// The Message::id_key of an id in JSON bytes. Empty if it is not a valid id.
std::string IdKey(absl::string_view id);

// The JSON object `message` with its id replaced by `id` (JSON bytes).
std::string WithId(absl::string_view message, absl::string_view id);

// An error answer on one line. `id` is in JSON bytes; if it is empty, the member is omitted,
// because the official clients throw on "id":null. `data` is JSON, or empty for none.
std::string ErrorLine(absl::string_view id, int code, absl::string_view text,
                      absl::string_view data = {});

}  // namespace callslip::bridge
