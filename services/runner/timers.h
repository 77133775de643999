#ifndef CALLSLIP_RUNNER_TIMERS_H_
#define CALLSLIP_RUNNER_TIMERS_H_

#include <functional>
#include <map>
#include <memory>

#include "absl/time/time.h"
#include "boost/asio/io_context.hpp"

namespace callslip::runner {

// The time of the runner's thread, and calls on it later: so that hours pass in a test at once.
class Timers {
 public:
  // Destroying it takes the call back.
  class Timer {
   public:
    virtual ~Timer() = default;
  };

  virtual ~Timers() = default;
  virtual absl::Time Now() = 0;
  virtual std::unique_ptr<Timer> After(absl::Duration wait, std::function<void()> call) = 0;
};

// By a clock that nobody sets. `context` must outlive it and its timers.
std::unique_ptr<Timers> TimersOf(boost::asio::io_context& context);

// Stands still until it is moved on.
class FakeTimers final : public Timers {
 public:
  absl::Time Now() override { return now_; }
  std::unique_ptr<Timer> After(absl::Duration wait, std::function<void()> call) override;
  // Calls what comes due on the way, in its order.
  void Advance(absl::Duration by);

 private:
  class FakeTimer;
  using Due = std::multimap<absl::Time, std::function<void()>>;

  absl::Time now_ = absl::FromUnixSeconds(1'700'000'000);
  const std::shared_ptr<Due> due_ = std::make_shared<Due>();
};

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_TIMERS_H_
