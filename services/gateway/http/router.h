#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "auth/credentials.h"
#include "auth/principal.h"
#include "gateway/http/callers.h"
#include "gateway/http/http_metrics.h"
#include "gateway/http/http_server.h"
#include "gateway/http/page_caller.h"
#include "gateway/http/path_pattern.h"
#include "gateway/http/request_filter.h"
#include "gateway/http/signed_requests.h"
#include "gateway/http/token_verifier.h"
#include "gateway/http/unauthorized.h"
#include "gateway/http/web_socket.h"

namespace callslip::gateway {

// Serves a WebSocket that `request` opened; canceled as WebSocketServer is. The request has no
// headers, which would otherwise be kept, with the token in them, as long as the socket.
using WebSocketHandler = std::function<boost::asio::awaitable<void>(
    std::shared_ptr<const HttpRequest> request, std::shared_ptr<WebSocket> socket)>;

// Finds the handler for a method and path. Each request passes, in this order: the request filter
// (RequestFilter); authentication by its token, its signature, or its peer's certificate (401); the
// route, which is 404 for an unknown path and 405, with the methods that exist, for an unknown
// method; the roles of the route (403). Responds to the preflight requests of browsers. HEAD is
// served if it was added. Each response to a correctly signed request carries a proof, even if the
// handler has thrown or the token was revoked meanwhile, unless the request names another Host: an
// attacker may have relayed such a request, and must not get a response that its sender trusts.
class Router {
 public:
  // Without `credentials` and a `verifier`, every caller that passes the request filter is `local`
  // and can use all routes, except for session agents. All requests are counted in `metrics`, if
  // set. Without `signed_requests` tokens must be shown. The verifier checks tokens that are not
  // among the credentials; callers without a token get `challenge`.
  Router(RequestFilter filter, std::shared_ptr<const Credentials> credentials,
         HttpMetrics* metrics = nullptr, std::shared_ptr<SignedRequests> signed_requests = nullptr,
         TokenVerifier* verifier = nullptr, Challenge challenge = {})
      : filter_(std::move(filter)),
        callers_(std::move(credentials), verifier, std::move(challenge)),
        metrics_(metrics),
        signed_requests_(std::move(signed_requests)) {}

  // Call before the first request. `path` must match completely. Paths without {parameters}
  // (PathPattern) come first; of the others, the first match applies. The handler finds the caller
  // in `principal`, which has one of `roles`.
  //
  // `body_bytes` is the maximum size of a body; 0 means the usual one for the method.
  void Add(const std::string& method, const std::string& path, RoleSet roles,
           RespondingHandler handler, uint64_t body_bytes = 0);
  void Add(const std::string& method, const std::string& path, RoleSet roles, HttpHandler handler,
           uint64_t body_bytes = 0) {
    Add(method, path, roles, Spawning(std::move(handler)), body_bytes);
  }
  // A GET that is upgraded to a WebSocket after the same checks as for other requests (a refusal is
  // a plain HTTP response). Its token can also be offered as a protocol.
  void AddWebSocket(const std::string& path, RoleSet roles, WebSocketHandler handler);
  // A route that needs no token. Its handler does not learn the caller. Without `body_bytes` it
  // accepts only a body that arrives with its head, because the client may be unauthenticated.
  void AddOpen(const std::string& method, const std::string& path, HttpHandler handler,
               uint64_t body_bytes = 0);

  // Accepts tokens of session agents (IsSessionToken()) at `path`, verified by `tokens`, and
  // refuses them everywhere else (403). The credentials take precedence. Call before the first
  // request. Without it these are tokens like all others.
  void TakeSessionTokens(const std::string& path, TokenVerifier* tokens) {
    callers_.TakeSessionTokens(path, tokens);
  }

  // Accepts users who have logged in at the page. Call before the first request.
  void AllowPageLogin(PageCaller* page) { callers_.AllowPageLogin(page); }

  // A route, as it was added.
  struct Served {
    std::string method;
    std::string path;
    bool open = false;        // Needs no token.
    RoleSet roles;            // That can use it, in addition to `local`.
    uint64_t body_bytes = 0;  // The maximum size of a body.
  };
  std::vector<Served> Routes() const;

  // Decides from a request's head what Handle() will do with it. Identifies the sender once, here,
  // so that the bodies of unknown senders are not read. Calls `done` once, before it returns or
  // later.
  void JudgeHead(const std::shared_ptr<HttpRequest>& head,
                 absl::AnyInvocable<void(HeadVerdict) &&> done) const;

  void Handle(std::shared_ptr<HttpRequest> request, Responder responder) const;

 private:
  struct Route {
    bool open = false;
    bool is_web_socket = false;
    RoleSet roles;
    uint64_t body_bytes = 0;
    RespondingHandler handler;
    HttpMetrics::Route* metrics = nullptr;
  };
  using Methods = std::map<std::string, Route>;
  // The route of a request. Nullptr if there is none.
  struct Place {
    const Methods* methods = nullptr;
    const Route* route = nullptr;
  };

  // The judgment on the request's signature, nullopt if it has none. Makes the response carry a
  // proof.
  using Signature = std::optional<SignedRequests::Judgement>;
  Signature JudgeSignature(const HttpRequest& request, Responder& responder) const;
  void Dispatch(std::shared_ptr<HttpRequest> request, Signature signature,
                Responder responder) const;
  Place FindPlace(HttpRequest& request) const;
  void AddRoute(const std::string& method, const std::string& path, Route route);
  Methods& MethodsAt(const std::string& path);
  // The routes at the path of `request`, whose parameters are set. Nullptr if there are none.
  const Methods* FindPath(HttpRequest& request) const;
  static HttpResponse AnswerPreflight(const HttpRequest& request, const Methods* methods);
  // Identifies the caller of `request`, and then admits the request or refuses it.
  void Authenticate(std::shared_ptr<HttpRequest> request, Signature signature, Responder responder,
                    const Place& place) const;
  void AdmitAs(Caller caller, std::shared_ptr<HttpRequest> request, Responder responder,
               const Place& place) const;
  // Passes a request of a known caller to its handler, if the route allows the caller's role.
  // Responds for a handler that throws, and for one whose caller's credential ends before the
  // response (401).
  void Admit(std::shared_ptr<HttpRequest> request, Responder responder, const Place& place) const;
  // Whether a caller with that role can use the route; null: not served, which every caller can
  // learn.
  static bool MayUse(const Route* route, Role role);
  static Callers::Purpose PurposeOf(const Route* route);
  static HttpResponse NotServed(const HttpRequest& request, const Methods* methods);

  const RequestFilter filter_;
  Callers callers_;
  HttpMetrics* const metrics_;
  const std::shared_ptr<SignedRequests> signed_requests_;
  std::map<std::string, Methods> routes_;  // By path.
  struct Pattern {
    std::string path;
    PathPattern pattern;
    Methods methods;
  };
  std::vector<Pattern> patterns_;
};

}  // namespace callslip::gateway
