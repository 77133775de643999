#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "absl/time/time.h"
#include "boost/asio/as_tuple.hpp"
#include "boost/asio/awaitable.hpp"
#include "boost/asio/steady_timer.hpp"
#include "boost/asio/this_coro.hpp"
#include "boost/asio/use_awaitable.hpp"
#include "runner/timers.h"

// Connects coroutines and callbacks on the runner's single thread.
namespace callslip::runner {

// A value that a callback sets and coroutines wait for. Copies share it.
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

// Waits for `wait`, measured by `timers`.
inline boost::asio::awaitable<void> Pause(Timers& timers, absl::Duration wait) {
  const Promise<bool> over(co_await boost::asio::this_coro::executor);
  const auto timer = timers.After(wait, [over] { over.Set(true); });
  co_await over.Get();
}

}  // namespace callslip::runner
