#pragma once

// The kinds of calls behind AsyncServer: calls with one answer are here, streams in
// async_server_streams.h. They know no message types: the typed part is in typed_calls.h. Included
// only by the server's own files.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "auth/credentials.h"
#include "common/live_set.h"
#include "google/protobuf/arena.h"
#include "google/protobuf/message.h"
#include "grpcpp/grpcpp.h"
#include "telemetry/active_span.h"
#include "tracker/domain/journal/output_gate.h"
#include "tracker/server/authenticator.h"
#include "tracker/server/awaited_requests.h"
#include "tracker/server/call_context.h"
#include "tracker/server/operation_queue.h"
#include "tracker/server/rpc_access.h"
#include "tracker/server/rpc_metrics.h"
#include "tracker/server/rpc_service.h"
#include "tracker/server/server_stream.h"
#include "tracker/server/typed_calls.h"

namespace callslip::tracker::internal {

class EndableCall;

// Begins the span of a call, by OpenTelemetry's conventions for gRPC, and sets `call.span`. The
// call belongs to the trace of its metadata, or of its request's `traceparent` if that names
// another trace. A request type with that field begins a trace if there is none; other calls are
// recorded only if they belong to a trace. `request` is null if the caller streams.
ActiveSpan BeginRpcSpan(const google::protobuf::MethodDescriptor& method,
                        const google::protobuf::Message* request, CallContext& call);
void EndRpcSpan(const absl::Status& status, ActiveSpan& span);

// The long calls and their callers' credentials. Thread-safe.
class LiveCalls {
  struct Live {
    CredentialPtr credential;
    std::weak_ptr<EndableCall> call;
  };

 public:
  using Place = LiveSet<Live>::Place;

  void Add(CredentialPtr credential, const std::shared_ptr<EndableCall>& call);
  // Cancels calls whose credentials were revoked.
  void CancelRevokedCalls();

 private:
  LiveSet<Live> calls_;
};

// A long call that can be ended from outside.
class EndableCall {
 public:
  virtual ~EndableCall() = default;
  virtual void CancelCall() = 0;

 private:
  friend class LiveCalls;
  LiveCalls::Place place_;
};

// One method on one queue. Held by its calls.
template <typename Call>
struct Method {
  RpcService* service;
  const google::protobuf::MethodDescriptor* descriptor;
  MessageTypes types;
  const RequestShape* shape;
  std::shared_ptr<OperationQueue> queue;
  std::shared_ptr<AwaitedRequests> awaited;  // For this queue.
  typename Call::Handler handler;
  RpcMetrics* metrics;
  LiveCalls* live;
  Authenticator* authenticator;     // Null: every caller is `local`.
  std::optional<RpcAccess> access;  // Set if there is an authenticator.
  // Null: all output leaves at once.
  OutputGate* gate = nullptr;

  // Identifies the caller by the head of the call; an error if the caller must not call the method.
  absl::StatusOr<CallContext> Identify(const grpc::ServerContext& context) const {
    if (authenticator == nullptr) return LocalCallOf(context);
    return authenticator->Identify(context, *access);
  }
  // The same caller, with the client on whose behalf it calls; an error if it may not act for that
  // client, or the request is refused. `request` is null if the caller streams.
  absl::StatusOr<CallContext> Admit(CallContext caller, const grpc::ServerContext& context,
                                    const IncomingRequest* request) const {
    absl::StatusOr<CallContext> admitted = std::move(caller);
    if (authenticator != nullptr) {
      admitted = authenticator->Admit(*std::move(admitted), context, *access,
                                      request == nullptr ? nullptr : request->message);
    }
    if (!admitted.ok() || request == nullptr || request->refused.ok()) return admitted;
    return request->refused;
  }

  // Whether the caller is unidentified, and the method does not require identification.
  bool IsOfStranger(const CallContext& caller) const {
    return IsOpenToAll() && caller.credential == nullptr;
  }
  bool IsOpenToAll() const { return access.has_value() && access->kind == RpcAccess::Kind::kOpen; }

  bool LetsOut() const { return gate == nullptr || gate->IsOpen(); }

  // Makes gRPC fill in the next call and then put `tag` into the queue.
  void Accept(grpc::ServerContext* context, CallStream* stream, void* tag) const {
    service->Accept(*descriptor, context, stream, queue->queue(), tag);
  }
};

// The error for a call that has ended without a request, or with one that cannot be parsed as its
// type.
absl::Status NoRequest();

// A call that is answered at once. The object is its own tag three times: accepted, read, finished.
// It owns itself in between. Its messages live in an arena whose first block holds most of them, so
// that their many small parts are not allocated and freed one by one.
class UnaryCall final : public CompletionTag {
 public:
  using Handler = UnaryHandler;
  static constexpr bool kRequestsStream = false;
  static constexpr bool kResponsesStream = false;

