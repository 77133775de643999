#include "gateway/http/event_stream.h"

#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "boost/asio/error.hpp"
#include "boost/system/system_error.hpp"
#include "gateway/http/await.h"
#include "gateway/http/scoped_task.h"

namespace callslip::gateway {

namespace asio = boost::asio;

namespace {

// For events waiting for the peer; one event is accepted whatever its size.
constexpr size_t kMaxOutboxBytes = 256 << 10;

}  // namespace

std::string ServerSentEvent(absl::string_view data, int64_t id) {
  const std::string head = id > 0 ? absl::StrCat("id: ", id, "\n") : "";
  return absl::StrCat(head, "data: ", data, "\n\n");
}

HttpResponse EventStreamHead() {
  return {.content_type = "text/event-stream",
          .headers = {{"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}}};
}

HttpResponse EventStream::Response(asio::any_io_executor executor, Producer producer,
                                   std::chrono::milliseconds keep_alive) {
  HttpResponse response = EventStreamHead();
  auto stream = std::make_shared<EventStream>(std::move(executor), std::move(producer), keep_alive);
  response.stream = [stream](BodyWriter& writer) { return stream->Write(writer); };
  return response;
}

EventStream::EventStream(asio::any_io_executor executor, Producer producer,
                         std::chrono::milliseconds keep_alive)
    : executor_(std::move(executor)),
      producer_(std::move(producer)),
      keep_alive_(keep_alive),
      news_(executor_),
      room_(executor_, asio::steady_timer::time_point::max()) {}

asio::awaitable<void> EventStream::Send(std::string event) {
  outbox_ += event;
  // A stream whose peer reads too slowly ends when the shared budget is used up.
  if (writer_ != nullptr && !writer_->Hold(outbox_.size() + kept_)) {
    outbox_.clear();
    writer_->Hold(0);
    throw boost::system::system_error(asio::error::operation_aborted);
  }
  news_.cancel();
  while (outbox_.size() > kMaxOutboxBytes) {
    co_await room_.async_wait(kAwait);
  }
}

asio::awaitable<void> EventStream::Write(BodyWriter& writer) {
  ScopedTask::Ended ended = [self = shared_from_this()](const std::exception_ptr& error) {
    self->done_ = true;
    self->error_ = error;
    self->news_.cancel();
  };
  writer_ = &writer;
  const absl::Cleanup leave = [this] { writer_ = nullptr; };
  asio::awaitable<void> work = producer_(shared_from_this());
  // Ends the producer on every exit, including an exception.
  const ScopedTask producer(executor_, std::move(work), std::move(ended));
  // Tells the peer at once that it is connected.
  std::string piece = ": connected\n\n";
  while (true) {
    co_await writer.Write(std::move(piece));
    room_.cancel();
    if (outbox_.empty() && !done_) {
      news_.expires_after(keep_alive_);
      co_await news_.async_wait(kAwait);
    }
    piece = std::exchange(outbox_, {});
    writer.Hold(kept_);
    if (piece.empty() && done_) break;
    if (piece.empty()) piece = ": keep-alive\n\n";
  }
  if (error_ != nullptr) std::rethrow_exception(error_);
}

}  // namespace callslip::gateway
