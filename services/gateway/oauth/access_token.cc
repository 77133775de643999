#include "gateway/oauth/access_token.h"

#include "absl/algorithm/container.h"
#include "absl/strings/str_split.h"
#include "common/status_macros.h"
#include "gateway/json/json_members.h"
#include "gateway/oauth/refusal.h"

namespace callslip::gateway {
namespace {

constexpr double kYear10000 = 253402300800;  // In seconds since 1970.

// A NumericDate (RFC 7519, section 2). `otherwise` if the claim is absent.
absl::StatusOr<absl::Time> TimeOf(const Json& claims, const char* name, absl::Time otherwise) {
  const auto claim = claims.find(name);
  if (claim == claims.end()) return otherwise;
  const double seconds = claim->is_number() ? claim->get<double>() : -1;
  if (seconds < 0 || seconds >= kYear10000) {
    return TokenRefused(
        "time_malformed",
        "One of the token's exp, nbf and iat is not a number of seconds since 1970.");
  }
  return absl::UnixEpoch() + absl::Seconds(seconds);
}

absl::Status CheckAudience(const Json& claims, const std::string& resource) {
  const Json& audience = MemberOf(claims, "aud");
  if (audience.is_null()) {
    return TokenRefused("audience_missing", "The token does not say whom it is for (aud).");
  }
  if (audience == resource) return absl::OkStatus();
  if (audience.is_array() && absl::c_linear_search(audience, resource)) return absl::OkStatus();
  return TokenRefused("audience_wrong", "The token is not for this resource (aud).");
}

// The time when the token expires.
absl::StatusOr<absl::Time> CheckTimes(const Json& claims, absl::Time now) {
  ASSIGN_OR_RETURN(const absl::Time expires, TimeOf(claims, "exp", absl::InfiniteFuture()));
  if (expires == absl::InfiniteFuture()) {
    return TokenRefused("time_malformed", "The token does not say when it ends (exp).");
  }
  if (now >= expires) return TokenRefused("token_expired", "The token has expired.");
  for (const char* name : {"nbf", "iat"}) {
    ASSIGN_OR_RETURN(const absl::Time begins, TimeOf(claims, name, absl::InfinitePast()));
    if (begins > now + kClockLeeway) {
      return TokenRefused("token_not_yet_valid", "The token is not valid yet.");
    }
  }
  return expires;
}

absl::StatusOr<std::vector<std::string>> ScopesOf(const Json& claims) {
  const auto claim = claims.find("scope");
  if (claim == claims.end()) return std::vector<std::string>();
  if (!claim->is_string()) {
    return TokenRefused("scope_malformed", "The token's scope is not a string.");
  }
  return std::vector<std::string>(
      absl::StrSplit(claim->get_ref<const std::string&>(), ' ', absl::SkipEmpty()));
}

}  // namespace

absl::StatusOr<AccessToken> CheckClaims(const Json& claims, const TokenRules& rules,
                                        absl::Time now) {
  if (TextOf(claims, "iss") != rules.issuer) {
    return TokenRefused("issuer_wrong", "The token is of another issuer (iss).");
  }
  RETURN_IF_ERROR(CheckAudience(claims, rules.resource));
  AccessToken token;
  ASSIGN_OR_RETURN(token.expires, CheckTimes(claims, now));
  if (TextOf(claims, "sub").empty()) {
    return TokenRefused("subject_missing", "The token has no subject (sub).");
  }
  token.caller = TextOf(claims, rules.principal_claim.c_str());
  if (token.caller.empty()) {
    return TokenRefused("principal_missing",
                        "The token does not have the claim of --oauth-principal-claim.");
  }
  ASSIGN_OR_RETURN(token.scopes, ScopesOf(claims));
  return token;
}

}  // namespace callslip::gateway
