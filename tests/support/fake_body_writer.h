#pragma once

#include <string>

#include "boost/asio/as_tuple.hpp"
#include "boost/asio/awaitable.hpp"
#include "boost/asio/io_context.hpp"
#include "boost/asio/steady_timer.hpp"
#include "boost/asio/use_awaitable.hpp"
#include "boost/system/system_error.hpp"
#include "gateway/http/http_message.h"

namespace callslip::gateway {

// A peer of a streamed body: keeps the written pieces. While it is blocked, Write() waits; after it
// has left, Write() throws, like that of a real one.
class FakeBodyWriter final : public BodyWriter {
 public:
  explicit FakeBodyWriter(boost::asio::io_context& io)
      : changed_(io, boost::asio::steady_timer::time_point::max()) {}

  boost::asio::awaitable<void> Write(std::string piece) override {
    if (!has_left_) written += piece;
    while (blocked && !has_left_) {
      co_await changed_.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    }
    if (has_left_) throw boost::system::system_error(boost::asio::error::operation_aborted);
  }

  bool Hold(size_t bytes) override {
    if (bytes > most_held) return false;
    held = bytes;
    return true;
  }

  void Unblock() {
    blocked = false;
    changed_.cancel();
  }
  void Leave() {
    has_left_ = true;
    changed_.cancel();
  }

  size_t held = 0;
  size_t most_held = SIZE_MAX;
  std::string written;
  bool blocked = false;

 private:
  bool has_left_ = false;
  boost::asio::steady_timer changed_;
};

}  // namespace callslip::gateway
