#include "gateway/mcp/tools/observe_health.h"

#include <string>
#include <utility>

#include "common/error_details.h"
#include "gateway/json/health_json.h"
#include "gateway/mcp/tools/tool_result.h"
#include "gateway/timeouts.h"

namespace callslip::gateway {
namespace {

absl::Status ForAdministrators() {
  return ErrorWithDetails(absl::StatusCode::kPermissionDenied,
                          "only administrators may observe health",
                          {.reason = "role_not_allowed",
                           .hint = "Use a token with the role admin; GET /readyz needs none."});
}

}  // namespace

boost::asio::awaitable<ToolResult> ObserveHealth(TrackerClient* tracker, Principal principal,
                                                 absl::Duration uptime) {
  if (!RoleSet{Role::kAdmin, Role::kLocal}.Has(principal.role))
    co_return ErrorResult(ForAdministrators(), Executed::kNo);
  const auto health =
      co_await tracker->Call(v1::GetHealthRequest(), {.deadline = kReadinessDeadline});
  Json result = HealthJson(health, uptime);
  Json answer = {{"status", "complete"}, {"final", true}, {"result", std::move(result)}};
  std::string text = Dump(answer);
  co_return TextResult(std::move(answer), std::move(text));
}

}  // namespace callslip::gateway
