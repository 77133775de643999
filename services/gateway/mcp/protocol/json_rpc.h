#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "gateway/json/parse.h"

namespace callslip::gateway {

// JSON-RPC 2.0 error codes, as MCP uses them.
enum class JsonRpcCode {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kInternalError = -32603,
  // Legacy clients know these three codes from the official servers.
  kSessionRequired = -32000,
  kSessionNotFound = -32001,
  kResourceNotFound = -32002,
  // 2026-07-28, basic/index: error codes.
  kHeaderMismatch = -32020,
  kMissingClientCapability = -32021,
  kUnsupportedProtocolVersion = -32022,
};

struct RpcError {
  JsonRpcCode code;
  std::string message;
  std::optional<Json> data;
};

// The result of a request, or its error.
using RpcOutcome = std::variant<Json, RpcError>;

// A message from a client. Exactly one of the three kinds.
struct JsonRpcMessage {
  enum class Kind { kRequest, kNotification, kResponse };

  Kind kind;
  Json id;  // A string or an integer, for requests and responses.
  std::string method;
  Json params = Json::object();
  RpcOutcome outcome = Json();  // For responses.
};

// The messages of one HTTP body.
struct JsonRpcBody {
  // An invalid entry of a batch becomes the error that answers it.
  std::vector<std::variant<JsonRpcMessage, RpcError>> messages;
  bool is_batch = false;
};

// Messages in one batch.
inline constexpr size_t kMaxBatch = 100;

// Limit of an id and of a progress token, as JSON: both are kept for the duration of the request.
// Clients number their requests, or use UUIDs.
inline constexpr size_t kMaxRpcIdBytes = 1024;

// The messages in `body`, or the error of the body as a whole. Such an error is answered without an
// `id`, since none could be trusted (and `"id":null` makes official clients throw).
std::variant<JsonRpcBody, RpcError> ParseJsonRpc(const std::string& body);

// The response to the request `id`, on one line.
std::string JsonRpcResponse(const Json& id, const RpcOutcome& outcome);
// An error that belongs to no particular request.
std::string JsonRpcErrorWithoutId(const RpcError& error);

}  // namespace callslip::gateway
