#pragma once

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "boost/asio/associated_cancellation_slot.hpp"
#include "boost/asio/associated_executor.hpp"
#include "boost/asio/dispatch.hpp"
#include "boost/asio/executor_work_guard.hpp"
#include "common/rpc_status.h"
#include "google/protobuf/message.h"
#include "grpc/support/time.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"
#include "rpc_client/call_queue.h"
#include "rpc_client/deadlines.h"
#include "rpc_client/tracker_calls.h"

namespace callslip {

// A stub for messages of all types, by method path.
using MessageStub =
    grpc::TemplatedGenericStub<google::protobuf::Message, google::protobuf::Message>;

// What happens to a call when the coroutine that awaits it is cancelled.
enum class OnCancel {
  kEndCall,  // For a wait.
  kGoOn,     // For a call that must not be lost because the caller has left. It ends soon anyway.
};

// INTERNAL, with a reason: unlike an error of the connection, repeating the call does not help.
absl::Status UnreadableAnswer();

// A call in progress. Owns itself until its last operation is done. It then passes the result, an
// absl::Status, to `handler` on the handler's own executor, where the call is destroyed.
// Cancellation also runs on that executor, so that it never meets a destroyed call.
template <typename Handler>
class AsyncCall final : public ClientTag {
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

  // `response` is valid as long as the handler. `trace` may be null.
  void Start(MessageStub& stub, const std::string& path, const google::protobuf::Message& request,
             const CallTrace* trace, google::protobuf::Message* response) {
    if (trace != nullptr) {
      context_.AddMetadata("traceparent", trace->context.ToString());
      if (!trace->tracestate.empty()) context_.AddMetadata("tracestate", trace->tracestate);
    }
    reader_ = stub.PrepareUnaryCall(&context_, path, request, calls_->queue());
    reader_->StartCall();
    reader_->Finish(response, &status_, static_cast<ClientTag*>(this));
  }

  void OnCompletion(bool ok) override {
    if (!status_.ok()) {
      result_ = FromGrpc(status_, context_);
    } else if (!ok) {
      result_ = UnreadableAnswer();
    }
    auto executor = work_.get_executor();
    boost::asio::dispatch(executor, [self = std::unique_ptr<AsyncCall>(this)]() mutable {
      boost::asio::get_associated_cancellation_slot(self->handler_).clear();
      self->calls_->Remove(&self->context_);
      Handler handler = std::move(self->handler_);
      absl::Status result = std::move(self->result_);
      self.reset();
      std::move(handler)(std::move(result));
    });
  }

 private:
  Handler handler_;
  CallQueue* const calls_;
  boost::asio::executor_work_guard<boost::asio::associated_executor_t<Handler>> work_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<google::protobuf::Message>> reader_;
  grpc::Status status_;
  absl::Status result_;
};

}  // namespace callslip
