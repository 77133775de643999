#include "auth/sha256.h"

#include "openssl/evp.h"

namespace callslip {

Sha256Digest Sha256(absl::string_view text) {
  // OpenSSL's own SHA256() looks this up each time, under locks, which takes longer than the digest
  // of a token.
  static EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  Sha256Digest digest;
  EVP_Digest(text.data(), text.size(), digest.data(), nullptr, algorithm, nullptr);
  return digest;
}

}  // namespace callslip
