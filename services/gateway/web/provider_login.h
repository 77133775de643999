#pragma once

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

// Logs users in at the page through the authorization server. The page sends the user there as a
// public client with PKCE (RFC 7636), with a state from the gateway, and brings the code and the
// state back. The gateway exchanges the code for an access token, which it checks like any other
// and gives to no client: the page keeps a login of PageLogin, which ends with the token.
//
// Use on the loop. The exchange runs on a thread of its own, one at a time.
class ProviderLogin final {
 public:
  struct Settings {
    std::string issuer;
    std::string client_id;
    std::string resource;             // The resource that the token must be for (RFC 8707).
    std::vector<std::string> scopes;  // To request.
  };

  // `grants`, `login` and `clock` must outlive this. `endpoints` returns what the server last
  // reported.
  ProviderLogin(Settings settings, std::unique_ptr<DocumentSource> source,
                std::function<LoginEndpoints()> endpoints, Grants* grants, const PageLogin* login,
                Clock* clock);
  // Ends an exchange in progress.
  ~ProviderLogin();

  // POST /api/login/provider/begin {code_challenge} and POST /api/login/provider {state, code,
  // code_verifier}, without authentication.
  void AddRoutes(Router& router);

  // {"issuer"}; null while the server has not been reached.
  Json Description() const;

  // 200 {"state", "url"}: where to send the user, and the state to compare when the user comes
  // back; 400 `invalid_argument`; 503 `provider_unavailable`.
  HttpResponse Begin(const HttpRequest& request) const;

  // 200 as PageLogin::LogIn(); 400 `invalid_argument`; 401 `login_refused` and the errors of the
  // token; 429 `too_many_logins`; 503 `provider_unavailable`.
  boost::asio::awaitable<HttpResponse> LogIn(std::shared_ptr<HttpRequest> request);

 private:
  // Processes the server's response to a code.
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

// GET /api/login, without authentication: {"token", "provider"?}, the ways to log in. `provider`
// can be null.
void AddLoginWays(Router& router, bool takes_tokens, const ProviderLogin* provider);

}  // namespace callslip::gateway
