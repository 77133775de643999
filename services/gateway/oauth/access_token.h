#ifndef CALLSLIP_GATEWAY_OAUTH_ACCESS_TOKEN_H_
#define CALLSLIP_GATEWAY_OAUTH_ACCESS_TOKEN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gateway/json/parse.h"

namespace callslip::gateway {

// How far the clock of the authorization server may be ahead of ours. It may not be behind: a token
// ends when its `exp` has come here.
inline constexpr absl::Duration kClockLeeway = absl::Seconds(60);

// What the claims of a token have to say (RFC 9068, section 4).
struct TokenRules {
  std::string issuer;           // `iss`, character by character.
  std::string resource;         // Among `aud`, character by character (RFC 8707).
  std::string principal_claim;  // The claim that tells callers apart.
};

// What they say.
struct AccessToken {
  std::string caller;               // The value of the principal claim; not empty.
  std::vector<std::string> scopes;  // None where the token has no `scope`.
  absl::Time expires;
};

// UNAUTHENTICATED with one of these reasons: issuer_wrong, audience_missing, audience_wrong,
// time_malformed, token_expired, token_not_yet_valid, subject_missing, principal_missing,
// scope_malformed.
absl::StatusOr<AccessToken> CheckClaims(const Json& claims, const TokenRules& rules,
                                        absl::Time now);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_OAUTH_ACCESS_TOKEN_H_
