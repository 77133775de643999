#include "gateway/http/callers.h"

#include "auth/session_token.h"
#include "gateway/http/web_socket_upgrade.h"

namespace callslip::gateway {
namespace {

Caller Refused(HttpResponse refusal) {
  return {.refusal = std::make_shared<const HttpResponse>(std::move(refusal))};
}

}  // namespace

Callers::Found Callers::Find(const HttpRequest& request, const std::optional<std::string>& token,
                             const Purpose& purpose) const {
  if (token.has_value() && credentials_ != nullptr) {
    CredentialPtr known = credentials_->FindToken(*token);
    if (known != nullptr) return {.caller = {.credential = std::move(known)}};
  }
  if (!token.has_value()) {
    if (page_ != nullptr && page_->IsFromPage(request))
      return {.caller = FindAtPage(request, purpose)};
    CredentialPtr known = CredentialOfPeer(request);
    if (known != nullptr) return {.caller = {.credential = std::move(known)}};
  }
  if (session_tokens_ != nullptr && token.has_value() && IsSessionToken(*token)) {
    if (request.path == session_path_) return {.verifier = session_tokens_};
    return {.caller = Refused(SessionTokenElsewhere(session_path_))};
  }
  if (credentials_ == nullptr && verifier_ == nullptr) return {};
  if (!token.has_value()) {
    return {.caller = Refused(TokenMissing(challenge_, purpose.roles, purpose.is_web_socket))};
  }
  if (verifier_ == nullptr) return {.caller = Refused(TokenUnknown(challenge_))};
  return {.verifier = verifier_};
}

Caller Callers::FindAtPage(const HttpRequest& request, const Purpose& purpose) const {
  absl::StatusOr<CredentialPtr> known = page_->Find(request);
  if (known.ok()) return {.credential = *std::move(known)};
  return Refused(absl::IsUnavailable(known.status())
                     ? TokenInvalid(challenge_, purpose.roles, known.status())
                     : LoginOver());
}

std::optional<std::string> Callers::TokenOf(const HttpRequest& request, const Purpose& purpose) {
  std::optional<std::string> token(BearerTokenOf(request.Header("authorization")));
  if (!token.has_value() && purpose.is_web_socket) token = OfferedToken(request);
  return token;
}

CredentialPtr Callers::CredentialOfPeer(const HttpRequest& request) const {
  // A header without a token was meant to hold one.
  const bool shows_nothing = request.Header("authorization").empty();
  if (credentials_ == nullptr || request.peer_names == nullptr || !shows_nothing) return nullptr;
  for (const std::string& name : *request.peer_names) {
    if (CredentialPtr known = credentials_->FindCertificate(name); known != nullptr) return known;
  }
  return nullptr;
}

Caller Callers::CallerOf(absl::StatusOr<CredentialPtr> verified, const TokenVerifier& verifier,
                         RoleSet roles) const {
  if (verified.ok()) return {.credential = *std::move(verified)};
  return Refused(&verifier == session_tokens_ ? SessionTokenRefused(challenge_, verified.status())
                                              : TokenInvalid(challenge_, roles, verified.status()));
}

}  // namespace callslip::gateway
