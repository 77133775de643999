#ifndef CALLSLIP_GATEWAY_MCP_JSON_RPC_H_
#define CALLSLIP_GATEWAY_MCP_JSON_RPC_H_

#include <optional>
#include <string>
#include <variant>

#include "absl/strings/string_view.h"
#include "gateway/http/http_message.h"
#include "gateway/json/parse.h"

namespace callslip::gateway {

// JSON-RPC 2.0 error codes, as MCP uses them.
enum class JsonRpcCode {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  // 2026-07-28, basic/lifecycle; also tells older clients which versions there are.
  kUnsupportedProtocolVersion = -32022,
};

// A message of a client. Exactly one of the three.
struct JsonRpcMessage {
  enum class Kind { kRequest, kNotification, kResponse };

  Kind kind;
  Json id;  // A string or an integer, for requests.
  std::string method;
  Json params = Json::object();
};

// The message in `body`, or the answer to what is none: HTTP 400 with a JSON-RPC error that has no
// `id`, since there is none that could be trusted (and `"id":null` makes official clients throw).
std::variant<JsonRpcMessage, HttpResponse> ParseJsonRpc(const std::string& body);

// HTTP 200: clients hide the code of an error that comes with another status.
HttpResponse JsonRpcResult(const Json& id, Json result);
HttpResponse JsonRpcError(const Json& id, JsonRpcCode code, absl::string_view message,
                          std::optional<Json> data = std::nullopt);

// An error that answers no request in particular.
HttpResponse JsonRpcErrorWithoutId(int http_status, JsonRpcCode code, absl::string_view message,
                                   std::optional<Json> data = std::nullopt);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_MCP_JSON_RPC_H_
