#pragma once

#include <map>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "common/mutex.h"

namespace callslip {

// A test clock that moves only on Advance(). Thread-safe. Its sleepers return as soon as the clock
// reaches their deadline.
class FakeClock final : public Clock {
 public:
  // Starts at 2026-02-01T12:00:00Z, so that formatted times in tests are readable constants.
  FakeClock();
  explicit FakeClock(absl::Time start);

  absl::Time Now() override;
  std::unique_ptr<Sleeper> NewSleeper() override;

  // Moves the clock forward and ends every sleep whose deadline is reached.
  void Advance(absl::Duration by);

  // Blocks until some thread sleeps until a future time and has not been woken.
  void AwaitSleep();

 private:
  class FakeSleeper;

  Mutex mutex_;
  CondVar changed_;
  std::map<const Sleeper*, absl::Time> asleep_ ABSL_GUARDED_BY(mutex_);  // The deadline of each.
  absl::Time now_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace callslip
