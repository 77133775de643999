#ifndef CALLSLIP_BRIDGE_RELAY_CALL_SPAN_H_
#define CALLSLIP_BRIDGE_RELAY_CALL_SPAN_H_

#include <string>

#include "bridge/json/json_rpc.h"
#include "telemetry/active_span.h"

namespace callslip::bridge {

// The span of an agent's request, by OpenTelemetry's conventions for MCP: a part of the trace that
// its `_meta` names, else the beginning of one.
struct CallSpan {
  ActiveSpan span;
  // Whole lines for the HTTP request, so that the gateway's span is a part of this one; empty where
  // no spans are recorded. The message's `baggage` stays where it is: it is none of the span.
  std::string header;
};

// Puts the span into the message in place of the `traceparent` that it names. Costs a branch where
// no spans are recorded.
CallSpan BeginCallSpan(Message& message);
// Of the span; where none is recorded, what the message has of its own. Empty where it has nothing.
std::string TraceparentOf(const CallSpan& call, const Message& message);
void EndCallSpan(const Message& answer, ActiveSpan& span);

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_RELAY_CALL_SPAN_H_
