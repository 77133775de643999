#ifndef CALLSLIP_GATEWAY_TRACKER_CLIENT_WATCH_CALL_H_
#define CALLSLIP_GATEWAY_TRACKER_CLIENT_WATCH_CALL_H_

#include <memory>
#include <utility>

#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/post.hpp"
#include "callslip/tracker/v1/command_service.grpc.pb.h"
#include "common/rpc_status.h"
#include "gateway/tracker_client/async_call.h"
#include "gateway/tracker_client/watch_hub.h"
#include "grpcpp/grpcpp.h"

namespace callslip::gateway {

// WatchCommands over gRPC. Waits for the connection for as long as it takes. To be destroyed once
// it has ended, or once its queue has.
class GrpcWatchCall final : public WatchCall {
 public:
  GrpcWatchCall(v1::CommandService::Stub* stub, grpc::CompletionQueue* queue, CallsUnderWay* calls,
                boost::asio::any_io_executor executor, Listener* listener)
      : executor_(std::move(executor)), calls_(calls), listener_(listener) {
    context_.set_wait_for_ready(true);
    calls_->Add(&context_);
    stream_ = stub->PrepareAsyncWatchCommands(&context_, queue);
    stream_->StartCall(&started_);
  }

  void Send(const v1::WatchCommandsRequest& request) override {
    // The end is on its way to the hub, which will tell the next call.
    if (reads_over_) return;
    writing_ = true;
    stream_->Write(request, &written_);
  }

 private:
  // Hands over what is done to the executor.
  class Tag final : public ClientTag {
   public:
    Tag(GrpcWatchCall* call, void (GrpcWatchCall::*then)(bool ok)) : call_(call), then_(then) {}
    void OnCompletion(bool ok) override {
      boost::asio::post(call_->executor_, [call = call_, then = then_, ok] { (call->*then)(ok); });
    }

   private:
    GrpcWatchCall* const call_;
    void (GrpcWatchCall::*const then_)(bool ok);
  };

  void OnStarted(bool ok) {
    stream_->Read(&incoming_, &read_);
    if (ok) listener_->OnReady();
  }

  void OnRead(bool ok) {
    if (!ok) {
      reads_over_ = true;
      FinishIfIdle();
      return;
    }
    v1::WatchCommandsResponse response;
    response.Swap(&incoming_);
    stream_->Read(&incoming_, &read_);
    listener_->OnUpdates(std::move(response));
  }

  void OnWritten(bool ok) {
    writing_ = false;
    if (reads_over_) {
      FinishIfIdle();
    } else if (ok) {
      listener_->OnReady();
    }
  }

  void FinishIfIdle() {
    if (!writing_) stream_->Finish(&status_, &finished_);
  }

  void OnFinished(bool) {
    calls_->Remove(&context_);
    listener_->OnEnd(FromGrpc(status_, context_));
  }

  const boost::asio::any_io_executor executor_;
  CallsUnderWay* const calls_;
  Listener* const listener_;
  grpc::ClientContext context_;
  std::unique_ptr<
      grpc::ClientAsyncReaderWriter<v1::WatchCommandsRequest, v1::WatchCommandsResponse>>
      stream_;
  v1::WatchCommandsResponse incoming_;
  bool writing_ = false;
  bool reads_over_ = false;
  grpc::Status status_;
  Tag started_{this, &GrpcWatchCall::OnStarted};
  Tag read_{this, &GrpcWatchCall::OnRead};
  Tag written_{this, &GrpcWatchCall::OnWritten};
  Tag finished_{this, &GrpcWatchCall::OnFinished};
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_TRACKER_CLIENT_WATCH_CALL_H_
