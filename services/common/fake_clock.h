#ifndef CALLSLIP_COMMON_FAKE_CLOCK_H_
#define CALLSLIP_COMMON_FAKE_CLOCK_H_

#include <map>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "common/mutex.h"

namespace callslip {

// A clock for tests that moves only on Advance(). Thread-safe. Its sleepers return as soon as the
// clock has been moved to their deadline.
class FakeClock final : public Clock {
 public:
  // Starts at 2026-02-01T12:00:00Z, so that formatted times in tests are readable constants.
  FakeClock();
  explicit FakeClock(absl::Time start);

  absl::Time Now() override;
  std::unique_ptr<Sleeper> NewSleeper() override;

  // Moves the clock forward and ends every sleep whose deadline has come.
  void Advance(absl::Duration by);

  // Returns once a thread sleeps that nobody has woken, until a time that has not come.
  void AwaitSleep();

 private:
  class FakeSleeper;

  Mutex mutex_;
  CondVar changed_;
  std::map<const Sleeper*, absl::Time> asleep_ ABSL_GUARDED_BY(mutex_);  // Until when.
  absl::Time now_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace callslip

#endif  // CALLSLIP_COMMON_FAKE_CLOCK_H_
