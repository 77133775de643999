#ifndef CALLSLIP_TRACKER_SERVER_ASYNC_SERVER_CALLS_H_
#define CALLSLIP_TRACKER_SERVER_ASYNC_SERVER_CALLS_H_

// The kinds of calls behind AsyncServer: those with one answer here, streams in
// async_server_streams.h. They know no type of message: what is typed is in typed_calls.h. Included
// by the server's own files only.

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

// The calls that last, and what their callers were let in by. Thread-safe.
class LiveCalls {
  struct Live {
    CredentialPtr credential;
    std::weak_ptr<EndableCall> call;
  };

 public:
  using Place = LiveSet<Live>::Place;

  void Add(CredentialPtr credential, const std::shared_ptr<EndableCall>& call);
  // Cancels those whose credentials were revoked.
  void CancelRevokedCalls();

 private:
  LiveSet<Live> calls_;
};

// A call that lasts, to be ended from outside.
class EndableCall {
 public:
  virtual ~EndableCall() = default;
  virtual void CancelCall() = 0;

 private:
  friend class LiveCalls;
  LiveCalls::Place place_;
};

// One method on one queue. Held by the calls that it accepts.
template <typename Call>
struct Method {
  RpcService* service;
  const google::protobuf::MethodDescriptor* descriptor;
  MessageTypes types;
  const RequestShape* shape;
  std::shared_ptr<OperationQueue> queue;
  std::shared_ptr<AwaitedRequests> awaited;  // Of the queue.
  typename Call::Handler handler;
  RpcMetrics* metrics;
  LiveCalls* live;
  Authenticator* authenticator;     // Null: everybody is `local`.
  std::optional<RpcAccess> access;  // There is one with an authenticator.
  // Null: everything leaves at once.
  OutputGate* gate = nullptr;

  // Who makes a call, by its head; an error where nobody may.
  absl::StatusOr<CallContext> Identify(const grpc::ServerContext& context) const {
    if (authenticator == nullptr) return LocalCall();
    return authenticator->Identify(context, *access);
  }
  // The same caller, for whom it speaks; an error where it may not, or not with this request. It is
  // null where the caller streams.
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

  // Whether nobody knows who calls, and nobody needs to.
  bool IsOfStranger(const CallContext& caller) const {
    return IsOpenToAll() && caller.credential == nullptr;
  }
  bool IsOpenToAll() const { return access.has_value() && access->kind == RpcAccess::Kind::kOpen; }

  bool LetsOut() const { return gate == nullptr || gate->IsOpen(); }

  // Has gRPC fill in the next call, and `tag` then come out of the queue.
  void Accept(grpc::ServerContext* context, CallStream* stream, void* tag) const {
    service->Accept(*descriptor, context, stream, queue->queue(), tag);
  }
};

// What a caller is told whose call has ended without a request, or with one that is not a message
// of its kind.
absl::Status NoRequest();

// A call that is answered at once. The object is its own tag three times: accepted, read, finished.
// It owns itself in between. Its messages live in an arena, of which the first block holds most of
// them: their many small parts are then neither allocated nor freed one by one.
class UnaryCall final : public CompletionTag {
 public:
  using Handler = UnaryHandler;
  static constexpr bool kRequestsStream = false;
  static constexpr bool kResponsesStream = false;

  // gRPC fails this at once when the server is being shut down.
  static void AcceptNext(const std::shared_ptr<const Method<UnaryCall>>& method);

  void OnCompletion(bool ok) override;

 private:
  explicit UnaryCall(std::shared_ptr<const Method<UnaryCall>> method)
      : method_(std::move(method)) {}

  void OnAccepted();
  void OnRequest(bool has_come);
  // Ends the call with what was worked out.
  void Finish();
  void Answer(const absl::Status& status);

  // Holds a request and a command without payloads.
  static constexpr size_t kFirstBlockBytes = 2048;

