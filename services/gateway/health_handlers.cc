#include "gateway/health_handlers.h"

#include <utility>

#include "gateway/http/error_response.h"

namespace callslip::gateway {

boost::asio::awaitable<HttpResponse> HandleHealth(std::vector<std::string> cannot_listen) {
  nlohmann::json body = {{"status", "ok"}};
  if (!cannot_listen.empty()) body["cannot_listen"] = std::move(cannot_listen);
  co_return HttpResponse{.body = body.dump()};
}

boost::asio::awaitable<HttpResponse> HandleReadiness(TrackerAccess* tracker, bool is_leaving) {
  if (is_leaving) {
    co_return ErrorResponse(503, "draining", "This gateway is about to stop.",
                            "Use another one behind the same address, or this one in a moment.");
  }
  const absl::Status looked = co_await tracker->Look();
  if (!looked.ok()) co_return ErrorResponse(looked);
  co_return HttpResponse{.body = R"({"status":"ready"})"};
}

}  // namespace callslip::gateway
