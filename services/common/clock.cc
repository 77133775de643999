#include "common/clock.h"

#include <algorithm>
#include <chrono>

#include "absl/time/clock.h"
#include "common/mutex.h"

namespace callslip {
namespace {

absl::Duration MonotonicNow() {
  return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
}

class RealSleeper final : public Sleeper {
 public:
  explicit RealSleeper(RealClock* clock) : clock_(clock) {}

  void SleepUntil(absl::Time deadline) override {
    // An hour is no more than a bound that keeps InfiniteFuture out of the arithmetic; the loop
    // around it makes longer sleeps right.
    constexpr absl::Duration kLongestSleep = absl::Hours(1);
    MutexLock lock(&mutex_);
    while (!woken_) {
      const absl::Duration remaining = deadline - clock_->Now();
      if (remaining <= absl::ZeroDuration()) break;
      wake_.WaitFor(&mutex_, std::min(remaining, kLongestSleep));
    }
    woken_ = false;
  }

  void Wake() override {
    MutexLock lock(&mutex_);
    woken_ = true;
    wake_.NotifyAll();
  }

 private:
  RealClock* const clock_;
  Mutex mutex_;
  CondVar wake_;
  bool woken_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

absl::Time WallTime() { return absl::Now(); }

RealClock::RealClock() : wall_base_(absl::Now()), monotonic_base_(MonotonicNow()) {}

absl::Time RealClock::Now() { return wall_base_ + (MonotonicNow() - monotonic_base_); }

std::unique_ptr<Sleeper> RealClock::NewSleeper() { return std::make_unique<RealSleeper>(this); }

}  // namespace callslip
