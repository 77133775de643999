#ifndef CALLSLIP_GATEWAY_HTTP_CALLERS_H_
#define CALLSLIP_GATEWAY_HTTP_CALLERS_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "auth/credentials.h"
#include "auth/principal.h"
#include "gateway/http/http_message.h"
#include "gateway/http/page_caller.h"
#include "gateway/http/token_verifier.h"
#include "gateway/http/unauthorized.h"

namespace callslip::gateway {

// Who sends a request, as its head tells it.
struct Caller {
  // Null for `local`, and for whoever is refused.
  CredentialPtr credential = nullptr;
  // Why nobody is let in with what the request shows. Null where somebody is.
  std::shared_ptr<const HttpResponse> refusal = nullptr;

  // Whether it is the agent of a session, by that one's token.
  bool IsOfSession() const { return credential != nullptr && !credential->session_id().empty(); }
  Principal principal() const {
    if (credential != nullptr) return credential->principal();
    return {.name = kLocalName, .role = Role::kLocal};
  }
};

// Works out who sends a request: by a token, a certificate, a login at the page, or an access token
// of somebody else. What is signed with a token is judged by SignedRequests.
class Callers {
 public:
  // Without `credentials` and a `verifier` everyone is `local`, but for sessions' agents. The
  // verifier is asked for tokens that are not among the credentials; callers without one are told
  // of `challenge`.
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

  // What the request is for.
  struct Purpose {
    bool is_web_socket = false;  // Its token may be offered as a protocol.
    RoleSet roles;
  };

  // Calls `done` with the Caller once: before it returns, or a few seconds later where somebody
  // else has to be asked. `request` and what `purpose` refers to live until then.
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
    TokenVerifier* verifier = nullptr;  // Who is to be asked. Null: nobody.
  };

  // What the request shows; over a WebSocket also as a protocol.
  static std::optional<std::string> TokenOf(const HttpRequest& request, const Purpose& purpose);
  // What is known at once.
  Found Find(const HttpRequest& request, const std::optional<std::string>& token,
             const Purpose& purpose) const;
  Caller FindAtPage(const HttpRequest& request, const Purpose& purpose) const;
  // By what the peer's certificate is known, where the request has no Authorization. Null where it
  // is not.
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

#endif  // CALLSLIP_GATEWAY_HTTP_CALLERS_H_
