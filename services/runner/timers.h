#pragma once

#include <functional>
#include <memory>

#include "absl/time/time.h"
#include "boost/asio/io_context.hpp"

namespace callslip::runner {

// The clock and delayed calls of the runner's thread; replaceable, so that hours pass instantly in
// tests.
class Timers {
 public:
  // Destroying the timer cancels the call.
  class Timer {
   public:
    virtual ~Timer() = default;
  };

  virtual ~Timers() = default;
  virtual absl::Time Now() = 0;
  virtual std::unique_ptr<Timer> After(absl::Duration wait, std::function<void()> call) = 0;
};

// Uses a clock unaffected by changes of the system time. `context` must outlive the result and its
// timers.
std::unique_ptr<Timers> TimersOf(boost::asio::io_context& context);

}  // namespace callslip::runner
