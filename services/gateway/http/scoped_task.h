#ifndef CALLSLIP_GATEWAY_HTTP_SCOPED_TASK_H_
#define CALLSLIP_GATEWAY_HTTP_SCOPED_TASK_H_

#include <exception>
#include <functional>
#include <memory>

#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/awaitable.hpp"

namespace callslip::gateway {

// A coroutine beside others, which ends at the latest soon after this is destroyed. Used on its
// executor only.
class ScopedTask {
 public:
  // What it has thrown, or null. One that is ended while it waits has thrown something, too.
  using Ended = std::function<void(const std::exception_ptr& error)>;

  // Begins `work`; `ended` is called once it is over, also when this is not there any more.
  ScopedTask(boost::asio::any_io_executor executor, boost::asio::awaitable<void> work,
             Ended ended = nullptr);
  ScopedTask(const ScopedTask&) = delete;
  ~ScopedTask() { End(); }

  // Ends the work, but not yet: the work itself may call this. Harmless where it is over.
  void End();

 private:
  struct State;

  const boost::asio::any_io_executor executor_;
  const std::shared_ptr<State> state_;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_HTTP_SCOPED_TASK_H_
