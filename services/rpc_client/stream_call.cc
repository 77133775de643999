#include "rpc_client/stream_call.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "boost/asio/as_tuple.hpp"
#include "boost/asio/awaitable.hpp"
#include "boost/asio/dispatch.hpp"
#include "boost/asio/this_coro.hpp"
#include "boost/asio/use_awaitable.hpp"
#include "common/rpc_status.h"

namespace callslip {

using google::protobuf::Message;

// The reader's handle to a call.
class StreamCall::Reader final : public MessageSource {
 public:
  explicit Reader(std::shared_ptr<StreamCall> call) : call_(std::move(call)) {}
  ~Reader() override { call_->context_.TryCancel(); }

  boost::asio::awaitable<absl::StatusOr<bool>> Next(Message* message) override {
    const std::shared_ptr<StreamCall> call = call_;
    while (!call->has_message_ && !call->over_) {
      co_await call->changed_.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
      const auto cancellation = co_await boost::asio::this_coro::cancellation_state;
      if (cancellation.cancelled() != boost::asio::cancellation_type::none) {
        co_return absl::CancelledError("the caller has left");
      }
    }
    if (call->has_message_) {
      message->GetReflection()->Swap(message, call->message_.get());
      call->has_message_ = false;
      call->Read();
      co_return true;
    }
    if (call->is_unreadable_) co_return UnreadableAnswer();
    if (!call->status_.ok()) co_return FromGrpc(call->status_, call->context_);
    co_return false;
  }

 private:
  const std::shared_ptr<StreamCall> call_;
};

std::unique_ptr<MessageSource> StreamCall::Open(grpc::GenericStub& stub, const std::string& path,
                                                const Message& request, const Message& type,
                                                boost::asio::any_io_executor executor,
                                                std::shared_ptr<CallQueue> calls) {
  auto call = std::make_shared<StreamCall>(type, std::move(executor), std::move(calls));
  call->stream_ = stub.PrepareCall(&call->context_, path, call->calls_->queue());
  call->stream_->StartCall(/*tag=*/nullptr);
  bool own_buffer = false;
  grpc::SerializationTraits<Message>::Serialize(request, &call->bytes_, &own_buffer);
  call->stream_->WriteLast(call->bytes_, {}, call->Await(&StreamCall::OnWritten));
  return std::make_unique<Reader>(std::move(call));
}

StreamCall::StreamCall(const Message& type, boost::asio::any_io_executor executor,
                       std::shared_ptr<CallQueue> calls)
    : executor_(std::move(executor)),
      calls_(std::move(calls)),
      message_(type.New()),
      changed_(executor_, boost::asio::steady_timer::time_point::max()) {
  context_.set_wait_for_ready(true);
  // The start is sent with the request, not as an operation of its own.
  context_.set_initial_metadata_corked(true);
  calls_->Add(&context_, /*waits=*/true);
}

void StreamCall::Tag::OnCompletion(bool ok) {
  std::shared_ptr<StreamCall> call = std::move(call_);
  const boost::asio::any_io_executor executor = call->executor_;
  boost::asio::dispatch(executor,
                        [call = std::move(call), then = then_, ok] { (call.get()->*then)(ok); });
}

ClientTag* StreamCall::Await(Then then) {
  tag_.call_ = shared_from_this();
  tag_.then_ = then;
  return &tag_;
}

void StreamCall::Read() {
  if (!reads_over_) stream_->Read(&bytes_, Await(&StreamCall::OnRead));
}

// If the write failed, the next operation fails, too.
void StreamCall::OnWritten(bool) { Read(); }

void StreamCall::OnRead(bool ok) {
  // Deserialized here: gRPC would take a message that cannot be read for the end of the stream.
  is_unreadable_ =
      ok && !grpc::SerializationTraits<Message>::Deserialize(&bytes_, message_.get()).ok();
  if (is_unreadable_) context_.TryCancel();
  if (!ok || is_unreadable_) {
    reads_over_ = true;
    stream_->Finish(&status_, Await(&StreamCall::OnFinished));
    return;
  }
  has_message_ = true;
  changed_.cancel();
}

void StreamCall::OnFinished(bool) {
  calls_->Remove(&context_);
  over_ = true;
  changed_.cancel();
}

}  // namespace callslip
