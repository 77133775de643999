#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/json_members.h"
#include "gateway/json/parse.h"

// Single members of received JSON (JsonFields reads a whole request). These functions report an
// error in our own clients' members; those of common/json_members.h pass on what a foreign program
// sent.
namespace callslip::gateway {

absl::Status BadField(absl::string_view reason, absl::string_view message, absl::string_view hint);

// The body as one object; INVALID_ARGUMENT, reason `invalid_body`, if it is not an object.
absl::StatusOr<Json> ParseObject(const std::string& body);

// Empty if absent or null; INVALID_ARGUMENT, reason `invalid_field`, if it is not text.
absl::StatusOr<std::string> OptionalText(const Json& object, const char* field);

}  // namespace callslip::gateway
