#ifndef CALLSLIP_GATEWAY_OAUTH_PUBLIC_KEY_H_
#define CALLSLIP_GATEWAY_OAUTH_PUBLIC_KEY_H_

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gateway/json/parse.h"
#include "gateway/oauth/jwt.h"

struct evp_pkey_st;  // OpenSSL's EVP_PKEY.

namespace callslip::gateway {

// A key that signatures are checked with, by OpenSSL. Immutable; cheap to copy.
class PublicKey {
 public:
  // Reads a JSON Web Key (RFC 7517): RSA of 2048 to 8192 bits, EC on P-256, or OKP with Ed25519,
  // none of them for another use or algorithm. INVALID_ARGUMENT, which says why, for others.
  static absl::StatusOr<PublicKey> FromJwk(const Json& jwk);

  JwtAlgorithm algorithm() const { return algorithm_; }
  // Whether `signature`, as RFC 7518 has it, is this key's of `text`.
  bool Verifies(absl::string_view text, absl::string_view signature) const;

  // What tells it from all others: a digest, in base64url.
  std::string Thumbprint() const;
  // Whether they are the same key.
  bool operator==(const PublicKey& other) const;

 private:
  using Handle = std::shared_ptr<evp_pkey_st>;

  PublicKey(JwtAlgorithm algorithm, Handle key) : algorithm_(algorithm), key_(std::move(key)) {}

  JwtAlgorithm algorithm_;
  Handle key_;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_OAUTH_PUBLIC_KEY_H_
