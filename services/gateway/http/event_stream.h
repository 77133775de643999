#pragma once

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

// One server-sent event. `data` is one line. If `id` is above 0, a client that reconnects quotes it
// as Last-Event-ID.
std::string ServerSentEvent(absl::string_view data, int64_t id = 0);

// The head of a text/event-stream response, without its `stream`.
HttpResponse EventStreamHead();

// Proxies and clients close streams that are idle for a minute or so.
inline constexpr std::chrono::milliseconds kStreamKeepAlive{15'000};

// The body of a text/event-stream while it is written: a bounded outbox between its producer and a
// peer that may read slowly. Sends a comment if there is no event for a while.
class EventStream : public std::enable_shared_from_this<EventStream> {
 public:
  // Sends events until it returns, which ends the stream, or throws, which breaks it off. Canceled
  // when the peer leaves. The EventStream lives until then.
  using Producer = std::function<boost::asio::awaitable<void>(std::shared_ptr<EventStream>)>;

  // A response with such a stream.
  static HttpResponse Response(boost::asio::any_io_executor executor, Producer producer,
                               std::chrono::milliseconds keep_alive = kStreamKeepAlive);

  EventStream(boost::asio::any_io_executor executor, Producer producer,
              std::chrono::milliseconds keep_alive);

  // Queues an event and returns when there is room for the next one. Throws, as BodyWriter::Write()
  // does, if unread data of all peers leaves no room for it.
  boost::asio::awaitable<void> Send(std::string event);
  // Sets the number of bytes that the producer holds from now on to make events from.
  void SetKept(size_t bytes) { kept_ = bytes; }

 private:
  boost::asio::awaitable<void> Write(BodyWriter& writer);

  const boost::asio::any_io_executor executor_;
  const Producer producer_;
  const std::chrono::milliseconds keep_alive_;
  std::string outbox_;
  size_t kept_ = 0;               // Bytes held by the producer.
  BodyWriter* writer_ = nullptr;  // While Write() runs.
  bool done_ = false;
  std::exception_ptr error_;
  boost::asio::steady_timer news_;  // Canceled to wake the writer.
  boost::asio::steady_timer room_;  // Canceled to wake the producer. Never expires.
};

}  // namespace callslip::gateway
