#ifndef CALLSLIP_BRIDGE_JSON_JSON_RPC_H_
#define CALLSLIP_BRIDGE_JSON_JSON_RPC_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace callslip::bridge {

// The longest line in either direction. The official clients close the pipe on one of more than
// 10 MiB.
inline constexpr size_t kMaxLineBytes = size_t{10} * 1024 * 1024;

// Error codes of JSON-RPC 2.0 and, from -32000 on, those that the official MCP clients use for a
// lost connection and for a timeout.
inline constexpr int kParseError = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kInternalError = -32603;
inline constexpr int kConnectionError = -32000;
inline constexpr int kRequestTimeout = -32001;
// By this error to `server/discover`, and not by others, a client knows that the server speaks a
// stateless revision; at others it falls back to `initialize`.
inline constexpr int kUnsupportedVersion = -32022;
inline constexpr char kModernVersion[] = "2026-07-28";

// What the bridge needs to know of a `tools/call`. Members that are absent, or not of the kind
// that is expected here, are empty or zero: judging them is the gateway's business.
struct ToolCall {
  std::string tool;
  std::string action;
  std::string what;
  std::string correlation_id;
  // What makes the call safe to repeat; empty where there is none.
  std::string request_id;
  std::optional<absl::Duration> wait = std::nullopt;  // `wait_ms`
  bool asks_person = false;                           // `wait`: true
  bool as_task = false;  // The caller asked for an MCP task, and expects no plain tool result.
};

// One JSON-RPC message and the facts that decide what happens to it. `line` is forwarded as it
// is, but for what MendJson() mends and EscapeLineSeparators() escapes, and for a request_id (see
// AddRequestId()); nothing is ever rebuilt from the facts.
struct Message {
  enum class Kind { kRequest, kNotification, kResponse, kInvalid };

  Kind kind = Kind::kInvalid;
  std::string line;
  // The bytes of the id as they stood on the wire, quotes included. Empty when there is none, and
  // for a response to a message that could not be read (its id is absent or null).
  std::string id;
  // Equal for two ids exactly if they are the same id: "A" and "\u0041" are, and 1 and
  // 1.0; 1 and "1" are not.
  std::string id_key;
  std::string method;
  // What the headers of a message of the stateless revisions repeat. `is_modern` is true where its
  // `_meta` names a protocol version; `name` is that of a tool or prompt, a URI or a task id.
  bool is_modern = false;
  std::string protocol_version;
  std::optional<std::string> name;
  std::optional<ToolCall> tool_call;
  // The `id_key` of the request that a `notifications/cancelled` is about; otherwise empty.
  std::string cancelled_key;

  bool IsMethod(absl::string_view wanted) const { return method == wanted; }
  bool is_request() const { return kind == Kind::kRequest; }
  // Asks for an event stream that stays open: it has no deadline once it has begun.
  bool is_stream() const { return is_request() && IsMethod("subscriptions/listen"); }

  // Why the message is kInvalid, for an error answer.
  int error_code = 0;
  std::string error;
};

// Never fails: what is no message is kInvalid, and so is a batch.
Message ParseMessage(std::string line);

// The messages of a batch, as 2025-03-26 has them: each is answered by itself, since one answer for
// all would wait for the slowest, and each has a time of its own. None where the line is no batch,
// an empty one, or one of more than kMaxBatch.
inline constexpr size_t kMaxBatch = 100;
std::vector<std::string> MessagesOfBatch(absl::string_view line);

// Gives a `tools/call` that hands in a command a `request_id` from `make`, unless it has one:
// repeated with it, the call is the same command. Those are `interact` but for its `cancel`, and
// `analyze`, of annotations where a person is asked for some. All other messages stay as they are.
void AddRequestId(Message& message, const std::function<std::string()>& make);

// Puts `wait_ms` into the arguments of a `tools/call`, in place of the one that is there.
void SetWait(Message& message, absl::Duration wait);

// A text in the `_meta` of a message, empty where there is none; another in its place, if there is
// one.
std::string MetaText(const Message& message, absl::string_view name);
void ReplaceMetaText(Message& message, absl::string_view name, absl::string_view text);

// The `files` in the arguments of an `upload`; none where they are no list of texts, which the
// gateway refuses.
std::vector<std::string> FilesOf(const Message& message);

// Puts others in their place.
void SetFiles(Message& message, const std::vector<std::string>& files);

// As Message::id_key: of an id in JSON bytes. Empty for anything that is no valid id.
std::string IdKey(absl::string_view id);

// The JSON object `message` with `id` (JSON bytes) in place of its id.
std::string WithId(absl::string_view message, absl::string_view id);

// One line with an error answer. `id` is in JSON bytes; when it is empty, the member is left out,
// because the official clients throw on "id":null. `data` is JSON, or empty for none.
std::string ErrorLine(absl::string_view id, int code, absl::string_view text,
                      absl::string_view data = {});

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_JSON_JSON_RPC_H_
