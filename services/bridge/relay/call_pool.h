#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "bridge/relay/input_watch.h"
#include "common/mutex.h"

namespace callslip::bridge {

// Threads that run calls in parallel, started as needed. Waits (calls that may take long) have
// their own limit below the number of threads, so that they never block the other calls. Within
// each of the two kinds, calls start in order of arrival. Thread-safe.
//
// It does not bound its queues; the caller must.
class CallPool {
 public:
  CallPool(int max_threads, int max_waits) : max_threads_(max_threads), max_waits_(max_waits) {}

  // Drops calls that have not started, and joins the threads: end the running calls first.
  ~CallPool();

  void Submit(bool is_wait, std::function<void()> run);

  // From now on threads of the pool, one at a time, call `read`, until it returns false. `read`
  // takes the available input from `fd` and submits the work. The thread that has read then runs
  // the work itself and reads again afterwards; another thread takes over if input arrives before
  // that. Consecutive calls therefore need no thread to be woken. Call it at most once. If `read`
  // can block forever, the pool cannot be destroyed.
  void ReadWith(int fd, std::function<bool()> read);

  // The calling thread, which runs a call, will read next and not block before: no other thread
  // needs to watch the input until then.
  void WillRead();

 private:
  void RunThread();
  bool CanRunLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasWorkLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return CanRunLocked() || IsInputUnattendedLocked();
  }
  bool IsInputUnattendedLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return read_ != nullptr && !reading_ && !watching_;
  }
  void HandleInput();
  void StopWatchLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RunLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ReadLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Makes another thread look for work, if there is any.
  void CallHelpLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int max_threads_;
  const int max_waits_;

  Mutex mutex_;
  CondVar work_;  // HasWorkLocked() may have become true, or the pool is stopping.
  std::deque<std::function<void()>> calls_ ABSL_GUARDED_BY(mutex_);
  std::deque<std::function<void()>> waits_ ABSL_GUARDED_BY(mutex_);
  std::function<bool()> read_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<InputWatch> watch_ ABSL_GUARDED_BY(mutex_);
  bool reading_ ABSL_GUARDED_BY(mutex_) = false;
  bool watching_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread::id reader_ ABSL_GUARDED_BY(mutex_);
  int running_ ABSL_GUARDED_BY(mutex_) = 0;
  int running_waits_ ABSL_GUARDED_BY(mutex_) = 0;
  int idle_threads_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace callslip::bridge
