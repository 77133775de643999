#ifndef CALLSLIP_TRACKER_RPC_ASYNC_SERVER_CALLS_H_
#define CALLSLIP_TRACKER_RPC_ASYNC_SERVER_CALLS_H_

// The three kinds of calls behind AsyncServer's templates. Included by async_server.h only.

#include "tracker/rpc/async_server.h"

namespace callslip::tracker {

// A call that is answered at once. The object is its own tag twice: accepted, then finished. It
// owns itself in between.
template <typename Request, typename Response>
class AsyncServer::UnaryCall final : public CompletionTag {
 public:
  using Writer = grpc::ServerAsyncResponseWriter<Response>;
  using Handler = std::function<absl::StatusOr<Response>(const Request&)>;

  struct Method {
    AsyncServer* server;
    grpc::ServerCompletionQueue* queue;
    Accept<Request, Writer> accept;
    Handler handler;
  };

  static void AcceptNext(std::shared_ptr<const Method> method) {
    auto* call = new UnaryCall(std::move(method));
    const bool accepting = call->method_->server->TryAccept([call] {
      call->method_->accept(&call->context_, &call->request_, &call->writer_, call->method_->queue,
                            call);
    });
    if (!accepting) delete call;
  }

  void OnCompletion(bool ok) override {
    if (finished_ || !ok) {
      delete this;
      return;
    }
    AcceptNext(method_);
    finished_ = true;
    const absl::StatusOr<Response> response = method_->handler(request_);
    if (response.ok()) {
      writer_.Finish(*response, grpc::Status::OK, this);
    } else {
      writer_.FinishWithError(ToGrpc(response.status(), context_), this);
    }
  }

 private:
  explicit UnaryCall(std::shared_ptr<const Method> method) : method_(std::move(method)) {}

  const std::shared_ptr<const Method> method_;
  grpc::ServerContext context_;
  Request request_;
  Writer writer_{&context_};
  bool finished_ = false;
};

// What calls that are answered later have in common: being accepted, and noticing that the caller
// has left. `Self` provides Begin() for when a request is there.
//
// The object lives as long as somebody holds its shared_ptr: the service, or an operation that is
// under way in the completion queue (each holds one through its Tag).
template <typename Self, typename Request, typename Writer>
class AsyncServer::LongCall : public std::enable_shared_from_this<Self> {
 public:
  struct Method {
    AsyncServer* server;
    grpc::ServerCompletionQueue* queue;
    Accept<Request, Writer> accept;
    typename Self::Handler handler;
  };

