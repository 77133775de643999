#include "gateway/tracker_client/traced_calls.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/trace_context.h"
#include "telemetry/active_span.h"

namespace callslip::gateway {
namespace {

// The span of a call to the tracker, by OpenTelemetry's conventions for gRPC. `method` is a
// literal, `package.Service/Method`. Changes `trace` to the context to send to the tracker.
ActiveSpan BeginClientSpan(absl::string_view method, TraceContext& trace) {
  ActiveSpan span = ActiveSpan::Start(SpanKind::kClient, method, trace);
  if (!span) return span;
  span.Set("rpc.system.name", std::string("grpc"));
  span.Set("rpc.method", std::string(method));
  return span;
}

void EndClientSpan(const absl::Status& status, ActiveSpan& span) {
  if (!span) return;
  const std::string code = absl::StatusCodeToString(status.code());
  span.Set("rpc.response.status_code", code);
  if (!status.ok()) span.Fail(code);
  span.End();
}

template <typename Request>
TrackerCalls::Result<ResponseOf<Request>> ReportInTrace(TrackerCalls* tracker, Request request,
                                                        absl::string_view method,
                                                        WorkerTrace trace) {
  ActiveSpan span = BeginClientSpan(method, trace.context);
  const TraceHeaders headers = {.traceparent = trace.context.ToString(),
                                .tracestate = std::move(trace.tracestate)};
  auto response = co_await tracker->Call(std::move(request), {.trace = &headers});
  EndClientSpan(response.status(), span);
  co_return response;
}

TrackerCalls::Result<v1::RegisterCommandResponse> RegisterInTrace(
    TrackerCalls* tracker, v1::RegisterCommandRequest request) {
  TraceContext trace = TraceContext::Parse(request.traceparent()).value_or(TraceContext());
  ActiveSpan span = BeginClientSpan("callslip.tracker.v1.CommandService/RegisterCommand", trace);
  request.set_traceparent(trace.ToString());
  auto response = co_await tracker->Call(std::move(request));
  EndClientSpan(response.status(), span);
  co_return response;
}

}  // namespace

TrackerCalls::Result<v1::RegisterCommandResponse> RegisterCommand(
    TrackerCalls* tracker, v1::RegisterCommandRequest request) {
  if (Spans() == nullptr) return tracker->Call(std::move(request));
  return RegisterInTrace(tracker, std::move(request));
}

TrackerCalls::Result<v1::AcknowledgeCommandResponse> Report(TrackerCalls* tracker,
                                                            v1::AcknowledgeCommandRequest request,
                                                            WorkerTrace trace) {
  if (trace.context.empty()) return tracker->Call(std::move(request));
  return ReportInTrace(tracker, std::move(request),
                       "callslip.tracker.v1.CommandService/AcknowledgeCommand", std::move(trace));
}

TrackerCalls::Result<v1::CompleteCommandResponse> Report(TrackerCalls* tracker,
                                                         v1::CompleteCommandRequest request,
                                                         WorkerTrace trace) {
  if (trace.context.empty()) return tracker->Call(std::move(request));
  return ReportInTrace(tracker, std::move(request),
                       "callslip.tracker.v1.CommandService/CompleteCommand", std::move(trace));
}

}  // namespace callslip::gateway
