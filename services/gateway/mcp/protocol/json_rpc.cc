#include "gateway/mcp/protocol/json_rpc.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/error_details.h"
#include "common/json_members.h"

namespace callslip::gateway {
namespace {

RpcError Invalid(absl::string_view problem) {
  return {JsonRpcCode::kInvalidRequest, absl::StrCat("Invalid request: ", problem)};
}

Json ErrorMember(const RpcError& error) {
  Json member = {{"code", static_cast<int>(error.code)}, {"message", error.message}};
  if (error.data.has_value()) member["data"] = *error.data;
  return member;
}

bool IsTooLong(const Json& id) {
  return id.is_string() && id.get_ref<const std::string&>().size() > kMaxRpcIdBytes;
}

// Checks the length of a progress token. Tokens of the wrong type are ignored instead.
std::optional<RpcError> CheckProgressToken(const Json& params) {
  if (!IsTooLong(MemberOf(MemberOf(params, "_meta"), "progressToken"))) return std::nullopt;
  return Invalid(absl::StrCat("\"progressToken\" must have at most ", kMaxRpcIdBytes, " bytes."));
}

// The outcome in a client's response.
RpcOutcome OutcomeIn(Json& json) {
  if (const auto result = json.find("result"); result != json.end()) return std::move(*result);
  RpcError error{JsonRpcCode::kInternalError, "The client refused."};
  const Json& message = MemberOf(MemberOf(json, "error"), "message");
  if (message.is_string()) error.message = message.get<std::string>();
  return error;
}

std::variant<JsonRpcMessage, RpcError> ParseMessage(Json& json) {
  if (!json.is_object()) return Invalid("a message is a JSON object.");
  if (json.value("jsonrpc", Json()) != "2.0") return Invalid("\"jsonrpc\" must be \"2.0\".");

  const auto id = json.find("id");
  const bool valid_id = id != json.end() && (id->is_string() || id->is_number_integer());
  if (id != json.end() && !valid_id) return Invalid("\"id\" must be a string or an integer.");
  if (valid_id && IsTooLong(*id)) {
    return Invalid(absl::StrCat("\"id\" must have at most ", kMaxRpcIdBytes, " bytes."));
  }

  const auto method = json.find("method");
  if (method == json.end()) {
    const bool response = valid_id && (json.contains("result") || json.contains("error"));
    if (!response) return Invalid("\"method\" is missing.");
    return JsonRpcMessage{
        .kind = JsonRpcMessage::Kind::kResponse, .id = std::move(*id), .outcome = OutcomeIn(json)};
  }
  if (!method->is_string()) return Invalid("\"method\" must be a string.");
  const auto params = json.find("params");
  if (params != json.end() && !params->is_object()) return Invalid("\"params\" must be an object.");
  if (params != json.end()) {
    if (auto error = CheckProgressToken(*params); error.has_value()) return *std::move(error);
  }

  JsonRpcMessage message{
      .kind = valid_id ? JsonRpcMessage::Kind::kRequest : JsonRpcMessage::Kind::kNotification,
      .method = method->get<std::string>()};
  if (valid_id) message.id = std::move(*id);
  if (params != json.end()) message.params = std::move(*params);
  return message;
}

}  // namespace

std::variant<JsonRpcBody, RpcError> ParseJsonRpc(const std::string& body) {
  absl::StatusOr<Json> parsed = ParseJson(body);
  if (!parsed.ok()) {
    const bool malformed = DetailsOf(parsed.status()).reason == "malformed_json";
    return RpcError{malformed ? JsonRpcCode::kParseError : JsonRpcCode::kInvalidRequest,
                    std::string(parsed.status().message())};
  }
  JsonRpcBody messages;
  if (!parsed->is_array()) {
    auto message = ParseMessage(*parsed);
    if (auto* error = std::get_if<RpcError>(&message); error != nullptr) return std::move(*error);
    messages.messages.push_back(std::move(message));
    return messages;
  }
  if (parsed->empty()) return Invalid("the batch is empty.");
  if (parsed->size() > kMaxBatch) {
    return Invalid(absl::StrCat("a batch holds at most ", kMaxBatch, " messages."));
  }
  messages.is_batch = true;
  for (Json& each : *parsed) messages.messages.push_back(ParseMessage(each));
  return messages;
}

std::string JsonRpcResponse(const Json& id, const RpcOutcome& outcome) {
  // Assembled from serialized parts: moving a large result into another object would copy it.
  std::string text = R"({"jsonrpc":"2.0","id":)";
  text.reserve(1024);
  AppendDump(id, text);
  if (const auto* error = std::get_if<RpcError>(&outcome); error != nullptr) {
    text += R"(,"error":)";
    AppendDump(ErrorMember(*error), text);
  } else {
    text += R"(,"result":)";
    AppendDump(std::get<Json>(outcome), text);
  }
  text += '}';
  return text;
}

std::string JsonRpcErrorWithoutId(const RpcError& error) {
  return absl::StrCat(R"({"jsonrpc":"2.0","error":)", Dump(ErrorMember(error)), "}");
}

}  // namespace callslip::gateway
