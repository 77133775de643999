#ifndef CALLSLIP_RPC_CLIENT_STREAM_CALL_H_
#define CALLSLIP_RPC_CLIENT_STREAM_CALL_H_

#include <memory>
#include <optional>
#include <utility>

#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/as_tuple.hpp"
#include "boost/asio/dispatch.hpp"
#include "boost/asio/steady_timer.hpp"
#include "boost/asio/this_coro.hpp"
#include "boost/asio/use_awaitable.hpp"
#include "common/rpc_status.h"
#include "grpcpp/grpcpp.h"
#include "rpc_client/call_queue.h"
#include "rpc_client/message_stream.h"

namespace callslip {

// A call that the tracker answers with a stream. Waits for the connection for as long as it takes.
// What is under way on it holds it, so that its reader may leave at any time.
template <typename Message>
class StreamCall final : public std::enable_shared_from_this<StreamCall<Message>> {
 public:
  StreamCall(boost::asio::any_io_executor executor, std::shared_ptr<CallQueue> calls)
      : executor_(std::move(executor)),
        calls_(std::move(calls)),
        changed_(executor_, boost::asio::steady_timer::time_point::max()) {
    context_.set_wait_for_ready(true);
    calls_->Add(&context_, /*waits=*/true);
  }

  // Also in the middle of it: while a message waits to be taken nothing is under way.
  ~StreamCall() { calls_->Remove(&context_); }
  StreamCall(const StreamCall&) = delete;

  // `prepare(context)` returns the reader of a call that was not started yet.
  template <typename Prepare>
  void Start(Prepare prepare) {
    stream_ = prepare(&context_);
    stream_->StartCall(Await(&StreamCall::OnStarted));
  }

  void Leave() { context_.TryCancel(); }

  boost::asio::awaitable<absl::StatusOr<std::optional<Message>>> Next() {
    while (!message_.has_value() && !over_) {
      co_await changed_.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
      const auto cancellation = co_await boost::asio::this_coro::cancellation_state;
      if (cancellation.cancelled() != boost::asio::cancellation_type::none) {
        co_return absl::CancelledError("the caller has left");
      }
    }
    if (message_.has_value()) {
      std::optional<Message> message = std::move(message_);
      message_.reset();
      Read();
      co_return message;
    }
    if (!status_.ok()) co_return FromGrpc(status_, context_);
    co_return std::optional<Message>();
  }

 private:
  using Then = void (StreamCall::*)(bool ok);

  // Goes on with `then` on the executor, and holds the call until then. One operation at a time.
  class Tag final : public ClientTag {
   public:
    void OnCompletion(bool ok) override {
      std::shared_ptr<StreamCall> call = std::move(call_);
      const boost::asio::any_io_executor executor = call->executor_;
      boost::asio::dispatch(
          executor, [call = std::move(call), then = then_, ok] { (call.get()->*then)(ok); });
    }
    std::shared_ptr<StreamCall> call_;
    Then then_ = nullptr;
  };

  ClientTag* Await(Then then) {
    tag_.call_ = this->shared_from_this();
    tag_.then_ = then;
    return &tag_;
  }

  void Read() {
    if (!reads_over_) stream_->Read(&incoming_, Await(&StreamCall::OnRead));
  }

  void OnStarted(bool) { Read(); }

  void OnRead(bool ok) {
    if (!ok) {
      reads_over_ = true;
      stream_->Finish(&status_, Await(&StreamCall::OnFinished));
      return;
    }
    message_.emplace();
    message_->Swap(&incoming_);
    changed_.cancel();
  }

  void OnFinished(bool) {
    calls_->Remove(&context_);
    over_ = true;
    changed_.cancel();
  }

  const boost::asio::any_io_executor executor_;
  const std::shared_ptr<CallQueue> calls_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientAsyncReader<Message>> stream_;
  Message incoming_;
  std::optional<Message> message_;  // Not taken yet; nothing is read until it is.
  bool reads_over_ = false;
  bool over_ = false;
  grpc::Status status_;
  boost::asio::steady_timer changed_;  // Never runs out; its waits are cancelled.
  Tag tag_;
};

// What its reader holds of a StreamCall.
template <typename Message>
class CallReader final : public MessageStream<Message> {
 public:
  explicit CallReader(std::shared_ptr<StreamCall<Message>> call) : call_(std::move(call)) {}
  ~CallReader() override { call_->Leave(); }

  boost::asio::awaitable<absl::StatusOr<std::optional<Message>>> Next() override {
    return call_->Next();
  }

 private:
  const std::shared_ptr<StreamCall<Message>> call_;
};

}  // namespace callslip

#endif  // CALLSLIP_RPC_CLIENT_STREAM_CALL_H_
