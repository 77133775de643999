#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/dispatch.hpp"
#include "callslip/tracker/v1/command_service.grpc.pb.h"
#include "common/rpc_status.h"
#include "gateway/tracker_client/watch_hub.h"
#include "grpcpp/grpcpp.h"
#include "rpc_client/call_queue.h"

namespace callslip::gateway {

// WatchCommands over gRPC. Waits for the connection without a limit. Destroy it only once it has
// ended, or once its queue has.
class GrpcWatchCall final : public WatchCall {
 public:
  GrpcWatchCall(v1::CommandService::Stub* stub, CallQueue* calls,
                boost::asio::any_io_executor executor, Listener* listener)
      : executor_(std::move(executor)), calls_(calls), listener_(listener) {
    context_.set_wait_for_ready(true);
    calls_->Add(&context_, /*waits=*/true);
    stream_ = stub->PrepareAsyncWatchCommands(&context_, calls_->queue());
    stream_->StartCall(&started_);
  }

  bool IsReady() override {
    return !reads_over_ && !AwaitsWrite() && sending_ == Sending::kNothing;
  }

  void Send(const v1::WatchCommandsRequest& request) override {
    sending_ = Sending::kUnderWay;
    // Most messages leave at once: then no other thread is woken to report it.
    void* tag = nullptr;
    bool ok = false;
    const auto now = gpr_time_0(GPR_CLOCK_MONOTONIC);
    const auto write = [&] { stream_->Write(request, &written_); };
    if (calls_->queue()->DoThenAsyncNext(write, &tag, &ok, now) != Queue::GOT_EVENT) return;
    auto* const done = static_cast<ClientTag*>(tag);
    if (done == &written_) {
      done->OnCompletion(ok);
    } else {
      // Of another call, which may call the function that has called this one.
      calls_->CompleteLater(executor_, done, ok);
    }
  }

 private:
  using Queue = grpc::CompletionQueue;

  // The state of the last message; kAwaited: OnWritten() must be called once it has left.
  enum class Sending { kNothing, kUnderWay, kAwaited, kBroken };

  // Passes a completion to the executor.
  class Tag final : public ClientTag {
   public:
    Tag(GrpcWatchCall* call, void (GrpcWatchCall::*then)(bool ok)) : call_(call), then_(then) {}
    void OnCompletion(bool ok) override {
      boost::asio::dispatch(call_->executor_,
                            [call = call_, then = then_, ok] { (call->*then)(ok); });
    }

   private:
    GrpcWatchCall* const call_;
    void (GrpcWatchCall::*const then_)(bool ok);
  };

  // Does not wake the executor unless the hub waits for it: most messages leave at once, and the
  // next one comes later.
  class WrittenTag final : public ClientTag {
   public:
    explicit WrittenTag(GrpcWatchCall* call) : call_(call) {}
    void OnCompletion(bool ok) override {
      Sending seen = Sending::kUnderWay;
      const Sending after = ok ? Sending::kNothing : Sending::kBroken;
      // If nothing waits for it, do nothing more: the call may no longer exist.
      if (call_->sending_.compare_exchange_strong(seen, after)) return;
      boost::asio::dispatch(call_->executor_, [call = call_, after] { call->OnWritten(after); });
    }

   private:
    GrpcWatchCall* const call_;
  };

  void OnStarted(bool ok) {
    sending_ = ok ? Sending::kNothing : Sending::kBroken;
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
    listener_->OnUpdates(std::move(response));
    // Only after the waits are notified, because it allows the tracker to send more.
    stream_->Read(&incoming_, &read_);
  }

  void OnWritten(Sending after) {
    sending_ = after;
    if (reads_over_) {
      FinishIfIdle();
    } else {
      listener_->OnReady();
    }
  }

  // True if a message is in transit: then OnWritten() follows.
  bool AwaitsWrite() {
    Sending seen = Sending::kUnderWay;
    return sending_.compare_exchange_strong(seen, Sending::kAwaited) || seen == Sending::kAwaited;
  }

  void FinishIfIdle() {
    if (AwaitsWrite() || std::exchange(finishing_, true)) return;
    stream_->Finish(&status_, &finished_);
  }

  void OnFinished(bool) {
    calls_->Remove(&context_);
    listener_->OnEnd(FromGrpc(status_, context_));
  }

  const boost::asio::any_io_executor executor_;
  CallQueue* const calls_;
  Listener* const listener_;
  grpc::ClientContext context_;
  std::unique_ptr<
      grpc::ClientAsyncReaderWriter<v1::WatchCommandsRequest, v1::WatchCommandsResponse>>
      stream_;
  v1::WatchCommandsResponse incoming_;
  // Also used on the queue's thread.
  std::atomic<Sending> sending_{Sending::kAwaited};
  bool reads_over_ = false;
  bool finishing_ = false;
  grpc::Status status_;
  Tag started_{this, &GrpcWatchCall::OnStarted};
  Tag read_{this, &GrpcWatchCall::OnRead};
  WrittenTag written_{this};
  Tag finished_{this, &GrpcWatchCall::OnFinished};
};

}  // namespace callslip::gateway
