#include "gateway/mcp/protocol/param_headers.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gateway/mcp/protocol/protocol.h"

namespace callslip::gateway {
namespace {

// Whether the header text `text` represents `value`.
bool Says(const std::string& text, const Json& value) {
  if (value.is_string()) return text == value.get_ref<const std::string&>();
  if (value.is_boolean()) return text == (value.get<bool>() ? "true" : "false");
  double number = 0;
  return value.is_number() && absl::SimpleAtod(text, &number) && number == value.get<double>();
}

}  // namespace

std::optional<RpcError> CheckParamHeaders(const HttpRequest& request, const Json& input_schema,
                                          const Json& arguments) {
  const auto properties = input_schema.find("properties");
  if (properties == input_schema.end()) return std::nullopt;
  for (const auto& [name, schema] : properties->items()) {
    if (!schema.is_object()) continue;
    const Json value = arguments.is_object() ? arguments.value(name, Json()) : Json();
    if (schema.contains("properties")) {
      if (auto error = CheckParamHeaders(request, schema, value)) return error;
    }
    const auto marked = schema.find("x-mcp-header");
    if (marked == schema.end() || !marked->is_string() || value.is_null()) continue;
    const std::string header = absl::StrCat("Mcp-Param-", marked->get<std::string>());
    const auto sent = request.headers.find(absl::AsciiStrToLower(header));
    const std::optional<std::string> text =
        sent == request.headers.end() ? std::nullopt : DecodeHeaderValue(sent->second);
    if (text.has_value() && Says(*text, value)) continue;
    return RpcError{JsonRpcCode::kHeaderMismatch,
                    absl::StrCat("Header mismatch: ", header, " must repeat the argument ", name,
                                 ", which is ", Dump(value), ".")};
  }
  return std::nullopt;
}

}  // namespace callslip::gateway
