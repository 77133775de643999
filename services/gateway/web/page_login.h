#ifndef CALLSLIP_GATEWAY_WEB_PAGE_LOGIN_H_
#define CALLSLIP_GATEWAY_WEB_PAGE_LOGIN_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "auth/credentials.h"
#include "common/clock.h"
#include "common/log_limit.h"
#include "gateway/http/http_message.h"
#include "gateway/http/page_caller.h"
#include "gateway/http/router.h"
#include "gateway/oauth/grants.h"
#include "gateway/web/ended_logins.h"

namespace callslip::gateway {

// Logs people in at the page with a token of the token file, which the page then forgets, or with
// what an authorization server has said of them. What the page keeps instead has two halves,
// neither of which is worth anything alone:
//   a cookie  out of reach for scripts, sent to /api/ of this host alone, and by no page of another
//             site. But cookies ignore ports: another server of the same machine may get to see it.
//   a key     which the page keeps in its own origin's storage, and sends as X-Callslip-Key, or to
//             a WebSocket as the protocol callslip.key.KEY. A page of another origin can send no
//             such header.
// The cookie says what the login was for, and is signed with the session key of the token file and
// with the token itself, or with what the gateway knows the authorization server by. So every
// gateway with that file takes it, also after a restart, and it ends with the token, or with the
// server's key, the scopes' role, or that server's being asked at all. Logging out ends it at this
// gateway, with all that was begun by it, until the cookie ends.
//
// Used on the loop.
class PageLogin final : public PageCaller {
 public:
  static constexpr absl::Duration kLifetime = absl::Hours(7 * 24);

  // `clock` must outlive it. `credentials` may be null: there is no token file.
  PageLogin(std::string session_key, std::shared_ptr<const Credentials> credentials, Clock* clock)
      : credentials_(std::move(credentials)), clock_(clock), session_key_(std::move(session_key)) {}

  // What was signed with another key counts no more, nor what was begun by it.
  void SetKey(std::string session_key);
  // Takes logins by what `grants` has verified. `server` says which authorization server that is,
  // and what it knows the gateway by: the logins of others are none. Before the first request.
  void Believe(Grants* grants, std::string server);

  // POST /api/login {token} and POST /api/logout, for everybody.
  void AddRoutes(Router& router);

  bool IsFromPage(const HttpRequest& request) const override;
  absl::StatusOr<CredentialPtr> Find(const HttpRequest& request) override;

  // 200 {name, role, key}, with the cookie; 401 `token_unknown`; 403 `role_not_allowed` for one
  // that could see nothing on the page.
  HttpResponse LogIn(const HttpRequest& request) const;
  // The same for whom the authorization server vouches for.
  HttpResponse LetIn(const HttpRequest& request, const Grant& grant) const;
  // A signature of `content` by the key of the logins, in base64url. What is signed for one
  // `purpose`, which has no spaces, counts for no other.
  std::string Sign(absl::string_view purpose, absl::string_view content) const;
  // 204, also where nobody has logged in.
  HttpResponse LogOut(const HttpRequest& request);

 private:
  // What a cookie says, with its other half.
  struct Login {
    std::string id;                   // Of the key's half.
    std::string fingerprint;          // Of the token that was shown,
    std::optional<Grant> grant = {};  // or what was granted.
    absl::Time end;

    // What it was for, for EndedLogins.
    std::string Account() const;
  };

  std::string SignLogin(absl::string_view payload, absl::string_view secret) const;
  // The answer to who has got in by what `login` says; `secret` is nobody else's.
  HttpResponse Answer(const HttpRequest& request, const Credential& credential, Login login,
                      absl::string_view secret) const;
  // What is shown and was issued here; nullopt for anything else, and for what has ended.
  std::optional<Login> Read(const HttpRequest& request) const;
  // What the login was for, as far as that still counts.
  absl::StatusOr<CredentialPtr> WholeOf(const Login& login) const;

  const std::shared_ptr<const Credentials> credentials_;
  Clock* const clock_;
  mutable LogLimit audit_{clock_, 20};
  Grants* grants_ = nullptr;
  std::string server_;
  std::string session_key_;
  EndedLogins logged_out_;
  // By id.
  absl::flat_hash_map<std::string, std::weak_ptr<Credential>> in_use_;
  size_t forget_at_ = 1000;  // When so many were in use, those that are not any more are forgotten.
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_WEB_PAGE_LOGIN_H_
