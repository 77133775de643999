#include "common/fake_clock.h"

namespace callslip {

// Shares the clock's mutex, so that a sleep sees the time and its own wake as one state.
class FakeClock::FakeSleeper final : public Sleeper {
 public:
  explicit FakeSleeper(FakeClock* clock) : clock_(clock) {}

  void SleepUntil(absl::Time deadline) override {
    absl::MutexLock lock(&clock_->mutex_);
    deadline_ = deadline;
    clock_->mutex_.Await(absl::Condition(this, &FakeSleeper::ShouldReturn));
    woken_ = false;
  }

  void Wake() override {
    absl::MutexLock lock(&clock_->mutex_);
    woken_ = true;
  }

 private:
  bool ShouldReturn() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(clock_->mutex_) {
    return woken_ || clock_->now_ >= deadline_;
  }

  FakeClock* const clock_;
  bool woken_ = false;
  absl::Time deadline_;
};

FakeClock::FakeClock() : FakeClock(absl::FromUnixSeconds(1769947200)) {}

FakeClock::FakeClock(absl::Time start) : now_(start) {}

absl::Time FakeClock::Now() {
  absl::MutexLock lock(&mutex_);
  return now_;
}

std::unique_ptr<Sleeper> FakeClock::NewSleeper() { return std::make_unique<FakeSleeper>(this); }

void FakeClock::Advance(absl::Duration by) {
  absl::MutexLock lock(&mutex_);
  now_ += by;
}

}  // namespace callslip
