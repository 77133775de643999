#pragma once

#include <string>

#include "bridge/json/json_rpc.h"
#include "telemetry/active_span.h"

namespace callslip::bridge {

// The span of an agent's request, by OpenTelemetry's conventions for MCP: part of the trace that
// its `_meta` names, else the start of a new one.
struct CallSpan {
  ActiveSpan span;
  // Complete header lines for the HTTP request, so that the gateway's span becomes a child of this
  // one; empty if no spans are recorded. The message's `baggage` stays in place: it is not part of
  // the span.
  std::string header;
};

// Replaces the message's `traceparent` by the span. Costs only a branch if no spans are recorded.
CallSpan BeginCallSpan(Message& message);
// The span's traceparent; if none is recorded, the message's own. Empty if it has none.
std::string TraceparentOf(const CallSpan& call, const Message& message);
void EndCallSpan(const Message& answer, ActiveSpan& span);

}  // namespace callslip::bridge
