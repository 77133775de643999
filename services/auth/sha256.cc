#include "auth/sha256.h"

#include "absl/strings/escaping.h"
#include "openssl/evp.h"

namespace callslip {

Sha256Digest Sha256(absl::string_view text) {
  // OpenSSL's own SHA256() fetches this each time, under locks, which takes longer than hashing a
  // token.
  static EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  Sha256Digest digest;
  EVP_Digest(text.data(), text.size(), digest.data(), nullptr, algorithm, nullptr);
  return digest;
}

std::string Sha256Base64Url(absl::string_view text) {
  const Sha256Digest digest = Sha256(text);
  return absl::WebSafeBase64Escape(
      absl::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

}  // namespace callslip
