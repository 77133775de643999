#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "auth/principal.h"
#include "gateway/http/http_message.h"

// The responses to callers that are not authenticated or not authorized: 401 and 403, with
// WWW-Authenticate (RFC 6750).
namespace callslip::gateway {

// Where callers get a token, in the terms of RFC 9728. Empty: from the gateway's token file.
struct Challenge {
  std::string resource_metadata;
  std::vector<std::pair<std::string, Role>> scopes;  // The role that each gives.
};

// 401 `token_missing`. `roles` are those that are allowed; the response names the scope of the
// first one that has a scope.
HttpResponse TokenMissing(const Challenge& challenge, RoleSet roles, bool is_web_socket);

// 401 `token_unknown`, also for a token that was revoked or has expired while it was in use.
HttpResponse TokenUnknown(const Challenge& challenge = {});

// 401 `login_over`: the login that the page stores is no longer valid.
HttpResponse LoginOver();

// The response to a token that a TokenVerifier refused: 401 `token_invalid`, 403
// `insufficient_scope` or 503.
HttpResponse TokenInvalid(const Challenge& challenge, RoleSet roles, const absl::Status& refusal);

// 403 `session_token_elsewhere`: the token of a session's agent is only valid for `path`.
HttpResponse SessionTokenElsewhere(absl::string_view path);

// The response to a session token that a TokenVerifier refused: 401 `token_unknown`, or the error
// that prevented the lookup, such as 503 `tracker_unreachable`.
HttpResponse SessionTokenRefused(const Challenge& challenge, const absl::Status& refusal);

// 403 `role_not_allowed`: the caller of `request` has none of `roles`.
HttpResponse RoleNotAllowed(const Challenge& challenge, RoleSet roles, const HttpRequest& request);

// 401 `signature_malformed`, and 401 `signature_wrong` if the signature does not match the request.
HttpResponse SignatureMalformed();
HttpResponse SignatureWrong();

// 401 `signature_stale`: the client's clock is off. The body has the gateway's time,
// `server_time_ms` since 1970.
HttpResponse SignatureStale(absl::Time now);

// 401 `signature_replayed`.
HttpResponse SignatureReplayed();

}  // namespace callslip::gateway
