#include "gateway/oauth/base64url.h"

#include "absl/strings/escaping.h"

namespace callslip::gateway {

std::optional<std::string> DecodeBase64Url(absl::string_view text) {
  std::string bytes;
  // The library accepts padding, spaces and stray bits at the end.
  if (!absl::WebSafeBase64Unescape(text, &bytes)) return std::nullopt;
  if (absl::WebSafeBase64Escape(bytes) != text) return std::nullopt;
  return bytes;
}

}  // namespace callslip::gateway
