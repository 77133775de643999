#include "gateway/mcp/json_rpc.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/error_details.h"

namespace callslip::gateway {
namespace {

Json ErrorMember(JsonRpcCode code, absl::string_view message, std::optional<Json> data) {
  Json error = {{"code", static_cast<int>(code)}, {"message", std::string(message)}};
  if (data.has_value()) error["data"] = *std::move(data);
  return error;
}

HttpResponse Invalid(absl::string_view problem) {
  return JsonRpcErrorWithoutId(400, JsonRpcCode::kInvalidRequest,
                               absl::StrCat("Invalid request: ", problem));
}

}  // namespace

std::variant<JsonRpcMessage, HttpResponse> ParseJsonRpc(const std::string& body) {
  absl::StatusOr<Json> parsed = ParseJson(body);
  if (!parsed.ok()) {
    const bool malformed = DetailsOf(parsed.status()).reason == "malformed_json";
    return JsonRpcErrorWithoutId(
        400, malformed ? JsonRpcCode::kParseError : JsonRpcCode::kInvalidRequest,
        std::string(parsed.status().message()));
  }
  Json& json = *parsed;
  if (json.is_array()) return Invalid("send one message at a time, batches are not supported.");
  if (!json.is_object()) return Invalid("a message is a JSON object.");
  if (json.value("jsonrpc", Json()) != "2.0") return Invalid("\"jsonrpc\" must be \"2.0\".");

  const auto id = json.find("id");
  const bool valid_id = id != json.end() && (id->is_string() || id->is_number_integer());
  if (id != json.end() && !valid_id) return Invalid("\"id\" must be a string or an integer.");

  const auto method = json.find("method");
  if (method == json.end()) {
    const bool response = valid_id && (json.contains("result") || json.contains("error"));
    if (!response) return Invalid("\"method\" is missing.");
    return JsonRpcMessage{.kind = JsonRpcMessage::Kind::kResponse, .id = std::move(*id)};
  }
  if (!method->is_string()) return Invalid("\"method\" must be a string.");
  const auto params = json.find("params");
  if (params != json.end() && !params->is_object()) return Invalid("\"params\" must be an object.");

  JsonRpcMessage message{
      .kind = valid_id ? JsonRpcMessage::Kind::kRequest : JsonRpcMessage::Kind::kNotification,
      .method = method->get<std::string>()};
  if (valid_id) message.id = std::move(*id);
  if (params != json.end()) message.params = std::move(*params);
  return message;
}

HttpResponse JsonRpcResult(const Json& id, Json result) {
  Json body = {{"jsonrpc", "2.0"}, {"id", Json(id)}};
  body["result"] = std::move(result);
  return {.body = Dump(body)};
}

HttpResponse JsonRpcError(const Json& id, JsonRpcCode code, absl::string_view message,
                          std::optional<Json> data) {
  Json body = {{"jsonrpc", "2.0"}, {"id", Json(id)}};
  body["error"] = ErrorMember(code, message, std::move(data));
  return {.body = Dump(body)};
}

HttpResponse JsonRpcErrorWithoutId(int http_status, JsonRpcCode code, absl::string_view message,
                                   std::optional<Json> data) {
  Json body = {{"jsonrpc", "2.0"}};
  body["error"] = ErrorMember(code, message, std::move(data));
  return {.status = http_status, .body = Dump(body)};
}

}  // namespace callslip::gateway
