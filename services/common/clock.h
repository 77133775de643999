#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/time/time.h"

namespace callslip {

// Lets one thread sleep until a time of its clock, and lets any thread end that sleep early.
//
// Works like a binary semaphore: a Wake() before the sleep is not lost, and several count as one.
// Made by Clock::NewSleeper(); must not outlive that clock.
class Sleeper {
 public:
  virtual ~Sleeper() = default;

  // Blocks until the clock reaches `deadline` or Wake() has been called since the last return. Call
  // it from one thread at a time.
  virtual void SleepUntil(absl::Time deadline) = 0;

  // Ends the current sleep, or the next one. Thread-safe. Never blocks on the sleeper.
  virtual void Wake() = 0;
};

// The only source of the current time, so that tests can control it. Thread-safe.
//
// Has no periodic timers: code with deadlines keeps them in order and sleeps until the first (see
// tracker/domain/queue/deadline_thread.h).
class Clock {
 public:
  virtual ~Clock() = default;

  virtual absl::Time Now() = 0;
  virtual std::unique_ptr<Sleeper> NewSleeper() = 0;
};

// The current wall-clock time. The wall clock can be stepped: use this for times that others set by
// their clocks, such as a token's expiry. Thread-safe.
absl::Time WallTime();

// Convert between the process clock, which all code in the process uses, and the current wall
// clock, which peers and files use. Call them where a time enters or leaves the process. A test
// clock's times count as wall-clock times. Thread-safe.
absl::Time ToWallTime(absl::Time time);
absl::Time FromWallTime(absl::Time wall);

// Knows the initial wall-clock time, and how far the wall clock has been stepped since. `running`
// is the time of a clock that is never set. Thread-safe.
class WallAnchor {
 public:
  WallAnchor(absl::Time wall, absl::Duration running) : wall_(wall), running_(running) {}

  // What the wall clock would read now if it had never been set.
  absl::Time At(absl::Duration running) const { return wall_ + (running - running_); }
  // How far the wall clock is now from At(). Differences below half a second do not count as a
  // step, so that the same time is always reported the same way.
  absl::Duration Offset(absl::Time wall, absl::Duration running);

 private:
  const absl::Time wall_;
  const absl::Duration running_;
  std::atomic<int64_t> offset_nanos_{0};  // As last returned.
};

// Reads the wall clock once when the process starts, and from then on counts with a clock that
// cannot be set and that runs while the machine sleeps. A step of the wall clock therefore moves no
// deadline, and reported times are still correct. Work that was under way before a long sleep of
// the machine is past its deadline when the machine wakes.
class RealClock final : public Clock {
 public:
  absl::Time Now() override;
  std::unique_ptr<Sleeper> NewSleeper() override;
};

}  // namespace callslip
