#include "gateway/http/router.h"

#include <exception>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/functional/any_invocable.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/clock.h"
#include "gateway/http/error_response.h"
#include "gateway/http/request_span.h"
#include "gateway/http/web_socket_upgrade.h"

namespace callslip::gateway {
namespace {

// The paths that browsers use.
constexpr absl::string_view kApi = "/api/";

// Whether the response has its own cache directives.
bool IsCached(const HttpResponse& response) {
  return absl::c_any_of(response.headers,
                        [](const auto& header) { return header.first == "Cache-Control"; });
}

// The way back to a peer, if the handler may not be the one that responds.
struct WayBack {
  void Answer(HttpResponse response) {
    if (std::exchange(answered, true)) return;
    if (is_expelled != nullptr && *is_expelled) response = TokenUnknown(*challenge);
    if (is_private && !IsCached(response)) {
      response.headers.emplace_back("Cache-Control", "no-store");
    }
    std::move(respond)(std::move(response));
  }

  absl::AnyInvocable<void(HttpResponse) &&> respond;
  const bool* is_expelled;
  const Challenge* challenge;
  bool is_private;  // No cache may store it.
  bool answered = false;
};

template <typename Methods>
std::string NamesOf(const Methods& methods) {
  return absl::StrJoin(methods, ", ", [](std::string* out, const auto& entry) {
    absl::StrAppend(out, entry.first);
  });
}

// Lets the page at `origin`, and no other, read the response and its MCP headers.
void ShareWith(const std::string& origin, HttpResponse& response) {
  response.headers.emplace_back("Access-Control-Allow-Origin", origin);
  response.headers.emplace_back("Access-Control-Expose-Headers",
                                "Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate, "
                                "Callslip-Proof");
  response.headers.emplace_back("Vary", "Origin");
}

// The response to an OPTIONS request of an allowed origin: `methods` ("GET, POST") are served, with
// the headers that clients send.
HttpResponse PreflightResponse(const HttpRequest& request, const std::string& methods) {
  HttpResponse response{.status = 204};
  response.headers = {{"Access-Control-Allow-Methods", methods},
                      {"Access-Control-Allow-Headers",
                       "content-type, authorization, mcp-protocol-version, mcp-session-id, "
                       "mcp-method, mcp-name, last-event-id, traceparent, tracestate, baggage, "
                       "x-gasoline-client, "
                       "x-gasoline-extension-version, x-kaboom-client, "
                       "x-kaboom-extension-version"},
                      // The longest time that Chromium caches it.
                      {"Access-Control-Max-Age", "7200"}};
  // A page from a public network sends this before it calls a private address.
  if (request.Header("access-control-request-private-network") == "true") {
    response.headers.emplace_back("Access-Control-Allow-Private-Network", "true");
  }
  return response;
}

}  // namespace

void Router::Add(const std::string& method, const std::string& path, RoleSet roles,
                 RespondingHandler handler, uint64_t body_bytes) {
  AddRoute(method, path, {.roles = roles, .body_bytes = body_bytes, .handler = std::move(handler)});
}

void Router::AddWebSocket(const std::string& path, RoleSet roles, WebSocketHandler handler) {
  const HttpHandler upgrade =
      [handler = std::move(handler)](
          std::shared_ptr<HttpRequest> request) -> boost::asio::awaitable<HttpResponse> {
    WebSocketServer server = [handler, request](std::shared_ptr<WebSocket> socket) {
      return handler(request, std::move(socket));
    };
    HttpResponse response = UpgradeResponse(*request, std::move(server));
    if (response.upgrade != nullptr) request->headers.clear();
    co_return response;
  };
  AddRoute("GET", path, {.is_web_socket = true, .roles = roles, .handler = Spawning(upgrade)});
}

void Router::AddOpen(const std::string& method, const std::string& path, HttpHandler handler,
                     uint64_t body_bytes) {
  AddRoute(method, path,
           {.open = true, .body_bytes = body_bytes, .handler = Spawning(std::move(handler))});
}

std::vector<Router::Served> Router::Routes() const {
  std::vector<Served> served;
  const auto add = [&served](const std::string& path, const Methods& methods) {
    for (const auto& [method, route] : methods) {
      served.push_back({method, path, route.open, route.roles, route.body_bytes});
    }
  };
  for (const auto& [path, methods] : routes_) add(path, methods);
  for (const Pattern& pattern : patterns_) add(pattern.path, pattern.methods);
  return served;
}

void Router::Handle(std::shared_ptr<HttpRequest> request, Responder responder) const {
  Signature signature = JudgeSignature(*request, responder);
  if (auto refusal = filter_.Check(*request); refusal.has_value()) {
    if (metrics_ != nullptr) metrics_->Measure(metrics_->other(), request->address, responder);
    std::move(responder.respond)(*std::move(refusal));
    return;
  }
  std::string origin = request->Header("origin");
  if (!origin.empty()) {
    responder.respond = [origin = std::move(origin),
                         respond = std::move(responder.respond)](HttpResponse response) mutable {
      ShareWith(origin, response);
      std::move(respond)(std::move(response));
    };
  }
  Dispatch(std::move(request), std::move(signature), std::move(responder));
}

Router::Signature Router::JudgeSignature(const HttpRequest& request, Responder& responder) const {
  if (signed_requests_ == nullptr || !filter_.IsForUs(request)) return std::nullopt;
  Signature signature = signed_requests_->Judge(request);
  if (signature.has_value() && signature->prover.has_value()) {
    responder.respond = [prover = *std::move(signature->prover),
                         respond = std::move(responder.respond)](HttpResponse response) mutable {
      prover.Prove(response);
      std::move(respond)(std::move(response));
    };
  }
  return signature;
}

void Router::JudgeHead(const std::shared_ptr<HttpRequest>& head,
                       absl::AnyInvocable<void(HeadVerdict) &&> done) const {
  const auto refuse = [&done] { std::move(done)({.is_refused = true}); };
  if (filter_.Check(*head).has_value()) return refuse();
  const Place place = FindPlace(*head);
  const uint64_t body_bytes = place.route == nullptr ? kNoBodyBytes : place.route->body_bytes;
  if (place.route != nullptr && place.route->open) {
    return std::move(done)({.body_bytes = body_bytes, .account = BodyAccount::kStranger});
  }
  // A signed request is not refused before its signer is known: the response must carry a proof.
  if (signed_requests_ != nullptr && IsSignatureHeader(head->Header("authorization"))) {
    const std::optional<Principal> claimed = signed_requests_->ClaimedBy(*head);
    if (!claimed.has_value()) return refuse();
    const bool may_use = MayUse(place.route, claimed->role);
    return std::move(done)(
        {.body_bytes = may_use ? body_bytes : kNoBodyBytes, .account = BodyAccount::kClaimed});
  }
  callers_.Identify(
      *head, PurposeOf(place.route),
      [head, route = place.route, body_bytes, done = std::move(done)](Caller caller) mutable {
        const Principal principal = caller.principal();
        const bool is_refused =
            route == nullptr || caller.refusal != nullptr || !MayUse(route, principal.role);
        // Session tokens are only known for some seconds, so they are verified again later.
        if (!caller.IsOfSession()) head->caller = std::make_shared<const Caller>(std::move(caller));
        std::move(done)(
            {.is_refused = is_refused, .body_bytes = body_bytes, .caller = principal.name});
      });
}

Router::Place Router::FindPlace(HttpRequest& request) const {
  Place place{.methods = FindPath(request)};
  if (place.methods == nullptr) return place;
  const auto route = place.methods->find(request.method);
  if (route != place.methods->end()) place.route = &route->second;
  return place;
}

void Router::Dispatch(std::shared_ptr<HttpRequest> request, Signature signature,
                      Responder responder) const {
  const Place place = FindPlace(*request);
  if (metrics_ != nullptr) {
    metrics_->Measure(place.route == nullptr ? metrics_->other() : place.route->metrics,
                      request->address, responder);
  }
  if (request->method == "OPTIONS") {
    return std::move(responder.respond)(AnswerPreflight(*request, place.methods));
  }
  if (place.route != nullptr && place.route->open) {
    if (metrics_ != nullptr) TraceRequest(*place.route->metrics, *request, responder);
    return place.route->handler(std::move(request), std::move(responder));
  }
  Authenticate(std::move(request), std::move(signature), std::move(responder), place);
}

void Router::Authenticate(std::shared_ptr<HttpRequest> request, Signature signature,
                          Responder responder, const Place& place) const {
  const Callers::Purpose purpose = PurposeOf(place.route);
  if (signature.has_value()) {
    if (signature->refusal.has_value()) {
      return std::move(responder.respond)(*std::move(signature->refusal));
    }
    // Nothing would prove the data sent over the socket.
    if (purpose.is_web_socket) {
      return std::move(responder.respond)(TokenMissing(callers_.challenge(), purpose.roles, true));
    }
    return AdmitAs({.credential = std::move(signature->credential)}, std::move(request),
                   std::move(responder), place);
  }
  if (const std::shared_ptr<const Caller> caller = std::move(request->caller); caller != nullptr) {
    return AdmitAs(*caller, std::move(request), std::move(responder), place);
  }
  const HttpRequest& asked = *request;
  callers_.Identify(asked, purpose,
                    [this, place, request = std::move(request),
                     responder = std::move(responder)](Caller caller) mutable {
                      // The signal that the peer left was emitted before a handler existed.
                      if (responder.has_left != nullptr && *responder.has_left) {
                        return std::move(responder.respond)({});
                      }
                      AdmitAs(std::move(caller), std::move(request), std::move(responder), place);
                    });
}

void Router::AdmitAs(Caller caller, std::shared_ptr<HttpRequest> request, Responder responder,
                     const Place& place) const {
  if (caller.refusal != nullptr) return std::move(responder.respond)(*caller.refusal);
  // It may have ended while the body was in transit.
  if (caller.credential != nullptr && caller.credential->IsOver(WallTime())) {
    return std::move(responder.respond)(TokenUnknown(callers_.challenge()));
  }
  request->principal = caller.principal();
  request->credential = std::move(caller.credential);
  Admit(std::move(request), std::move(responder), place);
}

void Router::Admit(std::shared_ptr<HttpRequest> request, Responder responder,
                   const Place& place) const {
  const Route* route = place.route;
  if (route == nullptr) {
    return std::move(responder.respond)(NotServed(*request, place.methods));
  }
  const Role role = request->principal.role;
  if (!MayUse(route, role)) {
    return std::move(responder.respond)(
        RoleNotAllowed(callers_.challenge(), route->roles, *request));
  }
  // Worker calls carry no name to the tracker, which logs all other changes by administrators.
  if (role == Role::kAdmin && metrics_ != nullptr && route->roles.Has(Role::kWorker)) {
    metrics_->NoteAllowed(*route->metrics, request->principal);
  }
  if (responder.admission != nullptr && !responder.admission->LetIn(request->credential)) {
    return std::move(responder.respond)(TooManyBodies());
  }
  // Not before: strangers who are refused fill no queue of spans.
  if (metrics_ != nullptr) TraceRequest(*route->metrics, *request, responder);
  const bool is_private = absl::StartsWith(request->path, kApi);
  const auto way_back = std::make_shared<WayBack>(WayBack{.respond = std::move(responder.respond),
                                                          .is_expelled = responder.is_expelled,
                                                          .challenge = &callers_.challenge(),
                                                          .is_private = is_private});
  responder.respond = [way_back](HttpResponse response) { way_back->Answer(std::move(response)); };
  try {
    route->handler(std::move(request), std::move(responder));
  } catch (const std::exception& error) {
    way_back->Answer(HandlerFailure(error));
  }
}

bool Router::MayUse(const Route* route, Role role) {
  return route == nullptr || role == Role::kLocal || route->roles.Has(role);
}

Callers::Purpose Router::PurposeOf(const Route* route) {
  if (route == nullptr) return {.roles = {}};
  return {.is_web_socket = route->is_web_socket, .roles = route->roles};
}

void Router::AddRoute(const std::string& method, const std::string& path, Route route) {
  if (metrics_ != nullptr) route.metrics = metrics_->Add(method, path);
  if (!route.open && route.body_bytes == 0) {
    const bool carries_nothing = method == "GET" || method == "HEAD" || method == "DELETE";
    route.body_bytes = carries_nothing ? kNoBodyBytes : kUsualBodyBytes;
  }
  MethodsAt(path)[method] = std::move(route);
}

Router::Methods& Router::MethodsAt(const std::string& path) {
  if (!PathPattern::HasParameters(path)) return routes_[path];
  for (Pattern& known : patterns_) {
    if (known.path == path) return known.methods;
  }
  patterns_.push_back({.path = path, .pattern = PathPattern(path)});
  return patterns_.back().methods;
}

const Router::Methods* Router::FindPath(HttpRequest& request) const {
  const auto exact = routes_.find(request.path);
  if (exact != routes_.end()) return &exact->second;
  for (const Pattern& candidate : patterns_) {
    auto parameters = candidate.pattern.Match(request.raw_path);
    if (!parameters.has_value()) continue;
    request.parameters = *std::move(parameters);
    return &candidate.methods;
  }
  return nullptr;
}

HttpResponse Router::AnswerPreflight(const HttpRequest& request, const Methods* methods) {
  if (request.Header("origin").empty() || methods == nullptr) {
    return ErrorResponse(403, "preflight_not_allowed",
                         absl::StrCat("OPTIONS is not answered at ", request.path, "."),
                         "It is for browsers, which send it with an Origin before they call one "
                         "of our paths.");
  }
  return PreflightResponse(request, NamesOf(*methods));
}

HttpResponse Router::NotServed(const HttpRequest& request, const Methods* methods) {
  if (methods == nullptr) {
    return ErrorResponse(404, "unknown_path",
                         absl::StrCat("Nothing is served at ", request.path, "."),
                         "Agents use POST /mcp.");
  }
  const std::string allowed = NamesOf(*methods);
  HttpResponse response =
      ErrorResponse(405, "method_not_allowed",
                    absl::StrCat(request.method, " is not served at ", request.path, "."),
                    absl::StrCat("Use ", allowed, "."));
  response.headers.emplace_back("Allow", allowed);
  return response;
}

}  // namespace callslip::gateway
