#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/as_tuple.hpp"
#include "boost/asio/awaitable.hpp"
#include "boost/asio/steady_timer.hpp"
#include "boost/asio/use_awaitable.hpp"

namespace callslip {

// A value that a callback sets and coroutines wait for, all of them on the thread of `executor`.
// Copies share it.
template <typename T>
class Promise {
 public:
  explicit Promise(const boost::asio::any_io_executor& executor)
      : state_(std::make_shared<State>(executor)) {}

  // Only the first call has an effect.
  void Set(T value) const {
    if (state_->value.has_value()) return;
    state_->value = std::move(value);
    state_->timer.cancel();
  }

  boost::asio::awaitable<T> Get() const {
    const std::shared_ptr<State> state = state_;
    while (!state->value.has_value()) {
      co_await state->timer.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    }
    co_return *state->value;
  }

 private:
  struct State {
    explicit State(const boost::asio::any_io_executor& executor)
        : timer(executor, boost::asio::steady_timer::time_point::max()) {}
    std::optional<T> value;
    boost::asio::steady_timer timer;  // Never expires; Set() cancels its waits.
  };

  std::shared_ptr<State> state_;
};

}  // namespace callslip
