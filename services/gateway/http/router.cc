#include "gateway/http/router.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gateway/http/cors.h"
#include "gateway/http/error_response.h"
#include "gateway/http/unauthorized.h"
#include "gateway/http/web_socket_upgrade.h"

namespace callslip::gateway {
namespace {

template <typename Methods>
std::string NamesOf(const Methods& methods) {
  return absl::StrJoin(methods, ", ", [](std::string* out, const auto& entry) {
    absl::StrAppend(out, entry.first);
  });
}

// Nullptr where there is none.
template <typename Methods>
const typename Methods::mapped_type* RouteOf(const Methods& methods, const std::string& method) {
  const auto route = methods.find(method);
  return route == methods.end() ? nullptr : &route->second;
}

HttpResponse RoleRefusal(const HttpRequest& request, const std::vector<Role>& roles) {
  const std::string may = absl::StrJoin(
      roles, ", ", [](std::string* out, Role role) { absl::StrAppend(out, RoleName(role)); });
  return ErrorResponse(403, "role_not_allowed",
                       absl::StrCat("The token of ", request.principal.name, " has the role ",
                                    RoleName(request.principal.role), ", which may not use ",
                                    request.method, " ", request.path, "."),
                       absl::StrCat("Use a token with one of the roles ", may, "."));
}

}  // namespace

void Router::Add(const std::string& method, const std::string& path, std::vector<Role> roles,
                 RespondingHandler handler) {
  AddRoute(method, path, {.roles = std::move(roles), .handler = std::move(handler)});
}

void Router::AddWebSocket(const std::string& path, std::vector<Role> roles,
                          WebSocketHandler handler) {
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
  AddRoute("GET", path,
           {.is_web_socket = true, .roles = std::move(roles), .handler = Spawning(upgrade)});
}

void Router::AddOpen(const std::string& method, const std::string& path, HttpHandler handler) {
  AddRoute(method, path, {.open = true, .handler = Spawning(std::move(handler))});
}

std::vector<Router::Served> Router::Routes() const {
  std::vector<Served> served;
  const auto add = [&served](const std::string& path, const Methods& methods) {
    for (const auto& [method, route] : methods) {
      served.push_back({method, path, route.open, route.roles});
    }
  };
  for (const auto& [path, methods] : routes_) add(path, methods);
  for (const Pattern& pattern : patterns_) add(pattern.path, pattern.methods);
  return served;
}

void Router::Handle(std::shared_ptr<HttpRequest> request, Responder responder) const {
  Signature signature = JudgeSignature(*request, responder);
  if (auto refusal = doors_.Check(*request); refusal.has_value()) {
    if (tally_ != nullptr) tally_->Measure(tally_->other(), responder);
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
  if (signed_requests_ == nullptr || !doors_.IsForUs(request)) return std::nullopt;
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

void Router::Dispatch(std::shared_ptr<HttpRequest> request, Signature signature,
                      Responder responder) const {
  const Methods* methods = FindPath(*request);
  const Route* route = methods == nullptr ? nullptr : RouteOf(*methods, request->method);
  if (tally_ != nullptr) {
    tally_->Measure(route == nullptr ? tally_->other() : route->tally, responder);
  }
  if (auto answer = AnswerHere(*request, std::move(signature), methods, route);
      answer.has_value()) {
    std::move(responder.respond)(*std::move(answer));
    return;
  }
  if (responder.credential != nullptr) *responder.credential = request->credential;
  route->handler(std::move(request), std::move(responder));
}

std::optional<HttpResponse> Router::AnswerHere(HttpRequest& request, Signature signature,
                                               const Methods* methods, const Route* route) const {
  if (request.method == "OPTIONS") return AnswerPreflight(request, methods);
  if (route == nullptr || !route->open) {
    auto refusal = Authenticate(request, std::move(signature), route);
    if (refusal.has_value()) return refusal;
  }
  if (route == nullptr) return NotServed(request, methods);
  const Role role = request.principal.role;
  if (!route->open && role != Role::kLocal && !absl::c_linear_search(route->roles, role)) {
    return RoleRefusal(request, route->roles);
  }
  return std::nullopt;
}

void Router::AddRoute(const std::string& method, const std::string& path, Route route) {
  if (tally_ != nullptr) route.tally = tally_->Add(method, path);
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

std::optional<HttpResponse> Router::Authenticate(HttpRequest& request, Signature signature,
                                                 const Route* route) const {
  if (credentials_ == nullptr) {
    request.principal = {.name = kLocalName, .role = Role::kLocal};
    return std::nullopt;
  }
  const bool is_web_socket = route != nullptr && route->is_web_socket;
  if (signature.has_value()) {
    if (signature->refusal.has_value()) return std::move(signature->refusal);
    // Nothing would prove what comes over the socket.
    if (is_web_socket) return TokenMissing(is_web_socket);
    request.credential = std::move(signature->credential);
  } else {
    std::optional<std::string> token = BearerTokenOf(request.Header("authorization"));
    if (!token.has_value() && is_web_socket) token = OfferedToken(request);
    request.credential =
        token.has_value() ? credentials_->FindToken(*token) : CredentialOfPeer(request);
    if (request.credential == nullptr) {
      return token.has_value() ? TokenUnknown() : TokenMissing(is_web_socket);
    }
  }
  request.principal = request.credential->principal();
  return std::nullopt;
}

CredentialPtr Router::CredentialOfPeer(const HttpRequest& request) const {
  // A header that holds no token was meant to hold one.
  if (request.peer_names == nullptr || !request.Header("authorization").empty()) return nullptr;
  for (const std::string& name : *request.peer_names) {
    if (CredentialPtr known = credentials_->FindCertificate(name); known != nullptr) return known;
  }
  return nullptr;
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
