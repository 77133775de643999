#pragma once

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

// Logs users in at the page with a token of the token file, which the page then forgets, or with
// what an authorization server has asserted. The page keeps a login in two halves, each worthless
// alone:
//   a cookie  that scripts cannot read, sent only to /api/ of this host, and never by a page of
//             another site. But cookies ignore ports: another server on the same machine may see
//             it.
//   a key     that the page keeps in its own origin's storage, and sends as X-Callslip-Key, or to a
//             WebSocket as the protocol callslip.key.KEY. A page of another origin cannot send such
//             a header.
// The cookie states what the login is based on. It is signed with the session key of the token
// file, and with the token itself or the settings for the authorization server. So every gateway
// with that file accepts it, also after a restart. It ends with the token; or with the server's
// key, with the role of the scopes, or when that server is no longer configured. Logging out ends
// the login, and everything that it started, at this gateway, which remembers that until the cookie
// expires.
//
// Use on the loop.
class PageLogin final : public PageCaller {
 public:
  static constexpr absl::Duration kLifetime = absl::Hours(7 * 24);

  // `clock` must outlive this. `credentials` is null if there is no token file.
  PageLogin(std::string session_key, std::shared_ptr<const Credentials> credentials, Clock* clock)
      : credentials_(std::move(credentials)), clock_(clock), session_key_(std::move(session_key)) {}

  // Logins that were signed with another key end, and so does everything that they started.
  void SetKey(std::string session_key);
  // Accepts logins that `grants` has verified. `server` identifies the authorization server and the
  // gateway's registration there: logins of other servers are invalid. Call before the first
  // request.
  void Believe(Grants* grants, std::string server);

  // POST /api/login {token} and POST /api/logout, without authentication.
  void AddRoutes(Router& router);

  bool IsFromPage(const HttpRequest& request) const override;
  absl::StatusOr<CredentialPtr> Find(const HttpRequest& request) override;

  // 200 {name, role, key}, with the cookie; 401 `token_unknown`; 403 `role_not_allowed` if the
  // token's role sees nothing on the page.
  HttpResponse LogIn(const HttpRequest& request) const;
  // LogIn() for a user that the authorization server has identified.
  HttpResponse LetIn(const HttpRequest& request, const Grant& grant) const;
  // A signature of `content` with the key of the logins, in base64url. A signature for one
  // `purpose`, which must have no spaces, is invalid for any other.
  std::string Sign(absl::string_view purpose, absl::string_view content) const;
  // 204, even if no user is logged in.
  HttpResponse LogOut(const HttpRequest& request);

 private:
  // The content of a cookie, combined with its other half.
  struct Login {
    std::string id;                   // Hash of the page's key.
    std::string fingerprint;          // Of the token that was shown,
    std::optional<Grant> grant = {};  // or the grant.
    absl::Time end;

    // What the login is based on, for EndedLogins.
    std::string Account() const;
  };

  std::string SignLogin(absl::string_view payload, absl::string_view secret) const;
  // The response to a successful login; only its owner knows `secret`.
  HttpResponse Answer(const HttpRequest& request, const Credential& credential, Login login,
                      absl::string_view secret) const;
  // The login in the request if it was issued here; nullopt if not, or if it has ended.
  std::optional<Login> Read(const HttpRequest& request) const;
  // The credential that the login is based on, as far as it is still valid.
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
  size_t forget_at_ = 1000;  // At this size of `in_use_`, the logins that are no longer in use are
                             // forgotten.
};

}  // namespace callslip::gateway
