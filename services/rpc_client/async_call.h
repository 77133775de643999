#ifndef CALLSLIP_RPC_CLIENT_ASYNC_CALL_H_
#define CALLSLIP_RPC_CLIENT_ASYNC_CALL_H_

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "boost/asio/associated_cancellation_slot.hpp"
#include "boost/asio/associated_executor.hpp"
#include "boost/asio/async_result.hpp"
#include "boost/asio/dispatch.hpp"
#include "boost/asio/executor_work_guard.hpp"
#include "boost/asio/use_awaitable.hpp"
#include "common/rpc_status.h"
#include "grpc/support/time.h"
#include "grpcpp/grpcpp.h"
#include "rpc_client/call_queue.h"
#include "rpc_client/deadlines.h"

// A call as something that an Asio coroutine can await. Used by the clients' own files only.
namespace callslip {

// What becomes of a call when the coroutine that awaits it is cancelled.
enum class OnCancel {
  kEndCall,  // It is a wait, or asks a question that nobody is left to hear the answer to.
  kGoOn,     // It hands something over that must not be lost because the bearer has left.
};

// One call under way. Owns itself until its last operation is done; then the result goes to
// `handler` on the handler's own executor, where the call is destroyed. Cancelling runs on that
// executor too, so that it never meets a destroyed call.
template <typename Result, typename Handler>
class AsyncCall : public ClientTag {
 public:
  AsyncCall(Handler handler, absl::Duration deadline, OnCancel on_cancel, CallQueue* calls)
      : handler_(std::move(handler)),
        calls_(calls),
        work_(boost::asio::make_work_guard(boost::asio::get_associated_executor(handler_))) {
    context_.set_deadline(gpr_time_from_millis(absl::ToInt64Milliseconds(deadline), GPR_TIMESPAN));
    context_.set_wait_for_ready(true);
    calls_->Add(&context_, /*waits=*/deadline > kUnaryDeadline);
    auto slot = boost::asio::get_associated_cancellation_slot(handler_);
    if (slot.is_connected() && on_cancel == OnCancel::kEndCall) {
      slot.assign([this](boost::asio::cancellation_type) { context_.TryCancel(); });
    }
  }

 protected:
  void Deliver() {
    auto executor = work_.get_executor();
    boost::asio::dispatch(executor, [self = std::unique_ptr<AsyncCall>(this)]() mutable {
      boost::asio::get_associated_cancellation_slot(self->handler_).clear();
      self->calls_->Remove(&self->context_);
      Handler handler = std::move(self->handler_);
      absl::StatusOr<Result> result = std::move(self->result_);
      self.reset();
      std::move(handler)(std::move(result));
    });
  }

  grpc::ClientContext context_;
  absl::StatusOr<Result> result_{Result()};

 private:
  Handler handler_;
  CallQueue* const calls_;
  boost::asio::executor_work_guard<boost::asio::associated_executor_t<Handler>> work_;
};

template <typename Response, typename Handler>
class UnaryClientCall final : public AsyncCall<Response, Handler> {
 public:
  using AsyncCall<Response, Handler>::AsyncCall;

  // `prepare(context)` returns the reader of a call that was not started yet.
  template <typename Prepare>
  void Start(Prepare prepare) {
    reader_ = prepare(&this->context_);
    reader_->StartCall();
    reader_->Finish(&*this->result_, &status_, static_cast<ClientTag*>(this));
  }

  void OnCompletion(bool) override {
    if (!status_.ok()) this->result_ = FromGrpc(status_, this->context_);
    this->Deliver();
  }

 private:
  std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> reader_;
  grpc::Status status_;
};

// Starts a call with `prepare`; `handler` gets the absl::StatusOr<Response>.
template <typename Response, typename Handler, typename Prepare>
void StartUnary(CallQueue* calls, absl::Duration deadline, OnCancel on_cancel, Prepare prepare,
                Handler handler) {
  auto* call =
      new UnaryClientCall<Response, Handler>(std::move(handler), deadline, on_cancel, calls);
  call->Start(std::move(prepare));
}

// Awaits a call that is started with `prepare`. No coroutine itself: its frame would be one more.
template <typename Response, typename Prepare>
boost::asio::awaitable<absl::StatusOr<Response>> AwaitUnary(CallQueue* calls,
                                                            absl::Duration deadline,
                                                            OnCancel on_cancel, Prepare prepare) {
  return boost::asio::async_initiate<const boost::asio::use_awaitable_t<>&,
                                     void(absl::StatusOr<Response>)>(
      [calls, deadline, on_cancel](auto handler, Prepare start) {
        StartUnary<Response>(calls, deadline, on_cancel, std::move(start), std::move(handler));
      },
      boost::asio::use_awaitable, std::move(prepare));
}

}  // namespace callslip

#endif  // CALLSLIP_RPC_CLIENT_ASYNC_CALL_H_
