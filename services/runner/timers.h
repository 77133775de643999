#pragma once

#include <functional>
#include <map>
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

// Stands still until Advance().
class FakeTimers final : public Timers {
 public:
  absl::Time Now() override { return now_; }
  std::unique_ptr<Timer> After(absl::Duration wait, std::function<void()> call) override;
  // Makes the calls that come due on the way, in order.
  void Advance(absl::Duration by);

 private:
  class FakeTimer;
  using Due = std::multimap<absl::Time, std::function<void()>>;

  absl::Time now_ = absl::FromUnixSeconds(1'700'000'000);
  const std::shared_ptr<Due> due_ = std::make_shared<Due>();
};

}  // namespace callslip::runner