  // gRPC fails the new call at once when the server is shutting down.
  static void AcceptNext(const std::shared_ptr<const Method<UnaryCall>>& method);

  void OnCompletion(bool ok) override;

 private:
  explicit UnaryCall(std::shared_ptr<const Method<UnaryCall>> method)
      : method_(std::move(method)) {}

  void OnAccepted();
  void OnRequest(bool has_come);
  // Ends the call with its result.
  void Finish();
  void Answer(const absl::Status& status);

  // Large enough for a request and a command without payloads.
  static constexpr size_t kFirstBlockBytes = 2048;

  const std::shared_ptr<const Method<UnaryCall>> method_;
  grpc::ServerContext context_;
  alignas(8) char first_block_[kFirstBlockBytes];
  google::protobuf::Arena arena_{first_block_, kFirstBlockBytes};
  IncomingRequest request_{method_->types.request->New(&arena_), method_->shape, {}};
  CallStream stream_{&context_};
  absl::StatusOr<CallContext> caller_;
  AwaitedRequests::Place place_;  // Until the request has arrived.
  Message* response_ = nullptr;
  absl::Status status_;
  std::function<void()> when_answered_;
  ActiveSpan span_;
  int64_t begun_ = 0;  // See RpcMetrics.
  enum { kAccepting, kReading, kFinished } step_ = kAccepting;
};

// The common part of calls that are answered later: accepting them, and noticing that the caller
// has left. `Self` provides OnOver() for the latter, which is also called after a normal end;
// incoming(), the request to read once the caller is identified, or null if it streams; Begin(),
// which then passes the call to its handler; and EndWith(), for a caller that is refused.
//
// The object lives as long as its shared_ptr is held: by the service, or by an operation in
// progress in the completion queue (each holds one through its Tag).
//
// An operation is started only after TryBegin(). If that fails, the server is stopping, and the
// call is over as if its caller had left.
template <typename Self>
class LongCall : public std::enable_shared_from_this<Self>, public EndableCall {
 public:
  explicit LongCall(std::shared_ptr<const Method<Self>> method)
      : method_(std::move(method)),
        accepted_([](Self& call, bool ok) { call.OnAccepted(ok); }),
        request_([](Self& call, bool ok) { call.OnRequest(ok); }),
        done_([](Self& call, bool) { call.OnDone(); }) {}
  LongCall(const LongCall&) = delete;
  LongCall& operator=(const LongCall&) = delete;

  void CancelCall() override { context_.TryCancel(); }

  static void AcceptNext(const std::shared_ptr<const Method<Self>>& method) {
    if (!method->queue->TryBegin()) return;
    const auto call = std::make_shared<Self>(method);
    // Must be requested before the call is accepted. Fires only for calls that were accepted.
    call->context_.AsyncNotifyWhenDone(&call->done_);
    call->accepted_.Hold(call);
    method->Accept(&call->context_, &call->stream_, &call->accepted_);
  }

 protected:
  using Step = void (*)(Self& call, bool ok);

  // A completion tag that runs the next step of its call, and keeps the call alive until then.
  class Tag final : public CompletionTag {
   public:
    explicit Tag(Step step) : step_(step) {}
    void Hold(std::shared_ptr<Self> call) { call_ = std::move(call); }
    void OnCompletion(bool ok) override {
      const std::shared_ptr<Self> call = std::move(call_);
      step_(*call, ok);
    }

   private:
    const Step step_;
    std::shared_ptr<Self> call_;
  };

  bool TryBegin() { return method_->queue->TryBegin(); }
  // The code with which the call is finished. Set it before that.
  void SetCode(absl::StatusCode code) { code_.store(code, std::memory_order_relaxed); }
  bool IsOver() const { return (departure_.load(std::memory_order_acquire) & kOver) != 0; }

  // Call it when the end is sent. Only the first call has an effect.
  void EndSpan(const absl::Status& status) {
    if (has_span_ && !has_span_ended_.exchange(true)) EndRpcSpan(status, span_);
  }

  const Method<Self>& method() const { return *method_; }
  // Marks that the call ends without the service's doing, which counts as the caller having left.
  // Call it before the operation that ends the call.
  void EndAsIfCallerLeft() { lost_ = true; }

  grpc::ServerContext context_;
  CallStream stream_{&context_};

  void SetCallerLeftAction(std::function<void()> action) {
    on_caller_left_ = std::move(action);
    if ((departure_.fetch_or(kHasAction, std::memory_order_acq_rel) & kOver) != 0) Depart();
  }

