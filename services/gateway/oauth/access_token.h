#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gateway/json/parse.h"

namespace callslip::gateway {

// How far the clock of the authorization server may be ahead of the gateway's. There is no leeway
// for a slow one: a token ends when the gateway's clock reaches its `exp`.
inline constexpr absl::Duration kClockLeeway = absl::Seconds(60);

// The required values of a token's claims (RFC 9068, section 4).
struct TokenRules {
  std::string issuer;           // `iss`, compared byte by byte.
  std::string resource;         // Among `aud`, compared byte by byte (RFC 8707).
  std::string principal_claim;  // The claim that identifies the caller.
};

// The values of the claims.
struct AccessToken {
  std::string caller;               // The value of the principal claim; not empty.
  std::vector<std::string> scopes;  // Empty if the token has no `scope`.
  absl::Time expires;
};

// UNAUTHENTICATED with one of these reasons: issuer_wrong, audience_missing, audience_wrong,
// time_malformed, token_expired, token_not_yet_valid, subject_missing, principal_missing,
// scope_malformed.
absl::StatusOr<AccessToken> CheckClaims(const Json& claims, const TokenRules& rules,
                                        absl::Time now);

}  // namespace callslip::gateway
