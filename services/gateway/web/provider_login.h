#ifndef CALLSLIP_GATEWAY_WEB_PROVIDER_LOGIN_H_
#define CALLSLIP_GATEWAY_WEB_PROVIDER_LOGIN_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "boost/asio/awaitable.hpp"
#include "boost/asio/thread_pool.hpp"
#include "gateway/http/http_message.h"
#include "gateway/http/router.h"
#include "gateway/oauth/document_source.h"
#include "gateway/oauth/grants.h"
#include "gateway/oauth/issuer_documents.h"
#include "gateway/web/login_quota.h"
#include "gateway/web/login_states.h"
#include "gateway/web/page_login.h"

namespace callslip::gateway {

// Logs people in at the page by way of the authorization server: the page sends them there as a
// public client with PKCE (RFC 7636), with a state of the gateway's, and brings both the code and
// the state back. The gateway exchanges the code for an access token. That is checked as any other
// one and given to nobody: what the page keeps is a login of PageLogin, which ends with the token.
//
// Used on the loop, but for the exchange, which has a thread of its own: one at a time.
class ProviderLogin final {
 public:
  struct Settings {
    std::string issuer;
    std::string client_id;
    std::string resource;             // That the token is to be for (RFC 8707).
    std::vector<std::string> scopes;  // To ask for.
  };

  // `grants`, `login` and `clock` must outlive it; `endpoints` as the server has told them.
  ProviderLogin(Settings settings, std::unique_ptr<DocumentSource> source,
                std::function<LoginEndpoints()> endpoints, Grants* grants, const PageLogin* login,
                Clock* clock);
  // Ends the exchange that is under way.
  ~ProviderLogin();

  // POST /api/login/provider/begin {code_challenge} and POST /api/login/provider {state, code,
  // code_verifier}, for everybody.
  void AddRoutes(Router& router);

  // {"issuer"}; null while the server was not heard of.
  Json Description() const;

  // 200 {"state", "url"}: where to send them, with what to compare when they come back; 400
  // `invalid_argument`; 503 `provider_unavailable`.
  HttpResponse Begin(const HttpRequest& request) const;

  // 200 as PageLogin::LogIn(); 400 `invalid_argument`; 401 `login_refused` and those of the
  // token's; 429 `too_many_logins`; 503 `provider_unavailable`.
  boost::asio::awaitable<HttpResponse> LogIn(std::shared_ptr<HttpRequest> request);

 private:
  // What the server has answered to a code.
  boost::asio::awaitable<HttpResponse> LetIn(std::shared_ptr<HttpRequest> request,
                                             absl::StatusOr<FormAnswer> answer,
                                             std::string address);
  boost::asio::awaitable<absl::StatusOr<FormAnswer>> Exchange(Url url, std::string form);
  boost::asio::awaitable<absl::StatusOr<CredentialPtr>> Verify(std::string token);

  const Settings settings_;
  const std::unique_ptr<DocumentSource> source_;
  const std::function<LoginEndpoints()> endpoints_;
  Grants* const grants_;
  const PageLogin* const login_;
  LoginStates states_;
  LoginQuota quota_;
  boost::asio::thread_pool thread_{1};
};

// GET /api/login, for everybody: {"token", "provider"?}, how one logs in. `provider` may be null.
void AddLoginWays(Router& router, bool takes_tokens, const ProviderLogin* provider);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_WEB_PROVIDER_LOGIN_H_
