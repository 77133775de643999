#ifndef CALLSLIP_TRACKER_SERVER_RPC_SPAN_H_
#define CALLSLIP_TRACKER_SERVER_RPC_SPAN_H_

#include "absl/status/status.h"
#include "telemetry/active_span.h"
#include "tracker/server/call_context.h"

namespace google::protobuf {
class Message;
class MethodDescriptor;
}  // namespace google::protobuf

namespace callslip::tracker {

// The span of a call, by OpenTelemetry's conventions for gRPC: a part of the trace that its request
// names in `traceparent`, else that its metadata does. A request that may name one begins one; all
// other calls are recorded only where they belong to a trace. Sets `call.span`.
ActiveSpan BeginRpcSpan(const google::protobuf::MethodDescriptor& method,
                        const google::protobuf::Message& request, CallContext& call);
void EndRpcSpan(const absl::Status& status, ActiveSpan& span);

// The same, for a branch where no spans are recorded.
inline ActiveSpan TraceRpc(const google::protobuf::MethodDescriptor& method,
                           const google::protobuf::Message& request, CallContext& call) {
  return Spans() == nullptr ? ActiveSpan() : BeginRpcSpan(method, request, call);
}

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_SERVER_RPC_SPAN_H_
