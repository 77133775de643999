#include "gateway/http/router.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gateway/http/error_response.h"

namespace callslip::gateway {

void Router::Add(const std::string& method, const std::string& path, HttpHandler handler) {
  routes_[path][method] = std::move(handler);
}

boost::asio::awaitable<HttpResponse> Router::Handle(
    std::shared_ptr<const HttpRequest> request) const {
  if (auto refusal = doors_.Check(*request); refusal.has_value()) co_return *std::move(refusal);
  const auto path = routes_.find(request->path);
  if (path == routes_.end()) {
    co_return ErrorResponse(404, "unknown_path",
                            absl::StrCat("Nothing is served at ", request->path, "."),
                            "Agents use POST /mcp.");
  }
  const auto method = path->second.find(request->method);
  if (method == path->second.end()) {
    const std::string allowed = absl::StrJoin(
        path->second, ", ",
        [](std::string* out, const auto& entry) { absl::StrAppend(out, entry.first); });
    HttpResponse response =
        ErrorResponse(405, "method_not_allowed",
                      absl::StrCat(request->method, " is not served at ", request->path, "."),
                      absl::StrCat("Use ", allowed, "."));
    response.headers.emplace_back("Allow", allowed);
    co_return response;
  }
  co_return co_await method->second(std::move(request));
}

}  // namespace callslip::gateway
