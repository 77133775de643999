#include "common/fake_clock.h"

namespace callslip {

// Shares the clock's mutex, so that a sleep sees the time and its own wake as one state.
class FakeClock::FakeSleeper final : public Sleeper {
 public:
  explicit FakeSleeper(FakeClock* clock) : clock_(clock) {}

  void SleepUntil(absl::Time deadline) override {
    MutexLock lock(&clock_->mutex_);
    while (!woken_ && clock_->now_ < deadline) {
      SetAsleep(true);
      clock_->changed_.Wait(&clock_->mutex_);
    }
    SetAsleep(false);
    woken_ = false;
  }

  void Wake() override {
    MutexLock lock(&clock_->mutex_);
    woken_ = true;
    SetAsleep(false);
    clock_->changed_.NotifyAll();
  }

 private:
  void SetAsleep(bool asleep) ABSL_EXCLUSIVE_LOCKS_REQUIRED(clock_->mutex_) {
    if (asleep == asleep_) return;
    asleep_ = asleep;
    clock_->asleep_ += asleep ? 1 : -1;
    clock_->changed_.NotifyAll();
  }

  FakeClock* const clock_;
  bool asleep_ ABSL_GUARDED_BY(clock_->mutex_) = false;
  bool woken_ ABSL_GUARDED_BY(clock_->mutex_) = false;
};

FakeClock::FakeClock() : FakeClock(absl::FromUnixSeconds(1769947200)) {}

FakeClock::FakeClock(absl::Time start) : now_(start) {}

absl::Time FakeClock::Now() {
  MutexLock lock(&mutex_);
  return now_;
}

std::unique_ptr<Sleeper> FakeClock::NewSleeper() { return std::make_unique<FakeSleeper>(this); }

void FakeClock::Advance(absl::Duration by) {
  MutexLock lock(&mutex_);
  now_ += by;
  changed_.NotifyAll();
}

void FakeClock::AwaitSleep() {
  MutexLock lock(&mutex_);
  while (asleep_ == 0) changed_.Wait(&mutex_);
}

}  // namespace callslip
