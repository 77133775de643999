#include "gateway/json/json_members.h"

#include "absl/strings/str_cat.h"
#include "common/error_details.h"
#include "common/status_macros.h"

namespace callslip::gateway {

absl::Status BadField(absl::string_view reason, absl::string_view message, absl::string_view hint) {
  return ErrorWithDetails(absl::StatusCode::kInvalidArgument, message,
                          {.reason = std::string(reason), .hint = std::string(hint)});
}

absl::StatusOr<Json> ParseObject(const std::string& body) {
  ASSIGN_OR_RETURN(Json json, ParseJson(body));
  if (json.is_object()) return json;
  return BadField("invalid_body", "The body must be one JSON object.", "");
}

absl::StatusOr<std::string> OptionalText(const Json& object, const char* field) {
  const Json& member = MemberOf(object, field);
  if (member.is_null()) return "";
  if (!member.is_string()) {
    return BadField("invalid_field", absl::StrCat(field, " must be a string."), "");
  }
  return member.get<std::string>();
}

}  // namespace callslip::gateway
