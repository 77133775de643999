#ifndef CALLSLIP_GATEWAY_JSON_JSON_MEMBERS_H_
#define CALLSLIP_GATEWAY_JSON_JSON_MEMBERS_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gateway/json/parse.h"

// Members of JSON that others have sent, one at a time (JsonFields reads a whole request):
// strictly, where one of ours is wrong; leniently, where one of a foreign program is only to be
// passed on.
namespace callslip::gateway {

absl::Status BadField(absl::string_view reason, absl::string_view message, absl::string_view hint);

// The body as one object; INVALID_ARGUMENT, reason `invalid_body`, where it is not an object.
absl::StatusOr<Json> ParseObject(const std::string& body);

// Empty where it is absent or null; INVALID_ARGUMENT, reason `invalid_field`, where it is no text.
absl::StatusOr<std::string> OptionalText(const Json& object, const char* field);

// The member, or null where it is absent or `json` is not an object.
const Json& MemberOf(const Json& json, const char* field);
// Empty where the member is no text.
std::string TextOf(const Json& json, const char* field);
// False where the member is not true.
bool IsTrue(const Json& json, const char* field);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_JSON_JSON_MEMBERS_H_
