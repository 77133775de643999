#ifndef CALLSLIP_GATEWAY_HTTP_ROUTER_H_
#define CALLSLIP_GATEWAY_HTTP_ROUTER_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gateway/auth/bearer_tokens.h"
#include "gateway/auth/principal.h"
#include "gateway/http/doors.h"
#include "gateway/http/http_server.h"

namespace callslip::gateway {

// Finds the handler for a method and path. Each request passes, in this order: the doors; its
// token (401); the route, which is 404 for an unknown path and 405, with the methods that exist,
// for an unknown method; the roles of the route (403). Answers the preflight requests of browsers.
// HEAD is not served.
class Router {
 public:
  // Without `tokens` everyone who passes the doors is the administrator "local".
  Router(Doors doors, std::optional<BearerTokens> tokens)
      : doors_(std::move(doors)), tokens_(std::move(tokens)) {}

  // To be called before the first request. `path` is matched whole. The handler finds in
  // `principal` who calls, which has one of `roles`.
  void Add(const std::string& method, const std::string& path, std::vector<Role> roles,
           HttpHandler handler);
  // A route that needs no token. Its handler is told nothing of who calls.
  void AddOpen(const std::string& method, const std::string& path, HttpHandler handler);

  boost::asio::awaitable<HttpResponse> Handle(std::shared_ptr<HttpRequest> request) const;

 private:
  struct Route {
    bool open = false;
    std::vector<Role> roles;
    HttpHandler handler;
  };
  using Methods = std::map<std::string, Route>;

  boost::asio::awaitable<HttpResponse> Dispatch(std::shared_ptr<HttpRequest> request) const;
  HttpResponse AnswerPreflight(const HttpRequest& request) const;
  // Nullptr where there is none.
  const Route* Find(const HttpRequest& request) const;
  // Says who calls in `request`, or returns the refusal.
  std::optional<HttpResponse> Authenticate(HttpRequest& request) const;
  HttpResponse NotServed(const HttpRequest& request) const;

  const Doors doors_;
  const std::optional<BearerTokens> tokens_;
  std::map<std::string, Methods> routes_;  // By path.
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_HTTP_ROUTER_H_
