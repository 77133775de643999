#ifndef CALLSLIP_RPC_CLIENT_STREAM_CALL_H_
#define CALLSLIP_RPC_CLIENT_STREAM_CALL_H_

#include <memory>
#include <string>
#include <utility>

#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/steady_timer.hpp"
#include "google/protobuf/message.h"
#include "grpcpp/grpcpp.h"
#include "rpc_client/async_call.h"
#include "rpc_client/call_queue.h"
#include "rpc_client/message_stream.h"

namespace callslip {

// A call that the tracker answers with a stream. Waits for the connection for as long as it takes.
// What is under way on it holds it, so that its reader may leave at any time.
class StreamCall final : public std::enable_shared_from_this<StreamCall> {
 public:
  // `type` is a message of the type of those that come.
  static std::unique_ptr<MessageSource> Open(MessageStub& stub, const std::string& path,
                                             const google::protobuf::Message& request,
                                             const google::protobuf::Message& type,
                                             boost::asio::any_io_executor executor,
                                             std::shared_ptr<CallQueue> calls);
  // Open() makes one.
  StreamCall(const google::protobuf::Message& type, boost::asio::any_io_executor executor,
             std::shared_ptr<CallQueue> calls);
  // Also in the middle of it: while a message waits to be taken nothing is under way.
  ~StreamCall() { calls_->Remove(&context_); }
  StreamCall(const StreamCall&) = delete;

 private:
  class Reader;
  using Then = void (StreamCall::*)(bool ok);

  // Goes on with `then` on the executor, and holds the call until then. One operation at a time.
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
  std::unique_ptr<
      grpc::ClientAsyncReaderWriter<google::protobuf::Message, google::protobuf::Message>>
      stream_;
  const std::unique_ptr<google::protobuf::Message> message_;
  bool has_message_ = false;  // Not taken yet; nothing is read until it is.
  bool reads_over_ = false;
  bool over_ = false;
  grpc::Status status_;
  boost::asio::steady_timer changed_;  // Never runs out; its waits are cancelled.
  Tag tag_;
};

}  // namespace callslip

#endif  // CALLSLIP_RPC_CLIENT_STREAM_CALL_H_
