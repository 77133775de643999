#include "tracker/server/async_server_calls.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "common/error_details.h"
#include "common/rpc_status.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "telemetry/active_span.h"
#include "tracker/server/call_context.h"

namespace callslip::tracker::internal {
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
                        const google::protobuf::Message* request, CallContext& call) {
  if (Spans() == nullptr) return {};
  call.span = TraceContext::Parse(call.trace).value_or(TraceContext());
  const auto* field = method.input_type()->FindFieldByName("traceparent");
  if (field != nullptr && request != nullptr) {
    const auto named = TraceContext::Parse(request->GetReflection()->GetString(*request, field));
    // In the same trace the metadata is nearer: it names the client's span of this call.
    if (named.has_value() && named->trace_id() != call.span.trace_id()) call.span = *named;
  }
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
  std::string reason = DetailsOf(status).reason;
  if (!reason.empty()) span.Set("callslip.error.reason", std::move(reason));
  if (IsFailure(status.code())) span.Fail(code);
  span.End();
}

absl::Status NoRequest() {
  return absl::InvalidArgumentError(
      "the call has no request, or one of another message type: send the one of the .proto");
}

void LiveCalls::Add(CredentialPtr credential, const std::shared_ptr<EndableCall>& call) {
  call->place_ = calls_.Add({credential, call});
  // CancelRevokedCalls() may have run between the caller's admission and this.
  if (credential->IsRevoked()) call->CancelCall();
}

void LiveCalls::CancelRevokedCalls() {
  for (const Live& each : calls_.Entries()) {
    if (!each.credential->IsRevoked()) continue;
    if (const auto call = each.call.lock()) call->CancelCall();
  }
}

void UnaryCall::AcceptNext(const std::shared_ptr<const Method<UnaryCall>>& method) {
  if (!method->queue->TryBegin()) return;
  auto* call = new UnaryCall(method);
  method->Accept(&call->context_, &call->stream_, call);
}

void UnaryCall::OnCompletion(bool ok) {
  if (step_ == kReading) return OnRequest(ok);
  if (step_ == kAccepting && ok) return OnAccepted();
  if (ok && when_answered_ != nullptr) when_answered_();
  delete this;
}

void UnaryCall::OnAccepted() {
  AcceptNext(method_);
  begun_ = method_->metrics->Begin();
  caller_ = method_->Identify(context_);
  if (!caller_.ok()) {
    status_ = caller_.status();
    return Finish();
  }
  if (!method_->queue->TryBegin()) {
    delete this;
    return;
  }
  step_ = kReading;
  place_ = method_->awaited->Add(&context_, begun_, method_->IsOfStranger(*caller_));
  stream_.Read(&request_, this);
}

void UnaryCall::OnRequest(bool has_come) {
  place_ = {};
  if (!has_come) {
    status_ = NoRequest();
    return Finish();
  }
  caller_ = method_->Admit(*std::move(caller_), context_, &request_);
  if (caller_.ok()) {
    response_ = method_->types.response->New(&arena_);
    caller_->when_answered = &when_answered_;
    span_ = BeginRpcSpan(*method_->descriptor, request_.message, *caller_);
    status_ = method_->handler(*caller_, *request_.message, *response_);
  } else {
    status_ = caller_.status();
  }
  Finish();
}

void UnaryCall::Finish() {
  step_ = kFinished;
  if (!method_->queue->TryBegin()) {
    delete this;
  } else if (method_->LetsOut()) {
    Answer(status_);
  } else {
    method_->gate->Pass([this](const absl::Status& kept) { Answer(kept.ok() ? status_ : kept); });
  }
}

void UnaryCall::Answer(const absl::Status& status) {
  method_->metrics->End(begun_, status.code(), span_.context());
  EndRpcSpan(status, span_);
  if (status.ok()) {
    stream_.WriteAndFinish(*response_, grpc::WriteOptions(), grpc::Status::OK, this);
  } else {
    when_answered_ = nullptr;
    stream_.Finish(ToGrpc(status, context_), this);
  }
}

DeferredCall::DeferredCall(std::shared_ptr<const Method<DeferredCall>> method)
    : LongCall(std::move(method)),
      request_(this->method().types.request->New()),
      finished_([](DeferredCall& call, bool ok) { call.OnFinished(ok); }) {}

void DeferredCall::Begin(const CallContext& caller) {
  method().handler(caller, *request_, shared_from_this());
}

void DeferredCall::Finish(AnyMessage response, std::function<void()> if_lost) {
  if (IsOver() || finishing_.exchange(true) || !TryBegin()) {
    if_lost();
    return;
  }
  if_lost_ = std::move(if_lost);
  finished_.Hold(shared_from_this());
  if (method().LetsOut()) return AnswerWith(*response);
  response_ = std::move(response);
  method().gate->Pass([this](const absl::Status& kept) { FinishPutAside(kept); });
}

void DeferredCall::Fail(const absl::Status& status) {
  if (IsOver() || finishing_.exchange(true) || !TryBegin()) return;
  finished_.Hold(shared_from_this());
  if (method().LetsOut()) return AnswerError(status);
  method().gate->Pass(
      [this, status](const absl::Status& kept) { AnswerError(kept.ok() ? status : kept); });
}

void DeferredCall::FinishPutAside(const absl::Status& kept) {
  const AnyMessage response = std::move(response_);
  if (kept.ok()) return AnswerWith(*response);
  const std::function<void()> if_lost = std::exchange(if_lost_, nullptr);
  if (if_lost != nullptr) if_lost();
  AnswerError(kept);
}

void DeferredCall::AnswerWith(const Message& response) {
  EndSpan(absl::OkStatus());
  stream_.WriteAndFinish(response, grpc::WriteOptions(), grpc::Status::OK, &finished_);
}

void DeferredCall::AnswerError(const absl::Status& status) {
  SetCode(status.code());
  EndSpan(status);
  stream_.Finish(ToGrpc(status, context_), &finished_);
}

void DeferredCall::OnFinished(bool ok) {
  const std::function<void()> if_lost = std::exchange(if_lost_, nullptr);
  if (!ok && if_lost != nullptr) if_lost();
}

}  // namespace callslip::tracker::internal
