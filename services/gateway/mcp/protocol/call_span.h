#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "common/trace_context.h"
#include "gateway/mcp/protocol/call_context.h"
#include "gateway/mcp/protocol/json_rpc.h"
#include "telemetry/active_span.h"

namespace callslip::gateway {

// The span of a request, by OpenTelemetry's conventions for MCP. Its parent is the span that the
// message names, else the HTTP request; it is linked to the HTTP request in any case. `trace` is
// the trace in the message, and becomes the trace to propagate. `tool` is empty if the request
// calls none of our tools.
ActiveSpan BeginCallSpan(absl::string_view method, absl::string_view tool,
                         absl::string_view version, const TraceContext& http, TraceContext& trace);
void EndCallSpan(const RpcOutcome& outcome, ActiveSpan& span);

// The span of a call's wait for a command.
inline ActiveSpan BeginWaitSpan(const CallContext& call, const std::string& command_id) {
  if (Spans() == nullptr) return {};
  TraceContext trace = call.trace();
  ActiveSpan span = ActiveSpan::Start(SpanKind::kInternal, "wait", trace);
  span.Set("messaging.message.id", command_id);
  return span;
}

}  // namespace callslip::gateway
