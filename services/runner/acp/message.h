#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "common/json_members.h"
#include "nlohmann/json.hpp"

// JSON-RPC 2.0 as used by the Agent Client Protocol: one message per line, no batches.
namespace callslip::runner {

using Json = nlohmann::json;

// Error codes of JSON-RPC and of the protocol.
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
  Json data;  // Null if absent.
};

struct Message {
  enum class Kind {
    kRequest,
    kNotification,
    kResponse,
    kUnreadable,  // A request with only its id readable; `error` is the answer.
  };

  Kind kind = Kind::kNotification;
  Json id;             // A number, a string or null; for requests and responses.
  std::string method;  // For requests and notifications.
  Json params;         // An object; empty if absent.
  Json result;         // For responses without an error.
  std::optional<RpcError> error;
};

// A response with neither a result nor an error has a null result, because JavaScript omits
// undefined members. An error that is not an object becomes the error message itself.
//
// Repairs byte order marks, unpaired surrogates (MendJson()) and invalid UTF-8, and turns numbers
// without a fraction into integers (IntegerIn()). A line that is not valid JSON, nests deeper than
// 64 levels, or has more than 500,000 values and keys becomes a kUnreadable request or a response
// with an error if its id can be read before the defect; the latter only if that is not null.
//
// Returns nullopt for a line that is not a message: text that an agent prints between messages,
// scalars, arrays. Does not require `jsonrpc`, because some agents omit it.
std::optional<Message> ParseMessage(absl::string_view line);

// Each returns one line including its line end. Invalid UTF-8 becomes U+FFFD.
std::string FormatRequest(const Json& id, absl::string_view method, Json params);
std::string FormatNotification(absl::string_view method, Json params);
std::string FormatResult(const Json& id, Json result);
std::string FormatError(const Json& id, const RpcError& error);

}  // namespace callslip::runner
