#include "tracker/server/rpc_span.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "common/error_details.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace callslip::tracker {
namespace {

// The codes that count as failures of the server; all others are the caller's.
bool IsFailure(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDataLoss: return true;
    default: return false;
  }
}

}  // namespace

ActiveSpan BeginRpcSpan(const google::protobuf::MethodDescriptor& method,
                        const google::protobuf::Message& request, CallContext& call) {
  const auto* field = request.GetDescriptor()->FindFieldByName("traceparent");
  std::string trace;
  if (field != nullptr) trace = request.GetReflection()->GetString(request, field);
  if (trace.empty()) trace = call.trace;
  call.span = TraceContext::Parse(trace).value_or(TraceContext());
  const std::string name = absl::StrCat(method.service()->full_name(), "/", method.name());
  ActiveSpan span =
      ActiveSpan::Start(SpanKind::kServer, name, call.span,
                        field == nullptr ? ActiveSpan::Roots::kIgnore : ActiveSpan::Roots::kBegin);
  span.Set("rpc.system.name", std::string("grpc"));
  span.Set("rpc.method", name);
  return span;
}

void EndRpcSpan(const absl::Status& status, ActiveSpan& span) {
  if (!span) return;
  const std::string code = absl::StatusCodeToString(status.code());
  span.Set("rpc.response.status_code", code);
  const std::string reason = DetailsOf(status).reason;
  if (!reason.empty()) span.Set("callslip.error.reason", reason);
  if (IsFailure(status.code())) span.Fail(code);
  span.End();
}

}  // namespace callslip::tracker
