#include "auth/sha256.h"

#include "absl/strings/escaping.h"
#include "openssl/evp.h"
#include "openssl/hmac.h"

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
  return absl::WebSafeBase64Escape(AsBytes(Sha256(text)));
}

Sha256Digest HmacSha256(absl::string_view key, absl::string_view text) {
  Sha256Digest mac;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), mac.data(), nullptr);
  return mac;
}

}  // namespace callslip
