#ifndef CALLSLIP_GATEWAY_HTTP_ROUTER_H_
#define CALLSLIP_GATEWAY_HTTP_ROUTER_H_

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

// Serves a WebSocket that `request` has asked for; cancelled as WebSocketServer is. The request is
// without its headers, which would be kept as long as the socket, and with them the token.
using WebSocketHandler = std::function<boost::asio::awaitable<void>(
    std::shared_ptr<const HttpRequest> request, std::shared_ptr<WebSocket> socket)>;

// Finds the handler for a method and path. Each request passes, in this order: the filter; its
// token, what was signed with it, or the certificate of its peer (401); the route, which is 404 for
// an unknown path and 405, with the methods that exist, for an unknown method; the roles of the
// route (403). Answers the preflight requests of browsers. HEAD is served where it was added. Every
// answer to a rightly signed request is proven, also where its handler has thrown or its token was
// revoked meanwhile, but for those to another Host's: somebody may have relayed such a request,
// and is to get nothing that its sender believes.
class Router {
 public:
  // Without `credentials` and a `verifier` everyone who passes the filter is `local`, and may use
  // all routes, but for sessions' agents. All requests are counted in `metrics`, where there is
  // one. Without `signed_requests` tokens have to be shown. The verifier is asked for tokens that
  // are not among the credentials; callers without one are told of `challenge`.
  Router(RequestFilter filter, std::shared_ptr<const Credentials> credentials,
         HttpMetrics* metrics = nullptr, std::shared_ptr<SignedRequests> signed_requests = nullptr,
         TokenVerifier* verifier = nullptr, Challenge challenge = {})
      : filter_(std::move(filter)),
        callers_(std::move(credentials), verifier, std::move(challenge)),
        metrics_(metrics),
        signed_requests_(std::move(signed_requests)) {}

  // To be called before the first request. `path` is matched whole, and before those that have
  // {parameters} (PathPattern); of these, the first that matches is taken. The handler finds in
  // `principal` who calls, which has one of `roles`.
  //
  // `body_bytes` is how large a body may be; 0 stands for what is usual with the method.
  void Add(const std::string& method, const std::string& path, RoleSet roles,
           RespondingHandler handler, uint64_t body_bytes = 0);
  void Add(const std::string& method, const std::string& path, RoleSet roles, HttpHandler handler,
           uint64_t body_bytes = 0) {
    Add(method, path, roles, Spawning(std::move(handler)), body_bytes);
  }
  // A GET that is upgraded to a WebSocket, once it has passed all that other requests have to
  // (else it is answered as they are). Its token may also be offered as a protocol.
  void AddWebSocket(const std::string& path, RoleSet roles, WebSocketHandler handler);
  // A route that needs no token. Its handler is told nothing of who calls. Without `body_bytes` it
  // takes no body but one that comes with its head: whoever sends it may be a stranger.
  void AddOpen(const std::string& method, const std::string& path, HttpHandler handler,
               uint64_t body_bytes = 0);

  // Has the tokens of sessions' agents (IsSessionToken()) taken at `path`, from whom `tokens` knows
  // them to be, and refused everywhere else (403); those of the credentials come before them. To be
  // called before the first request. Without it they are tokens as all others.
  void TakeSessionTokens(const std::string& path, TokenVerifier* tokens) {
    callers_.TakeSessionTokens(path, tokens);
  }

  // Has whoever has logged in at the page let in. To be called before the first request.
  void AllowPageLogin(PageCaller* page) { callers_.AllowPageLogin(page); }

  // A route as it was added.
  struct Served {
    std::string method;
    std::string path;
    bool open = false;        // Needs no token.
    RoleSet roles;            // That may use it, besides `local`.
    uint64_t body_bytes = 0;  // The largest body.
  };
  std::vector<Served> Routes() const;

  // What Handle() will make of a request, as its head tells: who sends it is worked out here, once,
  // so that strangers have no bodies read. Calls `done` once, before it returns or later.
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
  // Where a request goes. Nullptr where there is nothing.
  struct Place {
    const Methods* methods = nullptr;
    const Route* route = nullptr;
  };

  // What the signature of the request says, nullopt where there is none; has the answer proven.
  using Signature = std::optional<SignedRequests::Judgement>;
  Signature JudgeSignature(const HttpRequest& request, Responder& responder) const;
  void Dispatch(std::shared_ptr<HttpRequest> request, Signature signature,
                Responder responder) const;
  Place FindPlace(HttpRequest& request) const;
  void AddRoute(const std::string& method, const std::string& path, Route route);
  Methods& MethodsAt(const std::string& path);
  // The routes at the path of `request`, whose parameters are set. Nullptr where there are none.
  const Methods* FindPath(HttpRequest& request) const;
  static HttpResponse AnswerPreflight(const HttpRequest& request, const Methods* methods);
  // Says who calls in `request`, which is then admitted, or refuses it.
  void Authenticate(std::shared_ptr<HttpRequest> request, Signature signature, Responder responder,
                    const Place& place) const;
  void AdmitAs(Caller caller, std::shared_ptr<HttpRequest> request, Responder responder,
               const Place& place) const;
  // Leaves a request of somebody who is known to its handler, if there is one for their role. A
  // handler that throws is answered for, and so is one whose caller's credential ends before (401).
  void Admit(std::shared_ptr<HttpRequest> request, Responder responder, const Place& place) const;
  // Whether somebody of that role may use it; null: what is not served, which is told to all.
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

#endif  // CALLSLIP_GATEWAY_HTTP_ROUTER_H_
