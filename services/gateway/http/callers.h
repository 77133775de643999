#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "auth/credentials.h"
#include "auth/principal.h"
#include "gateway/http/http_message.h"
#include "gateway/http/page_caller.h"
#include "gateway/http/token_verifier.h"
#include "gateway/http/unauthorized.h"

namespace callslip::gateway {

// The sender of a request, as far as the request's head shows it.
struct Caller {
  // Null for `local` and for refused callers.
  CredentialPtr credential = nullptr;
  // Why the request is refused. Null if it is accepted.
  std::shared_ptr<const HttpResponse> refusal = nullptr;

  // Whether the caller is the agent of a session, by the session's token.
  bool IsOfSession() const { return credential != nullptr && !credential->session_id().empty(); }
  Principal principal() const {
    if (credential != nullptr) return credential->principal();
    return {.name = kLocalName, .role = Role::kLocal};
  }
};

// Identifies the sender of a request by a token, a certificate, a login at the page, or an access
// token of another issuer. SignedRequests judges requests that are signed with a token.
class Callers {
 public:
  // Without `credentials` and a `verifier`, every caller is `local`, except for session agents. The
  // verifier checks tokens that are not among the credentials. Callers without a token get
  // `challenge`.
  Callers(std::shared_ptr<const Credentials> credentials, TokenVerifier* verifier,
          Challenge challenge)
      : credentials_(std::move(credentials)),
        verifier_(verifier),
        challenge_(std::move(challenge)) {}

  // See Router.
  void TakeSessionTokens(const std::string& path, TokenVerifier* tokens) {
    session_path_ = path;
    session_tokens_ = tokens;
  }
  void AllowPageLogin(PageCaller* page) { page_ = page; }

  // The route that the request is for.
  struct Purpose {
    bool is_web_socket = false;  // The token can be offered as a protocol.
    RoleSet roles;
  };

  // Calls `done` with the Caller once: before it returns, or a few seconds later if a verifier must
  // be asked. `request` and what `purpose` refers to must live until then.
  template <typename Done>
  void Identify(const HttpRequest& request, const Purpose& purpose, Done done) const {
    const std::optional<std::string> token = TokenOf(request, purpose);
    Found found = Find(request, token, purpose);
    if (found.verifier == nullptr) return done(std::move(found.caller));
    found.verifier->Verify(
        *token, request.address,
        [this, verifier = found.verifier, &roles = purpose.roles,
         done = std::move(done)](absl::StatusOr<CredentialPtr> verified) mutable {
          done(CallerOf(std::move(verified), *verifier, roles));
        });
  }

  const Challenge& challenge() const { return challenge_; }

 private:
  struct Found {
    Caller caller = {};
    TokenVerifier* verifier = nullptr;  // The verifier to ask. Null: none.
  };

  // The token in the request; over a WebSocket it can also be offered as a protocol.
  static std::optional<std::string> TokenOf(const HttpRequest& request, const Purpose& purpose);
  // What is known without a verifier.
  Found Find(const HttpRequest& request, const std::optional<std::string>& token,
             const Purpose& purpose) const;
  Caller FindAtPage(const HttpRequest& request, const Purpose& purpose) const;
  // The credential of the peer's certificate, if the request has no Authorization header. Null if
  // there is none.
  CredentialPtr CredentialOfPeer(const HttpRequest& request) const;
  Caller CallerOf(absl::StatusOr<CredentialPtr> verified, const TokenVerifier& verifier,
                  RoleSet roles) const;

  const std::shared_ptr<const Credentials> credentials_;
  TokenVerifier* const verifier_;
  const Challenge challenge_;
  std::string session_path_;
  TokenVerifier* session_tokens_ = nullptr;
  PageCaller* page_ = nullptr;
};

}  // namespace callslip::gateway
