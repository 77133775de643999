#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <unordered_map>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "common/mutex.h"

namespace callslip {

// Runs actions at given times on its own thread. For rare events: command deadlines use a
// DeadlineThread. Callers must bound the number of timers. Thread-safe.
class TimerThread {
 public:
  using TimerId = int64_t;

  // `clock` must outlive this.
  explicit TimerThread(Clock* clock);
  ~TimerThread() { Stop(); }

  // `action` must not block. Dropped if this has been stopped. Never returns 0.
  TimerId At(absl::Time time, std::function<void()> action);
  // As At(), `wait` from now.
  TimerId After(absl::Duration wait, std::function<void()> action);
  // Has no effect if it has fired. A running action continues.
  void Cancel(TimerId id);

  // Drops all pending actions and returns once no action is running. Must not be called by an
  // action.
  void Stop();

 private:
  using Key = std::pair<absl::Time, TimerId>;

  void Run();

  Clock* const clock_;
  const std::unique_ptr<Sleeper> sleeper_;
  Mutex mutex_;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  TimerId last_id_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<Key, std::function<void()>> timers_ ABSL_GUARDED_BY(mutex_);
  std::unordered_map<TimerId, absl::Time> times_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace callslip
