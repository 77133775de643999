#pragma once

#include "absl/status/status.h"
#include "telemetry/active_span.h"
#include "tracker/server/call_context.h"

namespace google::protobuf {
class Message;
class MethodDescriptor;
}  // namespace google::protobuf

namespace callslip::tracker {

// Begins the span of a call, by OpenTelemetry's conventions for gRPC, in the trace named by its
// request's `traceparent`, else by its metadata. A request type with a `traceparent` field begins a
// trace if it names none; other calls are recorded only if they belong to a trace. Sets
// `call.span`.
ActiveSpan BeginRpcSpan(const google::protobuf::MethodDescriptor& method,
                        const google::protobuf::Message& request, CallContext& call);
void EndRpcSpan(const absl::Status& status, ActiveSpan& span);

// As BeginRpcSpan(); costs one branch if no spans are recorded.
inline ActiveSpan TraceRpc(const google::protobuf::MethodDescriptor& method,
                           const google::protobuf::Message& request, CallContext& call) {
  return Spans() == nullptr ? ActiveSpan() : BeginRpcSpan(method, request, call);
}

}  // namespace callslip::tracker
