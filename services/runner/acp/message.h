#ifndef CALLSLIP_RUNNER_ACP_MESSAGE_H_
#define CALLSLIP_RUNNER_ACP_MESSAGE_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

// JSON-RPC 2.0 as the Agent Client Protocol has it: one message a line, no batches.
namespace callslip::runner {

using Json = nlohmann::json;

// As one line, also for those who take U+2028 and U+2029 for ends of lines; bytes that are no UTF-8
// become U+FFFD.
std::string Dump(const Json& json);

// Codes of JSON-RPC and of the protocol.
inline constexpr int kParseError = -32700;
inline constexpr int kInvalidParams = -32602;
inline constexpr int kMethodNotFound = -32601;
inline constexpr int kInternalError = -32603;
inline constexpr int kAuthRequired = -32000;
inline constexpr int kResourceNotFound = -32002;
inline constexpr int kRequestCancelled = -32800;

struct RpcError {
  int code = kInternalError;
  std::string message;
  Json data;  // Null where there is none.
};

struct Message {
  enum class Kind {
    kRequest,
    kNotification,
    kResponse,
    kUnreadable,  // A request of which only the id could be read; `error` answers it.
  };

  Kind kind = Kind::kNotification;
  Json id;             // A number, a string or null; of requests and responses.
  std::string method;  // Of requests and notifications.
  Json params;         // An object; an empty one where there is none.
  Json result;         // Of a response without error.
  std::optional<RpcError> error;
};

// A response with neither a result nor an error has null for its result: JavaScript leaves out what
// is undefined. An error that is no object is its own message.
//
// A byte order mark, half characters (MendJson()) and what is no UTF-8 are mended, and a number
// without a fraction is an integer (IntegerIn()). What is no valid JSON, nests deeper than 64
// levels, or has more than 500,000 values and keys, is a request that is kUnreadable, or a response
// that is an error, if its id can be read before it breaks.
//
// Nothing for what is no message: text that an agent prints beside them, scalars, arrays. Whether
// `jsonrpc` is there is not looked at, since agents have left it out.
std::optional<Message> ParseMessage(absl::string_view line);

// On one line, with its end. What is not UTF-8 becomes U+FFFD.
std::string FormatRequest(const Json& id, absl::string_view method, Json params);
std::string FormatNotification(absl::string_view method, Json params);
std::string FormatResult(const Json& id, Json result);
std::string FormatError(const Json& id, const RpcError& error);

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_ACP_MESSAGE_H_
