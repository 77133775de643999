#include "gateway/auth/bearer_tokens.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "openssl/crypto.h"
#include "openssl/sha.h"

namespace callslip::gateway {

BearerTokens::BearerTokens(const std::vector<TokenFile::Entry>& entries) {
  for (const TokenFile::Entry& entry : entries) {
    known_.push_back({DigestOf(entry.token), entry.principal});
  }
}

BearerTokens::Digest BearerTokens::DigestOf(absl::string_view token) {
  Digest digest;
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), digest.data());
  return digest;
}

std::optional<Principal> BearerTokens::Find(absl::string_view token) const {
  // Digests have all the same length, and nobody can steer where two of them first differ. All are
  // compared, so that the place of a token in the file does not show either.
  const Digest digest = DigestOf(token);
  const Known* found = nullptr;
  for (const Known& known : known_) {
    if (CRYPTO_memcmp(known.digest.data(), digest.data(), digest.size()) == 0) found = &known;
  }
  if (found == nullptr) return std::nullopt;
  return found->principal;
}

std::optional<std::string> BearerTokenOf(absl::string_view authorization) {
  constexpr absl::string_view kScheme = "bearer ";
  if (!absl::StartsWithIgnoreCase(authorization, kScheme)) return std::nullopt;
  const absl::string_view token = absl::StripAsciiWhitespace(authorization.substr(kScheme.size()));
  if (token.empty()) return std::nullopt;
  return std::string(token);
}

}  // namespace callslip::gateway