  static void AcceptNext(std::shared_ptr<const Method> method) {
    auto call = std::make_shared<Self>(std::move(method));
    call->method_->server->TryAccept([&call] {
      // Must be asked for before the call is accepted. It fires only for calls that were.
      call->context_.AsyncNotifyWhenDone(&call->done_);
      call->accepted_.Hold(call);
      call->method_->accept(&call->context_, &call->request_, &call->writer_, call->method_->queue,
                            &call->accepted_);
    });
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

  explicit LongCall(std::shared_ptr<const Method> method)
      : method_(std::move(method)),
        accepted_([](Self& call, bool ok) { call.OnAccepted(ok); }),
        done_([](Self& call, bool) { call.OnDone(); }) {}

  void OnAccepted(bool ok) {
    if (!ok) return;
    live_.Begin(method_->server);
    done_.Hold(this->shared_from_this());
    AcceptNext(method_);
    method_->handler(request_, this->shared_from_this());
  }

  void OnDone() {
    std::function<void()> action;
    {
      MutexLock lock(&mutex_);
      caller_left_ = true;
      action = std::move(on_caller_left_);
      on_caller_left_ = nullptr;
    }
    if (action != nullptr && context_.IsCancelled()) action();
  }

  void SetCallerLeftAction(std::function<void()> action) {
    {
      MutexLock lock(&mutex_);
      if (!caller_left_) {
        on_caller_left_ = std::move(action);
        return;
      }
    }
    if (context_.IsCancelled()) action();
  }

  // Counts this call as live from its acceptance until everything else of it is gone: the first
  // member is destroyed last.
  class Liveness {
   public:
    void Begin(AsyncServer* server) {
      server->CallBegins();
      server_ = server;
    }
    ~Liveness() {
      if (server_ != nullptr) server_->CallEnds();
    }

   private:
    AsyncServer* server_ = nullptr;
  };

  Liveness live_;
  const std::shared_ptr<const Method> method_;
  grpc::ServerContext context_;
  Request request_;
  Writer writer_{&context_};
  Tag accepted_;
  Tag done_;

  Mutex mutex_;
  bool caller_left_ ABSL_GUARDED_BY(mutex_) = false;
  std::function<void()> on_caller_left_ ABSL_GUARDED_BY(mutex_);
};

template <typename Request, typename Response>
class AsyncServer::HeldCall final
    : public AsyncServer::LongCall<HeldCall<Request, Response>, Request,
                                   grpc::ServerAsyncResponseWriter<Response>>,
      public HeldReply<Response> {
 public:
  using Base = AsyncServer::LongCall<HeldCall, Request, grpc::ServerAsyncResponseWriter<Response>>;
  using Handler = std::function<void(const Request&, std::shared_ptr<HeldReply<Response>>)>;

  explicit HeldCall(std::shared_ptr<const typename Base::Method> method)
      : Base(std::move(method)), finished_([](HeldCall& call, bool ok) { call.OnFinished(ok); }) {}

  void Finish(const Response& response, std::function<void()> if_lost) override {
    {
      MutexLock lock(&this->mutex_);
      if (MayFinishLocked()) {
        if_lost_ = std::move(if_lost);
        this->writer_.Finish(response, grpc::Status::OK, &finished_);
        return;
      }
    }
    if_lost();
  }

  void Fail(const absl::Status& status) override {
    MutexLock lock(&this->mutex_);
    if (!MayFinishLocked()) return;
    this->writer_.FinishWithError(ToGrpc(status, this->context_), &finished_);
  }

  void OnCallerLeft(std::function<void()> action) override {
    this->SetCallerLeftAction(std::move(action));
  }

 private:
  friend Base;
  friend class LongCall<HeldCall, Request, grpc::ServerAsyncResponseWriter<Response>>;

  bool MayFinishLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(this->mutex_) {
    if (this->caller_left_ || finishing_) return false;
    finishing_ = true;
    finished_.Hold(this->shared_from_this());
    return true;
  }

  void OnFinished(bool ok) {
    std::function<void()> if_lost;
    {
      MutexLock lock(&this->mutex_);
      if_lost = std::move(if_lost_);
    }
    if (!ok && if_lost != nullptr) if_lost();
  }

  typename Base::Tag finished_;
  bool finishing_ ABSL_GUARDED_BY(this->mutex_) = false;
  std::function<void()> if_lost_ ABSL_GUARDED_BY(this->mutex_);
};

template <typename Request, typename Response>
class AsyncServer::StreamCall final
    : public AsyncServer::LongCall<StreamCall<Request, Response>, Request,
                                   grpc::ServerAsyncWriter<Response>>,
      public LatestStream<Response> {
 public:
  using Base = AsyncServer::LongCall<StreamCall, Request, grpc::ServerAsyncWriter<Response>>;
  using Handler = std::function<void(const Request&, std::shared_ptr<LatestStream<Response>>)>;

  explicit StreamCall(std::shared_ptr<const typename Base::Method> method)
      : Base(std::move(method)),
        written_([](StreamCall& call, bool ok) { call.OnWritten(ok); }),
        finished_([](StreamCall&, bool) {}) {}

  void Send(Response response) override {
    MutexLock lock(&this->mutex_);
    if (this->caller_left_ || end_.has_value()) return;
    pending_ = std::move(response);
    StepLocked();
  }

  void Finish(const absl::Status& status) override {
    MutexLock lock(&this->mutex_);
    if (this->caller_left_ || end_.has_value()) return;
    end_ = status;
    StepLocked();
  }

  void OnCallerLeft(std::function<void()> action) override {
    this->SetCallerLeftAction(std::move(action));
  }

 private:
  friend Base;
  friend class LongCall<StreamCall, Request, grpc::ServerAsyncWriter<Response>>;

  // Starts the next operation if none is under way: gRPC allows one at a time.
  void StepLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(this->mutex_) {
    if (busy_) return;
    if (pending_.has_value()) {
      busy_ = true;
      written_.Hold(this->shared_from_this());
      this->writer_.Write(*pending_, &written_);
      pending_.reset();
    } else if (end_.has_value()) {
      busy_ = true;
      finished_.Hold(this->shared_from_this());
      this->writer_.Finish(ToGrpc(*end_, this->context_), &finished_);
    }
  }

  void OnWritten(bool ok) {
    MutexLock lock(&this->mutex_);
    busy_ = false;
    // After a failed write the caller is gone, and OnDone() is on its way.
    if (ok) StepLocked();
  }

  typename Base::Tag written_;
  typename Base::Tag finished_;
  bool busy_ ABSL_GUARDED_BY(this->mutex_) = false;
  std::optional<Response> pending_ ABSL_GUARDED_BY(this->mutex_);
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(this->mutex_);
};

template <typename Service, typename Base, typename Request, typename Response>
void AsyncServer::ServeUnary(Service* service,
                             void (Base::*request)(grpc::ServerContext*, Request*,
                                                   grpc::ServerAsyncResponseWriter<Response>*,
                                                   grpc::CompletionQueue*,
                                                   grpc::ServerCompletionQueue*, void*),
                             std::function<absl::StatusOr<Response>(const Request&)> handler) {
  using Call = UnaryCall<Request, Response>;
  for (const auto& queue : queues_) {
    auto method = std::make_shared<const typename Call::Method>(
        typename Call::Method{this, queue.get(),
                              [service, request](grpc::ServerContext* context, Request* message,
                                                 typename Call::Writer* writer,
                                                 grpc::ServerCompletionQueue* on, void* tag) {
                                (service->*request)(context, message, writer, on, on, tag);
                              },
                              handler});
    for (int i = 0; i < kAcceptsPerMethod; ++i) Call::AcceptNext(method);
  }
}

template <typename Service, typename Base, typename Request, typename Response>
void AsyncServer::ServeHeld(
    Service* service,
    void (Base::*request)(grpc::ServerContext*, Request*,
                          grpc::ServerAsyncResponseWriter<Response>*, grpc::CompletionQueue*,
                          grpc::ServerCompletionQueue*, void*),
    std::function<void(const Request&, std::shared_ptr<HeldReply<Response>>)> handler) {
  using Call = HeldCall<Request, Response>;
  for (const auto& queue : queues_) {
    auto method = std::make_shared<const typename Call::Base::Method>(typename Call::Base::Method{
        this, queue.get(),
        [service, request](grpc::ServerContext* context, Request* message,
                           grpc::ServerAsyncResponseWriter<Response>* writer,
                           grpc::ServerCompletionQueue* on, void* tag) {
          (service->*request)(context, message, writer, on, on, tag);
        },
        handler});
    for (int i = 0; i < kAcceptsPerMethod; ++i) Call::AcceptNext(method);
  }
}

template <typename Service, typename Base, typename Request, typename Response>
void AsyncServer::ServeStream(
    Service* service,
    void (Base::*request)(grpc::ServerContext*, Request*, grpc::ServerAsyncWriter<Response>*,
                          grpc::CompletionQueue*, grpc::ServerCompletionQueue*, void*),
    std::function<void(const Request&, std::shared_ptr<LatestStream<Response>>)> handler) {
  using Call = StreamCall<Request, Response>;
  for (const auto& queue : queues_) {
    auto method = std::make_shared<const typename Call::Base::Method>(typename Call::Base::Method{
        this, queue.get(),
        [service, request](grpc::ServerContext* context, Request* message,
                           grpc::ServerAsyncWriter<Response>* writer,
                           grpc::ServerCompletionQueue* on, void* tag) {
          (service->*request)(context, message, writer, on, on, tag);
        },
        handler});
    for (int i = 0; i < kAcceptsPerMethod; ++i) Call::AcceptNext(method);
  }
}

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_RPC_ASYNC_SERVER_CALLS_H_
