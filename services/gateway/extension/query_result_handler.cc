#include <optional>
#include <string>
#include <utility>

#include "common/trace_companions.h"
#include "gateway/extension/extension_handlers.h"
#include "gateway/extension/query_result.h"
#include "gateway/http/error_response.h"
#include "gateway/json/command_json.h"
#include "gateway/tracker_client/traced_calls.h"

namespace callslip::gateway {
namespace {

WorkerTrace TraceOf(const HttpRequest& request) {
  const std::optional<TraceContext> context = TraceContext::Parse(request.Header("traceparent"));
  if (!context.has_value()) return {};
  return {.context = *context, .tracestate = TracestateOf(request.Header("tracestate"))};
}

}  // namespace

boost::asio::awaitable<HttpResponse> HandleQueryResult(TrackerClient* tracker,
                                                       std::shared_ptr<const HttpRequest> request) {
  absl::StatusOr<QueryResult> report = ParseQueryResult(request->body);
  if (!report.ok()) co_return ErrorResponse(report.status());
  const bool proves =
      std::visit([](const auto& each) { return !each.lease_token().empty(); }, *report);
  // Without a lease token the tracker cannot check the sender or its scope.
  if (!proves && request->principal.scope.holds()) {
    co_return LeaseMissing();
  }
  WorkerTrace trace = TraceOf(*request);
  const std::shared_ptr<void> place = LeaveBody(request);

  Json answer;
  if (auto* acknowledge = std::get_if<v1::AcknowledgeCommandRequest>(&*report);
      acknowledge != nullptr) {
    const auto acknowledged = co_await Report(tracker, std::move(*acknowledge), std::move(trace));
    if (!acknowledged.ok()) co_return ErrorResponse(acknowledged.status());
    answer["accepted"] = !IsFinal(acknowledged->state());
    answer["command_status"] = std::string(WireStatus(acknowledged->state()));
    answer["cancel_requested"] = acknowledged->cancel_requested();
  } else {
    const auto completed = co_await Report(
        tracker, std::move(std::get<v1::CompleteCommandRequest>(*report)), std::move(trace));
    if (!completed.ok()) co_return ErrorResponse(completed.status());
    answer["accepted"] = completed->accepted();
    answer["command_status"] = std::string(WireStatus(completed->state()));
  }
  co_return HttpResponse{.body = Dump(answer)};
}

}  // namespace callslip::gateway
