#include "common/clock.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "absl/time/clock.h"

namespace callslip {
namespace {

absl::Duration MonotonicNow() {
  return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
}

// std::condition_variable rather than absl::CondVar: the latter measures its time-outs on the wall
// clock in this release of Abseil, so that a step of that clock would stretch the sleep.
class RealSleeper final : public Sleeper {
 public:
  explicit RealSleeper(RealClock* clock) : clock_(clock) {}

  void SleepUntil(absl::Time deadline) override {
    // An hour is no more than a bound that keeps InfiniteFuture out of the arithmetic; the loop
    // around it makes longer sleeps right.
    constexpr absl::Duration kLongestSleep = absl::Hours(1);
    std::unique_lock<std::mutex> lock(mutex_);
    while (!woken_) {
      const absl::Duration remaining = deadline - clock_->Now();
      if (remaining <= absl::ZeroDuration()) break;
      wake_.wait_for(lock, absl::ToChronoNanoseconds(std::min(remaining, kLongestSleep)));
    }
    woken_ = false;
  }

  void Wake() override {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      woken_ = true;
    }
    wake_.notify_one();
  }

 private:
  RealClock* const clock_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool woken_ = false;
};

}  // namespace

RealClock::RealClock() : wall_base_(absl::Now()), monotonic_base_(MonotonicNow()) {}

absl::Time RealClock::Now() { return wall_base_ + (MonotonicNow() - monotonic_base_); }

std::unique_ptr<Sleeper> RealClock::NewSleeper() { return std::make_unique<RealSleeper>(this); }

}  // namespace callslip
