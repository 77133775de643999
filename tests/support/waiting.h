#pragma once

#include <future>

#include "boost/asio/awaitable.hpp"
#include "boost/asio/steady_timer.hpp"
#include "boost/asio/this_coro.hpp"
#include "boost/asio/use_awaitable.hpp"

namespace callslip::gateway {

// An event of the server's thread for which a test waits, or the other way round.
class Event {
 public:
  void Tell() { promise_.set_value(); }
  void Await() { promise_.get_future().wait(); }

 private:
  std::promise<void> promise_;
};

// Returns when it is cancelled.
inline boost::asio::awaitable<void> WaitForever() {
  const auto executor = co_await boost::asio::this_coro::executor;
  boost::asio::steady_timer never(executor, boost::asio::steady_timer::time_point::max());
  co_await never.async_wait(boost::asio::use_awaitable);
}

}  // namespace callslip::gateway
