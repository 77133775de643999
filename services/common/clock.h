#ifndef CALLSLIP_COMMON_CLOCK_H_
#define CALLSLIP_COMMON_CLOCK_H_

#include <atomic>
#include <cstdint>
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
// the first (see tracker/domain/queue/deadline_thread.h).
class Clock {
 public:
  virtual ~Clock() = default;

  virtual absl::Time Now() = 0;
  virtual std::unique_ptr<Sleeper> NewSleeper() = 0;
};

// The wall clock as it stands at this moment, which may be stepped: for times that others have set
// by theirs, such as the end of a token. Thread-safe.
absl::Time WallTime();

// Between the times of a process's clock, which all that happens in it goes by, and the wall
// clock's as it stands, in which others and files are told of them: where a time comes in or goes
// out. A clock of tests and the wall clock are one. Thread-safe.
absl::Time ToWallTime(absl::Time time);
absl::Time FromWallTime(absl::Time wall);

// What the wall clock said at first, and how far it has been stepped since. `running` is a clock
// that is never set. Thread-safe.
class WallAnchor {
 public:
  WallAnchor(absl::Time wall, absl::Duration running) : wall_(wall), running_(running) {}

  // What the wall clock would say now, had nobody set it.
  absl::Time At(absl::Duration running) const { return wall_ + (running - running_); }
  // How far it is now from what it would say. Less than half a second is no step, so that a time is
  // told the same way twice.
  absl::Duration Offset(absl::Time wall, absl::Duration running);

 private:
  const absl::Time wall_;
  const absl::Duration running_;
  std::atomic<int64_t> offset_nanos_{0};  // As it was told last.
};

// Reads the wall clock when the process begins, and counts on from there with a clock that nobody
// sets and that goes on while the machine sleeps. A step of the wall clock therefore moves no
// deadline, and times are right where they are told; what was under way when a machine went to
// sleep for long has run out of time when it wakes.
class RealClock final : public Clock {
 public:
  absl::Time Now() override;
  std::unique_ptr<Sleeper> NewSleeper() override;
};

}  // namespace callslip

#endif  // CALLSLIP_COMMON_CLOCK_H_