 private:
  // The second of OnDone() and SetCallerLeftAction() runs the action.
  static constexpr uint8_t kOver = 1;
  static constexpr uint8_t kHasAction = 2;

  void OnAccepted(bool ok) {
    if (!ok) return;
    const std::shared_ptr<Self> self = this->shared_from_this();
    done_.Hold(self);
    method_->queue->BeginFollowing();
    AcceptNext(method_);
    begun_ = method_->metrics->Begin();
    absl::StatusOr<CallContext> caller = method_->Identify(context_);
    if (!caller.ok()) return self->EndWith(caller.status());
    if (self->incoming() == nullptr) return LetIn(*std::move(caller));
    if (!TryBegin()) return;
    caller_ = std::make_unique<CallContext>(*std::move(caller));
    request_.Hold(self);
    awaited_ = method_->awaited->Add(&context_, begun_, method_->IsOfStranger(*caller_));
    stream_.Read(self->incoming(), &request_);
  }

  void OnRequest(bool has_come) {
    awaited_ = {};
    const std::unique_ptr<CallContext> caller = std::move(caller_);
    if (!has_come) return static_cast<Self*>(this)->EndWith(NoRequest());
    LetIn(std::move(*caller));
  }

  void LetIn(CallContext known) {
    const std::shared_ptr<Self> self = this->shared_from_this();
    // Before Admit() checks for revocation: from here on, revocation ends the call.
    if (known.credential != nullptr) method_->live->Add(known.credential, self);
    absl::StatusOr<CallContext> caller =
        method_->Admit(std::move(known), context_, self->incoming());
    if (!caller.ok()) return self->EndWith(caller.status());
    const IncomingRequest* request = self->incoming();
    span_ = BeginRpcSpan(*method_->descriptor, request == nullptr ? nullptr : request->message,
                         *caller);
    has_span_ = static_cast<bool>(span_);
    trace_ = span_.context();
    self->Begin(*caller);
  }

  void OnDone() {
    const uint8_t before = departure_.fetch_or(kOver, std::memory_order_acq_rel);
    static_cast<Self*>(this)->OnOver();
    const absl::StatusCode code = context_.IsCancelled() ? absl::StatusCode::kCancelled
                                                         : code_.load(std::memory_order_relaxed);
    method_->metrics->End(begun_, code, trace_);
    EndSpan(absl::Status(code, ""));
    if ((before & kHasAction) != 0) Depart();
  }

  void Depart() {
    const std::function<void()> action = std::exchange(on_caller_left_, nullptr);
    if (lost_ || context_.IsCancelled()) action();
  }

  const std::shared_ptr<const Method<Self>> method_;
  Tag accepted_;
  Tag request_;
  Tag done_;
  // Until the request has arrived.
  std::unique_ptr<CallContext> caller_;
  AwaitedRequests::Place awaited_;
  std::atomic<uint8_t> departure_{0};
  std::atomic<bool> lost_{false};
  int64_t begun_ = 0;
  ActiveSpan span_;        // Belongs to LetIn(), then to the first EndSpan().
  bool has_span_ = false;  // Set before the handler is called.
  TraceContext trace_;     // Of the span. Used on the queue's thread.
  std::atomic<bool> has_span_ended_{false};
  std::atomic<absl::StatusCode> code_{absl::StatusCode::kOk};
  std::function<void()> on_caller_left_;
};

// A call with one answer, sent later.
class DeferredCall final : public LongCall<DeferredCall>, public AnyReply {
 public:
  using Handler = HeldHandler;
  static constexpr bool kRequestsStream = false;
  static constexpr bool kResponsesStream = false;

  explicit DeferredCall(std::shared_ptr<const Method<DeferredCall>> method);

  void Finish(AnyMessage response, std::function<void()> if_lost) override;
  void Fail(const absl::Status& status) override;
  void OnCallerLeft(std::function<void()> action) override {
    SetCallerLeftAction(std::move(action));
  }

 private:
  friend LongCall;

  IncomingRequest* incoming() { return &incoming_; }
  void Begin(const CallContext& caller);
  void EndWith(const absl::Status& status) { Fail(status); }
  void OnOver() {}
  void FinishPutAside(const absl::Status& kept);
  void AnswerWith(const Message& response);
  void AnswerError(const absl::Status& status);
  void OnFinished(bool ok);

  const AnyMessage request_;
  IncomingRequest incoming_{request_.get(), method().shape, {}};
  Tag finished_;
  std::atomic<bool> finishing_{false};
  std::function<void()> if_lost_;
  AnyMessage response_;  // Until the gate releases it.
};

}  // namespace callslip::tracker::internal
