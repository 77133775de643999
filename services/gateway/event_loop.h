#pragma once

#include <thread>

#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/executor_work_guard.hpp"
#include "boost/asio/io_context.hpp"

namespace callslip::gateway {

// The gateway's event loop: sockets, timers, and all work done for them. The executor runs one
// function at a time, so code on it needs no locks.
//
// A function that another thread posts runs on the loop's thread. A function that another thread
// dispatches runs on that thread, unless another function is running: the thread that reads a
// response of the tracker continues what waited for it, without waking the loop's thread.
class EventLoop {
 public:
  EventLoop();
  // Only after Stop(), or if Start() was never called. Destroys unfinished work.
  ~EventLoop();

  const boost::asio::any_io_executor& executor() const { return executor_; }

  void Start();
  // Returns when no function runs on any thread; none runs afterwards.
  void Stop();

 private:
  boost::asio::io_context context_{1};
  const boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  const boost::asio::any_io_executor executor_;
  std::thread thread_;
};

}  // namespace callslip::gateway
