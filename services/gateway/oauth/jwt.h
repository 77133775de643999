#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gateway/json/parse.h"

namespace callslip::gateway {

// The signature algorithms of access tokens. Each kind of key has exactly one.
enum class JwtAlgorithm {
  kRs256,  // RSA, PKCS #1 v1.5, SHA-256.
  kEs256,  // ECDSA on P-256, SHA-256.
  kEdDsa,  // Ed25519.
};

// The bytes that `text` encodes in base64url without padding (RFC 7515, section 2). Nullopt for
// anything else; of several texts that lenient decoders map to the same bytes, only one is valid.
std::optional<std::string> DecodeBase64Url(absl::string_view text);

// Longer tokens are refused unread.
inline constexpr size_t kMaxJwtBytes = 16 << 10;

// An access token as received: nothing in it can be trusted before its signature is verified.
struct Jwt {
  JwtAlgorithm algorithm = JwtAlgorithm::kRs256;
  std::string key_id;  // `kid`, 1 to 128 printable ASCII characters; empty if the token has none.
  Json claims;         // An object.
  std::string signed_part;
  std::string signature;  // Decoded bytes.
};

// Parses an access token in the profile of RFC 9068: a JWS in compact serialization, `typ` at+jwt,
// with one of the algorithms above. UNAUTHENTICATED for anything else, with one of these reasons:
//   token_too_large, token_malformed, token_encrypted, header_malformed, claims_malformed,
//   algorithm_not_allowed, type_not_allowed, header_not_allowed, key_id_malformed.
// Never uses a key that a token contains or points to.
absl::StatusOr<Jwt> ParseJwt(const std::string& text);

}  // namespace callslip::gateway
