#include "common/fake_clock.h"

namespace callslip {

// Shares the clock's mutex, so that a sleep sees the time and its own wake as one state.
class FakeClock::FakeSleeper final : public Sleeper {
 public:
  explicit FakeSleeper(FakeClock* clock) : clock_(clock) {}

  void SleepUntil(absl::Time deadline) override {
    MutexLock lock(&clock_->mutex_);
    while (!woken_ && clock_->now_ < deadline) {
      const bool was_awake = clock_->asleep_.emplace(this, deadline).second;
      if (was_awake) clock_->changed_.NotifyAll();
      clock_->changed_.Wait(&clock_->mutex_);
    }
    clock_->asleep_.erase(this);
    woken_ = false;
  }

  void Wake() override {
    MutexLock lock(&clock_->mutex_);
    woken_ = true;
    clock_->asleep_.erase(this);
    clock_->changed_.NotifyAll();
  }

 private:
  FakeClock* const clock_;
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
  const absl::Time now = now_;
  std::erase_if(asleep_, [now](const auto& sleeper) { return sleeper.second <= now; });
  changed_.NotifyAll();
}

void FakeClock::AwaitSleep() {
  MutexLock lock(&mutex_);
  while (asleep_.empty()) changed_.Wait(&mutex_);
}

}  // namespace callslip
