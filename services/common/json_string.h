#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace callslip {

// `at` is after the opening quote of a JSON string. Returns the position after the closing quote,
// or nullptr if no valid UTF-8 string ends before `end`.
const char* SkipJsonString(const char* at, const char* end);

bool IsJsonString(absl::string_view value);

// Decodes a valid JSON string; nullopt for any other value.
std::optional<std::string> DecodeJsonString(absl::string_view value);

}  // namespace callslip