  const std::shared_ptr<const Method<UnaryCall>> method_;
  grpc::ServerContext context_;
  alignas(8) char first_block_[kFirstBlockBytes];
  google::protobuf::Arena arena_{first_block_, kFirstBlockBytes};
  IncomingRequest request_{method_->types.request->New(&arena_), method_->shape, {}};
  CallStream stream_{&context_};
  absl::StatusOr<CallContext> caller_;
  AwaitedRequests::Place place_;  // Until the request is here.
  Message* response_ = nullptr;
  absl::Status status_;
  std::function<void()> when_answered_;
  ActiveSpan span_;
  int64_t begun_ = 0;  // See RpcMetrics.
  enum { kAccepting, kReading, kFinished } step_ = kAccepting;
};

// What calls that are answered later have in common: being accepted, and noticing that the caller
// has left. `Self` has OnOver() for the latter, called also when the call was finished in order;
// incoming(), which is filled in once the caller is let in, or null where it streams; Begin(),
// which hands the call on then; and EndWith(), for a caller that is not let in.
//
// The object lives as long as somebody holds its shared_ptr: the service, or an operation that is
// under way in the completion queue (each holds one through its Tag).
//
// An operation is started only after TryBegin(). Where that fails, the server stops, and the call
// is over as if its caller had left.
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
    // Must be asked for before the call is accepted. It fires only for calls that were.
    call->context_.AsyncNotifyWhenDone(&call->done_);
    call->accepted_.Hold(call);
    method->Accept(&call->context_, &call->stream_, &call->accepted_);
  }

 protected:
  using Step = void (*)(Self& call, bool ok);

  // A completion tag that takes the next step of its call, and keeps the call alive until then.
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
  // How it was finished. To be called before it is.
  void SetCode(absl::StatusCode code) { code_.store(code, std::memory_order_relaxed); }
  bool IsOver() const { return (departure_.load(std::memory_order_acquire) & kOver) != 0; }

  const Method<Self>& method() const { return *method_; }
  // The call ends without the service's doing, for which its caller has then left. Before the
  // operation that ends it.
  void EndAsIfCallerLeft() { lost_ = true; }

  grpc::ServerContext context_;
  CallStream stream_{&context_};

  void SetCallerLeftAction(std::function<void()> action) {
    on_caller_left_ = std::move(action);
    if ((departure_.fetch_or(kHasAction, std::memory_order_acq_rel) & kOver) != 0) Depart();
  }

 private:
  // Whoever comes second of OnDone() and SetCallerLeftAction() runs the action.
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
    // Before it is looked whether that was revoked: afterwards the call ends with it.
    if (known.credential != nullptr) method_->live->Add(known.credential, self);
    const absl::StatusOr<CallContext> caller =
        method_->Admit(std::move(known), context_, self->incoming());
    if (!caller.ok()) return self->EndWith(caller.status());
    self->Begin(*caller);
  }

  void OnDone() {
    const uint8_t before = departure_.fetch_or(kOver, std::memory_order_acq_rel);
    static_cast<Self*>(this)->OnOver();
    method_->metrics->End(begun_, context_.IsCancelled() ? absl::StatusCode::kCancelled
                                                         : code_.load(std::memory_order_relaxed));
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
  // Until the request is here.
  std::unique_ptr<CallContext> caller_;
  AwaitedRequests::Place awaited_;
  std::atomic<uint8_t> departure_{0};
  std::atomic<bool> lost_{false};
  int64_t begun_ = 0;
  std::atomic<absl::StatusCode> code_{absl::StatusCode::kOk};
  std::function<void()> on_caller_left_;
};

// A call that is answered once, later.
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
  void AnswerError(const absl::Status& status);
  void OnFinished(bool ok);

  const AnyMessage request_;
  IncomingRequest incoming_{request_.get(), method().shape, {}};
  Tag finished_;
  std::atomic<bool> finishing_{false};
  std::function<void()> if_lost_;
  AnyMessage response_;  // Until the gate lets it out.
};

}  // namespace callslip::tracker::internal

#endif  // CALLSLIP_TRACKER_SERVER_ASYNC_SERVER_CALLS_H_
