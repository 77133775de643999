#pragma once

#include <memory>
#include <string>
#include <utility>

#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/steady_timer.hpp"
#include "google/protobuf/message.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"
#include "rpc_client/async_call.h"
#include "rpc_client/call_queue.h"
#include "rpc_client/message_stream.h"

namespace callslip {

// A server-streaming call to the tracker. Waits for the connection without a timeout. The operation
// in progress holds the call, so that its reader can leave at any time.
class StreamCall final : public std::enable_shared_from_this<StreamCall> {
 public:
  // `type` is a message of the response type.
  static std::unique_ptr<MessageSource> Open(grpc::GenericStub& stub, const std::string& path,
                                             const google::protobuf::Message& request,
                                             const google::protobuf::Message& type,
                                             boost::asio::any_io_executor executor,
                                             std::shared_ptr<CallQueue> calls);
  // Use Open().
  StreamCall(const google::protobuf::Message& type, boost::asio::any_io_executor executor,
             std::shared_ptr<CallQueue> calls);
  // Can run during the call: while a message waits to be taken, no operation is in progress.
  ~StreamCall() { calls_->Remove(&context_); }
  StreamCall(const StreamCall&) = delete;

 private:
  class Reader;
  using Then = void (StreamCall::*)(bool ok);

  // Continues with `then` on the executor, and holds the call until then. One operation at a time.
  class Tag final : public ClientTag {
   public:
    void OnCompletion(bool ok) override;
    std::shared_ptr<StreamCall> call_;
    Then then_ = nullptr;
  };

  ClientTag* Await(Then then);
  void Read();
  void OnWritten(bool ok);
  void OnRead(bool ok);
  void OnFinished(bool ok);

  const boost::asio::any_io_executor executor_;
  const std::shared_ptr<CallQueue> calls_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream_;
  grpc::ByteBuffer bytes_;  // Of the request, then of each message.
  const std::unique_ptr<google::protobuf::Message> message_;
  bool has_message_ = false;  // Not taken yet; the next one is read only after it.
  bool reads_over_ = false;
  bool is_unreadable_ = false;  // The last message; the call is then cancelled.
  bool over_ = false;
  grpc::Status status_;
  boost::asio::steady_timer changed_;  // Never expires; its waits are cancelled.
  Tag tag_;
};

}  // namespace callslip
