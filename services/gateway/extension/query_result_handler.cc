#include <string>
#include <utility>

#include "gateway/extension/extension_handlers.h"
#include "gateway/extension/query_result.h"
#include "gateway/http/error_response.h"
#include "gateway/http/request_trace.h"
#include "gateway/json/command_json.h"

namespace callslip::gateway {

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
  const CallTrace trace = {.context = TraceOf(*request),
                           .tracestate = CompanionsOf(*request).tracestate};
  const CallOptions in_trace = {.trace = trace.context.empty() ? nullptr : &trace};
  const std::shared_ptr<void> place = LeaveBody(request);

  Json answer;
  if (auto* acknowledge = std::get_if<v1::AcknowledgeCommandRequest>(&*report);
      acknowledge != nullptr) {
    const auto acknowledged = co_await tracker->Call(std::move(*acknowledge), in_trace);
    if (!acknowledged.ok()) co_return ErrorResponse(acknowledged.status());
    answer["accepted"] = !IsFinal(acknowledged->state());
    answer["command_status"] = std::string(WireStatus(acknowledged->state()));
    answer["cancel_requested"] = acknowledged->cancel_requested();
  } else {
    const auto completed =
        co_await tracker->Call(std::move(std::get<v1::CompleteCommandRequest>(*report)), in_trace);
    if (!completed.ok()) co_return ErrorResponse(completed.status());
    answer["accepted"] = completed->accepted();
    answer["command_status"] = std::string(WireStatus(completed->state()));
  }
  co_return HttpResponse{.body = Dump(answer)};
}

}  // namespace callslip::gateway
