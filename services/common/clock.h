#ifndef CALLSLIP_COMMON_CLOCK_H_
#define CALLSLIP_COMMON_CLOCK_H_

#include <memory>

#include "absl/time/time.h"

namespace callslip {

// Lets one thread sleep until a time of its clock, and any thread cut that sleep short.
//
// It works like a binary semaphore: a Wake() that comes before the sleep is not lost, several of
// them count as one. Made by Clock::NewSleeper(), and must not outlive that clock.
class Sleeper {
 public:
  virtual ~Sleeper() = default;

  // Blocks until the clock reaches `deadline` or Wake() was called since the last return.
  // Called by one thread at a time.
  virtual void SleepUntil(absl::Time deadline) = 0;

  // Ends the present sleep, or the next one. Thread-safe, never blocks on the sleeper.
  virtual void Wake() = 0;
};

// The only source of the present time, so that tests can drive it. Thread-safe.
//
// It does not offer periodic timers: whoever needs deadlines keeps them in order and sleeps until
// the first (see tracker/deadline_thread.h).
class Clock {
 public:
  virtual ~Clock() = default;

  virtual absl::Time Now() = 0;
  virtual std::unique_ptr<Sleeper> NewSleeper() = 0;
};

// The wall clock as it stands at this moment, which may be stepped: for times that others have set
// by theirs, such as the end of a token. Thread-safe.
absl::Time WallTime();

// Reads the wall clock once, when it is made, and counts on from there with the monotonic clock.
// A later step of the wall clock therefore moves no deadline; the reported times drift from the
// wall clock by as much as that was stepped, until the process restarts.
class RealClock final : public Clock {
 public:
  RealClock();

  absl::Time Now() override;
  std::unique_ptr<Sleeper> NewSleeper() override;

 private:
  const absl::Time wall_base_;
  const absl::Duration monotonic_base_;
};

}  // namespace callslip

#endif  // CALLSLIP_COMMON_CLOCK_H_
