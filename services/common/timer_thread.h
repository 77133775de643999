#ifndef CALLSLIP_COMMON_TIMER_THREAD_H_
#define CALLSLIP_COMMON_TIMER_THREAD_H_

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

// Does things later, each at its time, on a thread of its own. For what is rare: the deadlines of
// commands have a DeadlineThread. Who sets timers bounds their number. Thread-safe.
class TimerThread {
 public:
  using TimerId = int64_t;

  // `clock` must outlive this.
  explicit TimerThread(Clock* clock);
  ~TimerThread() { Stop(); }

  // `action` must not block. Dropped once this was stopped. Never returns 0.
  TimerId At(absl::Time time, std::function<void()> action);
  // From the present on.
  TimerId After(absl::Duration wait, std::function<void()> action);
  // Harmless where it has fired. An action that has begun goes on.
  void Cancel(TimerId id);

  // Drops what has not fired, and returns once no action goes on. Not to be called by an action.
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

#endif  // CALLSLIP_COMMON_TIMER_THREAD_H_
