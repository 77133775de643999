#ifndef CALLSLIP_GATEWAY_HTTP_UNAUTHORIZED_H_
#define CALLSLIP_GATEWAY_HTTP_UNAUTHORIZED_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "auth/principal.h"
#include "gateway/http/http_message.h"

// The answers to callers who have not shown who they are, or may not do what they ask for: 401 and
// 403, with WWW-Authenticate (RFC 6750).
namespace callslip::gateway {

// Where callers get a token, as RFC 9728 has it told. Empty: from the gateway's token file.
struct Challenge {
  std::string resource_metadata;                     // Its URL.
  std::vector<std::pair<std::string, Role>> scopes;  // The role that each gives.
};

// 401 `token_missing`. `roles` are those that may do what was asked for; the scope of the first of
// them that has one is named.
HttpResponse TokenMissing(const Challenge& challenge, RoleSet roles, bool is_web_socket);

// 401 `token_unknown`, also for a token that was revoked, or has expired, while it was used.
HttpResponse TokenUnknown(const Challenge& challenge = {});

// 401 `login_over`: what the page keeps of a login counts no more.
HttpResponse LoginOver();

// The answer to a token that a TokenVerifier did not take: 401 `token_invalid`, 403
// `insufficient_scope` or 503.
HttpResponse TokenInvalid(const Challenge& challenge, RoleSet roles, const absl::Status& refusal);

// 403 `session_token_elsewhere`: the token of a session's agent is for `path` alone.
HttpResponse SessionTokenElsewhere(absl::string_view path);

// The answer to the token of a session that a TokenVerifier did not take: 401 `token_unknown`, or
// what has kept it from being looked up, such as 503 `tracker_unreachable`.
HttpResponse SessionTokenRefused(const Challenge& challenge, const absl::Status& refusal);

// 403 `role_not_allowed`: the caller of `request` has none of `roles`.
HttpResponse RoleNotAllowed(const Challenge& challenge, RoleSet roles, const HttpRequest& request);

// 401 `signature_malformed`, and `signature_wrong` for one that is not of this request.
HttpResponse SignatureMalformed();
HttpResponse SignatureWrong();

// 401 `signature_stale`: the client's clock is off. The body has ours, `server_time_ms` since 1970.
HttpResponse SignatureStale(absl::Time now);

// 401 `signature_replayed`.
HttpResponse SignatureReplayed();

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_HTTP_UNAUTHORIZED_H_
