#pragma once

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gateway/json/parse.h"
#include "gateway/oauth/jwt.h"

struct evp_pkey_st;  // OpenSSL's EVP_PKEY.

namespace callslip::gateway {

// A key that verifies signatures, with OpenSSL. Immutable; cheap to copy.
class PublicKey {
 public:
  // Parses a JSON Web Key (RFC 7517): RSA of 2048 to 8192 bits, EC on P-256, or OKP with Ed25519,
  // if its use and algorithm allow it. INVALID_ARGUMENT with the reason for other keys.
  static absl::StatusOr<PublicKey> FromJwk(const Json& jwk);

  JwtAlgorithm algorithm() const { return algorithm_; }
  // Whether `signature`, in the format of RFC 7518, is this key's signature of `text`.
  bool Verifies(absl::string_view text, absl::string_view signature) const;

  // A digest that identifies the key, in base64url.
  std::string Thumbprint() const;
  bool operator==(const PublicKey& other) const;

 private:
  using Handle = std::shared_ptr<evp_pkey_st>;

  PublicKey(JwtAlgorithm algorithm, Handle key) : algorithm_(algorithm), key_(std::move(key)) {}

  JwtAlgorithm algorithm_;
  Handle key_;
};

}  // namespace callslip::gateway
