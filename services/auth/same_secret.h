#pragma once

#include "absl/strings/string_view.h"

namespace callslip {

// Compares two secrets in a time that does not depend on where they differ, so that a signature
// cannot be guessed byte by byte. The length is not secret.
bool IsSameSecret(absl::string_view one, absl::string_view other);

}  // namespace callslip
