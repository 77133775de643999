#pragma once

#include <array>
#include <string>

#include "absl/strings/string_view.h"

namespace callslip {

using Sha256Digest = std::array<unsigned char, 32>;

// Cheap enough for every call.
Sha256Digest Sha256(absl::string_view text);

// The digest in base64url (RFC 4648, section 5) without padding: 43 characters.
std::string Sha256Base64Url(absl::string_view text);

}  // namespace callslip
