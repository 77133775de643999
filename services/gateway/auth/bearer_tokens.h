#ifndef CALLSLIP_GATEWAY_AUTH_BEARER_TOKENS_H_
#define CALLSLIP_GATEWAY_AUTH_BEARER_TOKENS_H_

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gateway/auth/principal.h"
#include "gateway/auth/token_file.h"

namespace callslip::gateway {

// Knows who presents which token. Thread-safe.
class BearerTokens {
 public:
  explicit BearerTokens(const std::vector<TokenFile::Entry>& entries);

  // Nullopt for an unknown token. How long it takes tells nothing about the tokens that there are.
  std::optional<Principal> Find(absl::string_view token) const;

 private:
  using Digest = std::array<unsigned char, 32>;  // SHA-256.
  struct Known {
    Digest digest;
    Principal principal;
  };

  static Digest DigestOf(absl::string_view token);

  std::vector<Known> known_;
};

// The token in an Authorization header ("Bearer TOKEN"), or nullopt where it holds none.
std::optional<std::string> BearerTokenOf(absl::string_view authorization);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_AUTH_BEARER_TOKENS_H_
