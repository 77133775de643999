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

// HMAC-SHA-256 (RFC 2104) of `text`.
Sha256Digest HmacSha256(absl::string_view key, absl::string_view text);

// Valid as long as `digest`.
inline absl::string_view AsBytes(const Sha256Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace callslip
