#include "gateway/http/router.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gateway/http/cors.h"
#include "gateway/http/error_response.h"

namespace callslip::gateway {
namespace {

// Callers without a token are together one client.
constexpr char kLocalName[] = "local";

template <typename Methods>
std::string NamesOf(const Methods& methods) {
  return absl::StrJoin(methods, ", ", [](std::string* out, const auto& entry) {
    absl::StrAppend(out, entry.first);
  });
}

HttpResponse Unauthorized(absl::string_view code, absl::string_view message, absl::string_view hint,
                          const std::string& challenge) {
  HttpResponse response = ErrorResponse(401, code, message, hint);
  response.headers.emplace_back("WWW-Authenticate", challenge);
  return response;
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
                 HttpHandler handler) {
  routes_[path][method] = {.roles = std::move(roles), .handler = std::move(handler)};
}

void Router::AddOpen(const std::string& method, const std::string& path, HttpHandler handler) {
  routes_[path][method] = {.open = true, .handler = std::move(handler)};
}

boost::asio::awaitable<HttpResponse> Router::Handle(std::shared_ptr<HttpRequest> request) const {
  if (auto refusal = doors_.Check(*request); refusal.has_value()) co_return *std::move(refusal);
  const std::string origin = request->Header("origin");
  HttpResponse response = co_await Dispatch(std::move(request));
  if (!origin.empty()) ShareWith(origin, response);
  co_return response;
}

boost::asio::awaitable<HttpResponse> Router::Dispatch(std::shared_ptr<HttpRequest> request) const {
  if (request->method == "OPTIONS") co_return AnswerPreflight(*request);
  const Route* route = Find(*request);
  if (route == nullptr || !route->open) {
    if (auto refusal = Authenticate(*request); refusal.has_value()) co_return *std::move(refusal);
  }
  if (route == nullptr) co_return NotServed(*request);
  if (!route->open && !absl::c_linear_search(route->roles, request->principal.role)) {
    co_return RoleRefusal(*request, route->roles);
  }
  co_return co_await route->handler(std::move(request));
}

const Router::Route* Router::Find(const HttpRequest& request) const {
  const auto path = routes_.find(request.path);
  if (path == routes_.end()) return nullptr;
  const auto method = path->second.find(request.method);
  return method == path->second.end() ? nullptr : &method->second;
}

HttpResponse Router::AnswerPreflight(const HttpRequest& request) const {
  const auto path = routes_.find(request.path);
  if (request.Header("origin").empty() || path == routes_.end()) {
    return ErrorResponse(403, "preflight_not_allowed",
                         absl::StrCat("OPTIONS is not answered at ", request.path, "."),
                         "It is for browsers, which send it with an Origin before they call one "
                         "of our paths.");
  }
  return PreflightResponse(request, NamesOf(path->second));
}

std::optional<HttpResponse> Router::Authenticate(HttpRequest& request) const {
  if (!tokens_.has_value()) {
    request.principal = {.name = kLocalName, .role = Role::kAdmin};
    return std::nullopt;
  }
  const std::optional<std::string> token = BearerTokenOf(request.Header("authorization"));
  if (!token.has_value()) {
    return Unauthorized("token_missing", "The request carries no token.",
                        "Send Authorization: Bearer TOKEN, with a token of the gateway's "
                        "--token-file.",
                        "Bearer");
  }
  const std::optional<Principal> principal = tokens_->Find(*token);
  if (!principal.has_value()) {
    return Unauthorized("token_unknown", "The gateway does not know this token.",
                        "Take one from the gateway's --token-file. It is read once, when the "
                        "gateway starts.",
                        "Bearer error=\"invalid_token\"");
  }
  request.principal = *principal;
  return std::nullopt;
}

HttpResponse Router::NotServed(const HttpRequest& request) const {
  const auto path = routes_.find(request.path);
  if (path == routes_.end()) {
    return ErrorResponse(404, "unknown_path",
                         absl::StrCat("Nothing is served at ", request.path, "."),
                         "Agents use POST /mcp.");
  }
  const std::string allowed = NamesOf(path->second);
  HttpResponse response =
      ErrorResponse(405, "method_not_allowed",
                    absl::StrCat(request.method, " is not served at ", request.path, "."),
                    absl::StrCat("Use ", allowed, "."));
  response.headers.emplace_back("Allow", allowed);
  return response;
}

}  // namespace callslip::gateway
