#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace callslip::gateway {

// The bytes that `text` encodes in base64url without padding (RFC 7515, section 2). Nullopt for
// anything else; of several texts that lenient decoders map to the same bytes, only one is valid.
std::optional<std::string> DecodeBase64Url(absl::string_view text);

}  // namespace callslip::gateway
