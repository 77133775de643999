#ifndef CALLSLIP_RPC_CLIENT_STUB_CALLS_H_
#define CALLSLIP_RPC_CLIENT_STUB_CALLS_H_

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/awaitable.hpp"
#include "grpcpp/grpcpp.h"
#include "rpc_client/async_call.h"
#include "rpc_client/call_queue.h"
#include "rpc_client/deadlines.h"
#include "rpc_client/message_stream.h"
#include "rpc_client/stream_call.h"

namespace callslip {

// Makes the calls of stubs awaitable. Used by clients' own files only.
class StubCalls {
 public:
  StubCalls(std::shared_ptr<CallQueue> calls, boost::asio::any_io_executor executor)
      : calls_(std::move(calls)), executor_(std::move(executor)) {}

  template <typename Stub, typename Request, typename Response>
  boost::asio::awaitable<absl::StatusOr<Response>> Unary(
      Stub* stub,
      std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> (Stub::*prepare)(
          grpc::ClientContext*, const Request&, grpc::CompletionQueue*),
      Request request, OnCancel on_cancel = OnCancel::kGoOn,
      absl::Duration deadline = kUnaryDeadline) {
    return AwaitUnary<Response>(
        calls_.get(), deadline, on_cancel,
        [this, stub, prepare, request = std::move(request)](grpc::ClientContext* context) {
          return (stub->*prepare)(context, request, calls_->queue());
        });
  }

  template <typename Stub, typename Request, typename Message>
  std::unique_ptr<MessageStream<Message>> Streamed(
      Stub* stub,
      std::unique_ptr<grpc::ClientAsyncReader<Message>> (Stub::*prepare)(grpc::ClientContext*,
                                                                         const Request&,
                                                                         grpc::CompletionQueue*),
      const Request& request) {
    auto call = std::make_shared<StreamCall<Message>>(executor_, calls_);
    call->Start([&](grpc::ClientContext* context) {
      return (stub->*prepare)(context, request, calls_->queue());
    });
    return std::make_unique<CallReader<Message>>(std::move(call));
  }

  CallQueue& queue() { return *calls_; }

 private:
  const std::shared_ptr<CallQueue> calls_;
  const boost::asio::any_io_executor executor_;
};

}  // namespace callslip

#endif  // CALLSLIP_RPC_CLIENT_STUB_CALLS_H_
