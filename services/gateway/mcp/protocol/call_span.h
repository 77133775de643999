#ifndef CALLSLIP_GATEWAY_MCP_PROTOCOL_CALL_SPAN_H_
#define CALLSLIP_GATEWAY_MCP_PROTOCOL_CALL_SPAN_H_

#include <string>

#include "absl/strings/string_view.h"
#include "common/trace_context.h"
#include "gateway/mcp/protocol/call_context.h"
#include "gateway/mcp/protocol/json_rpc.h"
#include "telemetry/active_span.h"

namespace callslip::gateway {

// The span of a request, by OpenTelemetry's conventions for MCP: a part of what its message names,
// else of the HTTP request, to which it is linked in any case. `trace` is what the message names,
// and becomes what is to be handed on. `tool` is empty where none of ours is called.
ActiveSpan BeginCallSpan(absl::string_view method, absl::string_view tool,
                         absl::string_view version, const TraceContext& http, TraceContext& trace);
void EndCallSpan(const RpcOutcome& outcome, ActiveSpan& span);

// The time that a call waits for a command.
inline ActiveSpan BeginWaitSpan(const CallContext& call, const std::string& command_id) {
  if (Spans() == nullptr) return {};
  TraceContext trace = call.trace();
  ActiveSpan span = ActiveSpan::Start(SpanKind::kInternal, "wait", trace);
  span.Set("messaging.message.id", command_id);
  return span;
}

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_MCP_PROTOCOL_CALL_SPAN_H_
