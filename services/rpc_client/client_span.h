#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/trace_context.h"
#include "telemetry/active_span.h"

namespace callslip {

// The span of a call to the tracker, by OpenTelemetry's conventions for gRPC. `method` is a
// literal, `package.Service/Method`. Changes `trace` to the context to send to the tracker.
inline ActiveSpan BeginClientSpan(absl::string_view method, TraceContext& trace) {
  ActiveSpan span = ActiveSpan::Start(SpanKind::kClient, method, trace);
  if (!span) return span;
  span.Set("rpc.system.name", std::string("grpc"));
  span.Set("rpc.method", std::string(method));
  return span;
}

inline void EndClientSpan(const absl::Status& status, ActiveSpan& span) {
  if (!span) return;
  const std::string code = absl::StatusCodeToString(status.code());
  span.Set("rpc.response.status_code", code);
  if (!status.ok()) span.Fail(code);
  span.End();
}

}  // namespace callslip
