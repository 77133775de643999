#ifndef CALLSLIP_GATEWAY_WEB_PAGE_LOGIN_H_
#define CALLSLIP_GATEWAY_WEB_PAGE_LOGIN_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "auth/credentials.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "gateway/http/http_message.h"
#include "gateway/http/page_caller.h"
#include "gateway/http/router.h"

namespace callslip::gateway {

// Logs people in at the page with a token of the token file, which the page then forgets. What it
// keeps instead has two halves, neither of which is worth anything alone:
//   a cookie  out of reach for scripts, sent to /api/ of this host alone, and by no page of another
//             site. But cookies ignore ports: another server of the same machine may get to see it.
//   a key     which the page keeps in its own origin's storage, and sends as X-Callslip-Key, or to
//   a
//             WebSocket as the protocol callslip.key.KEY. A page of another origin can send no such
//             header.
// The cookie is signed with the session key of the token file and with the token itself, so nothing
// has to be remembered: every gateway with that file takes it, also after a restart, and it ends
// with the token. Who has shown no token of the file is named in the cookie. Thread-safe.
class PageLogin final : public PageCaller {
 public:
  static constexpr absl::Duration kLifetime = absl::Hours(7 * 24);

  // `clock` must outlive it. `credentials` may be null: there is no token file.
  PageLogin(std::string session_key, std::shared_ptr<const Credentials> credentials, Clock* clock)
      : credentials_(std::move(credentials)), clock_(clock), session_key_(std::move(session_key)) {}

  // What is signed with another key from now on counts no more.
  void SetKey(std::string session_key);

  // POST /api/login {token} and POST /api/logout, for everybody.
  void AddRoutes(Router& router);

  bool IsFromPage(const HttpRequest& request) const override;
  CredentialPtr Find(const HttpRequest& request) const override;

  // 200 {name, role, key}, with the cookie; 401 `token_unknown`; 403 `role_not_allowed` for one
  // that could see nothing on the page.
  HttpResponse LogIn(const HttpRequest& request) const;
  // The same for whom somebody else vouches for, until that is over: nothing is looked up later on.
  HttpResponse LetIn(const HttpRequest& request, const Credential& credential) const;
  HttpResponse LogOut(const HttpRequest& request) const;

 private:
  std::string Sign(absl::string_view payload, absl::string_view token) const;
  // The answer to who has got in; the cookie is `payload`, when it ends, and its key.
  HttpResponse Answer(const HttpRequest& request, const Principal& who, std::string payload,
                      absl::Time expires, absl::string_view token) const;
  CredentialPtr FindNamed(const HttpRequest& request) const;

  const std::shared_ptr<const Credentials> credentials_;
  Clock* const clock_;
  mutable Mutex mutex_;
  std::string session_key_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_WEB_PAGE_LOGIN_H_
