#ifndef CALLSLIP_GATEWAY_EVENT_LOOP_H_
#define CALLSLIP_GATEWAY_EVENT_LOOP_H_

#include <thread>

#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/executor_work_guard.hpp"
#include "boost/asio/io_context.hpp"

namespace callslip::gateway {

// The gateway's loop: sockets, timers, and everything that is done for them. What runs on its
// executor runs one at a time, so that none of it needs a lock.
//
// What another thread posts runs on the loop's thread. What another thread dispatches it runs
// itself, unless something runs just then: the thread that has read an answer of the tracker goes
// on with what waited for it, without waking the loop's.
class EventLoop {
 public:
  EventLoop();
  // Once it has stopped, or never was started. Destroys what was left undone.
  ~EventLoop();

  const boost::asio::any_io_executor& executor() const { return executor_; }

  void Start();
  // Returns when nothing runs any more, on whatever thread; from then on nothing will.
  void Stop();

 private:
  boost::asio::io_context context_{1};
  const boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  const boost::asio::any_io_executor executor_;
  std::thread thread_;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_EVENT_LOOP_H_
