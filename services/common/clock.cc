#include "common/clock.h"

#include <time.h>

#include <algorithm>

#include "common/mutex.h"

namespace callslip {
namespace {

constexpr absl::Duration kSmallestStep = absl::Milliseconds(500);

absl::Duration RunningNow() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return absl::DurationFromTimespec(now);
}

// One anchor for all clocks of the process, so that their times are comparable.
WallAnchor& Anchor() {
  static WallAnchor anchor(WallTime(), RunningNow());
  return anchor;
}

// The current offset of the wall clock from the anchored time.
absl::Duration OffsetNow() {
  while (true) {
    const absl::Duration running = RunningNow();
    const absl::Time wall = WallTime();
    // If the thread was delayed between the two readings, the difference is not a step.
    if (RunningNow() - running < kSmallestStep / 2) return Anchor().Offset(wall, running);
  }
}

class RealSleeper final : public Sleeper {
 public:
  explicit RealSleeper(RealClock* clock) : clock_(clock) {}

  void SleepUntil(absl::Time deadline) override {
    // An hour only bounds the wait, to keep InfiniteFuture out of the arithmetic; the loop makes
    // longer sleeps work.
    constexpr absl::Duration kMaxSleep = absl::Hours(1);
    MutexLock lock(&mutex_);
    while (!woken_) {
      const absl::Duration remaining = deadline - clock_->Now();
      if (remaining <= absl::ZeroDuration()) break;
      wake_.WaitFor(&mutex_, std::min(remaining, kMaxSleep));
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

absl::Time WallTime() {
  // Not absl::Now(), which can notice a step two seconds late.
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return absl::TimeFromTimespec(now);
}

absl::Time ToWallTime(absl::Time time) { return time + OffsetNow(); }

absl::Time FromWallTime(absl::Time wall) { return wall - OffsetNow(); }

absl::Duration WallAnchor::Offset(absl::Time wall, absl::Duration running) {
  const absl::Duration off = wall - At(running);
  const absl::Duration known = absl::Nanoseconds(offset_nanos_.load(std::memory_order_relaxed));
  if (absl::AbsDuration(off - known) < kSmallestStep) return known;
  offset_nanos_.store(absl::ToInt64Nanoseconds(off), std::memory_order_relaxed);
  return off;
}

absl::Time RealClock::Now() { return Anchor().At(RunningNow()); }

std::unique_ptr<Sleeper> RealClock::NewSleeper() { return std::make_unique<RealSleeper>(this); }

}  // namespace callslip
