#include "gateway/http/unauthorized.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gateway/http/error_response.h"
#include "gateway/json/parse.h"

namespace callslip::gateway {
namespace {

// The scope for the first of `roles` that has one; empty if none has.
std::string ScopeFor(const Challenge& challenge, RoleSet roles) {
  for (const Role role : roles.List()) {
    for (const auto& [scope, given] : challenge.scopes) {
      if (given == role) return scope;
    }
  }
  return "";
}

std::string ScopesOf(const Challenge& challenge) {
  return absl::StrJoin(challenge.scopes, ", ", [](std::string* out, const auto& entry) {
    absl::StrAppend(out, entry.first);
  });
}

// The header's value. `error` and `description` (RFC 6750, section 3) can be empty.
std::string ChallengeText(const Challenge& challenge, RoleSet roles, absl::string_view error,
                          absl::string_view description) {
  std::vector<std::string> parameters;
  const auto add = [&](absl::string_view name, absl::string_view value) {
    if (!value.empty()) parameters.push_back(absl::StrCat(name, "=\"", value, "\""));
  };
  add("error", error);
  add("error_description", description);
  add("resource_metadata", challenge.resource_metadata);
  add("scope", ScopeFor(challenge, roles));
  return absl::StrCat("Bearer", parameters.empty() ? "" : " ", absl::StrJoin(parameters, ", "));
}

HttpResponse WithChallenge(HttpResponse response, std::string challenge) {
  response.headers.emplace_back("WWW-Authenticate", std::move(challenge));
  return response;
}

// Where to get a token, as the end of a sentence.
std::string Origin(const Challenge& challenge) {
  if (challenge.resource_metadata.empty()) return "a token of the gateway's --token-file.";
  return absl::StrCat("an access token of the authorization server that ",
                      challenge.resource_metadata, " names.");
}

HttpResponse SignatureRefused(absl::string_view code, absl::string_view message,
                              absl::string_view hint) {
  return WithChallenge(ErrorResponse(401, code, message, hint),
                       absl::StrCat("Callslip-HMAC error=\"", code, "\""));
}

}  // namespace

HttpResponse TokenMissing(const Challenge& challenge, RoleSet roles, bool is_web_socket) {
  const std::string hint = absl::StrCat(
      is_web_socket ? "Offer the protocols callslip.v1 and callslip.bearer.TOKEN, or send "
                    : "Send ",
      "Authorization: Bearer TOKEN, with ", Origin(challenge));
  return WithChallenge(ErrorResponse(401, "token_missing", "The request carries no token.", hint),
                       ChallengeText(challenge, roles, "", ""));
}

HttpResponse LoginOver() {
  return ErrorResponse(
      401, "login_over", "This login is over.",
      "Log in again at /ui/login: it was ended, it was too long ago, or what it rested on "
      "counts no more.");
}

HttpResponse TokenUnknown(const Challenge& challenge) {
  return WithChallenge(
      ErrorResponse(401, "token_unknown", "The gateway does not know this token, or not any more.",
                    absl::StrCat("Take ", Origin(challenge))),
      ChallengeText(challenge, {}, "invalid_token", ""));
}

HttpResponse TokenInvalid(const Challenge& challenge, RoleSet roles, const absl::Status& refusal) {
  if (absl::IsUnavailable(refusal)) return ErrorResponse(refusal);
  const absl::string_view message = refusal.message();
  if (absl::IsPermissionDenied(refusal)) {
    return WithChallenge(ErrorResponse(403, "insufficient_scope", message,
                                       absl::StrCat("Get a token with one of the scopes ",
                                                    ScopesOf(challenge), ".")),
                         ChallengeText(challenge, roles, "insufficient_scope", message));
  }
  return WithChallenge(
      ErrorResponse(401, "token_invalid", message, absl::StrCat("Take ", Origin(challenge))),
      ChallengeText(challenge, roles, "invalid_token", message));
}

HttpResponse SessionTokenElsewhere(absl::string_view path) {
  return ErrorResponse(403, "session_token_elsewhere",
                       absl::StrCat("The token of a session's agent is good at ", path, " only."),
                       absl::StrCat("Use the gateway's tools at ", path,
                                    " with it, and for everything else a token of your own."));
}

HttpResponse SessionTokenRefused(const Challenge& challenge, const absl::Status& refusal) {
  if (!absl::IsUnauthenticated(refusal)) return ErrorResponse(refusal);
  const absl::string_view message = refusal.message();
  return WithChallenge(
      ErrorResponse(401, "token_unknown", message,
                    "Take the token that the session's agent was started with last."),
      ChallengeText(challenge, {}, "invalid_token", message));
}

HttpResponse RoleNotAllowed(const Challenge& challenge, RoleSet roles, const HttpRequest& request) {
  const std::string may = absl::StrJoin(roles.List(), ", ", [](std::string* out, Role role) {
    absl::StrAppend(out, RoleName(role));
  });
  HttpResponse response =
      ErrorResponse(403, "role_not_allowed",
                    absl::StrCat("The token of ", request.principal.name, " has the role ",
                                 RoleName(request.principal.role), ", which may not use ",
                                 request.method, " ", request.path, "."),
                    absl::StrCat("Use a token with one of the roles ", may, "."));
  response.refused = std::make_shared<const Principal>(request.principal);
  if (challenge.resource_metadata.empty()) return response;
  return WithChallenge(std::move(response),
                       ChallengeText(challenge, roles, "insufficient_scope", ""));
}

HttpResponse SignatureMalformed() {
  return SignatureRefused("signature_malformed", "The signature cannot be read.",
                          "Send Authorization: Callslip-HMAC key=\"…\", time=\"…\", nonce=\"…\", "
                          "mac=\"…\", with 12, up to 15, 32 and 64 digits.");
}

HttpResponse SignatureWrong() {
  return SignatureRefused("signature_wrong",
                          "The signature is not one of this request with this token.",
                          "Sign the method, Host, path and query, time, nonce and body as they are "
                          "sent; proxies must not change them.");
}

HttpResponse SignatureStale(absl::Time now) {
  HttpResponse response = SignatureRefused(
      "signature_stale", "The time of the signature is too far from the gateway's.",
      "Sign again with server_time_ms, if this answer is proven, and correct the clock.");
  Json body = Json::parse(response.body);
  body["server_time_ms"] = absl::ToUnixMillis(now);
  response.body = Dump(body);
  return response;
}

HttpResponse SignatureReplayed() {
  return SignatureRefused("signature_replayed", "A request with this nonce was taken before.",
                          "Make a new nonce for each request.");
}

}  // namespace callslip::gateway
