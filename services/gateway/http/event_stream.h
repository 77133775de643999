#ifndef CALLSLIP_GATEWAY_HTTP_EVENT_STREAM_H_
#define CALLSLIP_GATEWAY_HTTP_EVENT_STREAM_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/awaitable.hpp"
#include "boost/asio/steady_timer.hpp"
#include "gateway/http/http_message.h"

namespace callslip::gateway {

// One server-sent event. `data` is a line; `id`, where it is above 0, is what a client that
// connects again quotes as Last-Event-ID.
std::string ServerSentEvent(absl::string_view data, int64_t id = 0);

// The head of an answer that is a text/event-stream; its `stream` is missing.
HttpResponse EventStreamHead();

// Proxies and clients close streams on which nothing happens for a minute or so.
inline constexpr std::chrono::milliseconds kStreamKeepAlive{15'000};

// The body of a text/event-stream while it is written: a bounded outbox between its producer and a
// peer that may read slowly. Where there is nothing else for a while, a comment goes out.
class EventStream : public std::enable_shared_from_this<EventStream> {
 public:
  // Sends events until it returns, which ends the stream, or throws, which tears it. Cancelled when
  // the peer leaves. Lives until then.
  using Producer = std::function<boost::asio::awaitable<void>(std::shared_ptr<EventStream>)>;

  // The answer that is such a stream.
  static HttpResponse Response(boost::asio::any_io_executor executor, Producer producer,
                               std::chrono::milliseconds keep_alive = kStreamKeepAlive);

  EventStream(boost::asio::any_io_executor executor, Producer producer,
              std::chrono::milliseconds keep_alive);

  // Queues an event; returns when there is room for the next one. Throws, as BodyWriter::Write()
  // does, where it waits beside too many others.
  boost::asio::awaitable<void> Send(std::string event);
  // That its producer has so many bytes from now on of which it makes events.
  void SetKept(size_t bytes) { kept_ = bytes; }

 private:
  boost::asio::awaitable<void> Write(BodyWriter& writer);

  const boost::asio::any_io_executor executor_;
  const Producer producer_;
  const std::chrono::milliseconds keep_alive_;
  std::string outbox_;
  size_t kept_ = 0;               // By the producer.
  BodyWriter* writer_ = nullptr;  // While Write() runs.
  bool done_ = false;
  std::exception_ptr error_;
  boost::asio::steady_timer news_;  // Cancelled for the writer to look again.
  boost::asio::steady_timer room_;  // The same for the producer. Never runs out.
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_HTTP_EVENT_STREAM_H_
