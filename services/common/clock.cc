#include "common/clock.h"

#include <time.h>

#include <algorithm>

#include "absl/time/clock.h"
#include "common/mutex.h"

namespace callslip {
namespace {

constexpr absl::Duration kBetweenLooks = absl::Seconds(1);
constexpr absl::Duration kSmallestStep = absl::Milliseconds(500);

absl::Duration RunningNow() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return absl::DurationFromTimespec(now);
}

// One for all clocks of the process: what one of them says is a time to the others.
WallAnchor& Anchor() {
  static WallAnchor anchor(absl::Now(), RunningNow());
  return anchor;
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

absl::Time ToWallTime(absl::Time time) { return time + Anchor().offset(); }

absl::Time FromWallTime(absl::Time wall) { return wall - Anchor().offset(); }

bool WallAnchor::WantsLook(absl::Duration running) {
  const int64_t now = absl::ToInt64Nanoseconds(running);
  int64_t look_at = look_at_nanos_.load(std::memory_order_relaxed);
  if (now < look_at) return false;
  return look_at_nanos_.compare_exchange_strong(look_at,
                                                now + absl::ToInt64Nanoseconds(kBetweenLooks));
}

void WallAnchor::Look(absl::Time wall, absl::Duration running) {
  const absl::Duration off = wall - At(running);
  if (absl::AbsDuration(off - offset()) < kSmallestStep) return;
  offset_nanos_ = absl::ToInt64Nanoseconds(off);
}

absl::Time RealClock::Now() {
  WallAnchor& anchor = Anchor();
  const absl::Duration running = RunningNow();
  if (anchor.WantsLook(running)) anchor.Look(absl::Now(), running);
  return anchor.At(running);
}

std::unique_ptr<Sleeper> RealClock::NewSleeper() { return std::make_unique<RealSleeper>(this); }

}  // namespace callslip
