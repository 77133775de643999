#include "gateway/mcp/observe_health.h"

#include <string>
#include <utility>

#include "common/error_details.h"
#include "common/version.h"
#include "gateway/json/command_json.h"
#include "gateway/json/tracker_error.h"
#include "gateway/mcp/tool_result.h"
#include "gateway/timeouts.h"

namespace callslip::gateway {
namespace {

Json TrackerEntry(const v1::GetHealthResponse& health) {
  Json commands = Json::object();
  for (const v1::GetHealthResponse::StateCount& count : health.states()) {
    const absl::string_view state =
        IsFinal(count.state()) ? WireStatus(count.state()) : StageOf(count.state());
    commands[std::string(state)] = count.commands();
  }
  Json queue = {{"depth", health.queued()}, {"longest", health.longest_queue()}};
  if (health.has_oldest_queued()) {
    queue["oldest_ms"] = absl::ToInt64Milliseconds(DurationOf(health.oldest_queued()));
  }
  return {
      {"version", health.version()},
      {"uptime_s", health.uptime().seconds()},
      {"commands", std::move(commands)},
      {"queue", std::move(queue)},
      {"workers", {{"connected", health.workers_connected()}, {"known", health.workers_known()}}},
      {"waits", health.waits()},
      {"failed", health.failed()},
      {"late_results", health.late_results()},
      {"payload_bytes", health.payload_bytes()},
      {"sessions", health.sessions()},
      {"storage", {{"events", health.events_appended()}, {"failures", health.storage_failures()}}}};
}

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
  const auto health = co_await tracker->GetHealth(kReadinessDeadline);
  Json reasons = Json::array();
  Json result = {{"gateway", {{"version", kVersion}, {"uptime_s", absl::ToInt64Seconds(uptime)}}}};
  if (health.ok()) {
    result["tracker"] = TrackerEntry(*health);
    for (const std::string& reason : health->reasons()) reasons.push_back(reason);
    if (health->workers_connected() == 0) reasons.push_back("no_worker");
  } else {
    reasons.push_back(TrackerErrorOf(health.status()).reason);
  }
  result["ready"] = health.ok() && health->ready();
  result["reasons"] = std::move(reasons);
  Json answer = {{"status", "complete"}, {"final", true}, {"result", std::move(result)}};
  std::string text = Dump(answer);
  co_return TextResult(std::move(answer), std::move(text));
}

}  // namespace callslip::gateway
