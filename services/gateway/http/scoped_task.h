#pragma once

#include <exception>
#include <functional>
#include <memory>

#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/awaitable.hpp"

namespace callslip::gateway {

// A coroutine that runs concurrently and ends soon after this is destroyed, at the latest. Use on
// its executor only.
class ScopedTask {
 public:
  // `error` is the exception that the work threw, or null. Work that is canceled while it waits
  // also throws.
  using Ended = std::function<void(const std::exception_ptr& error)>;

  // Starts `work`. Calls `ended` when it is over, even if this no longer exists.
  ScopedTask(boost::asio::any_io_executor executor, boost::asio::awaitable<void> work,
             Ended ended = nullptr);
  ScopedTask(const ScopedTask&) = delete;
  ~ScopedTask() { End(); }

  // Ends the work, but not immediately, so the work itself can call this. No effect if it is over.
  void End();

 private:
  struct State;

  const boost::asio::any_io_executor executor_;
  const std::shared_ptr<State> state_;
};

}  // namespace callslip::gateway
