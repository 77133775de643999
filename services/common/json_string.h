#ifndef CALLSLIP_COMMON_JSON_STRING_H_
#define CALLSLIP_COMMON_JSON_STRING_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace callslip {

// `at` is behind the opening quote of a JSON string; returns the place behind the closing one, or
// nullptr where there is no valid string in UTF-8 before `end`.
const char* SkipJsonString(const char* at, const char* end);

bool IsJsonString(absl::string_view value);

// The text that a valid JSON string stands for; nullopt for any other value.
std::optional<std::string> DecodeJsonString(absl::string_view value);

}  // namespace callslip

#endif  // CALLSLIP_COMMON_JSON_STRING_H_
