#pragma once

#include <functional>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "common/mutex.h"

namespace callslip::bridge {

// Lets any thread abort the work of one worker thread on a call, and remembers whether any part of
// the call may have reached the gateway. One per call. Thread-safe.
//
// Before BeginExchange() nothing was sent, and an abort only takes effect at the worker's next
// step; from then on it breaks the connection.
class AbortSwitch {
 public:
  explicit AbortSwitch(Clock* clock) : clock_(clock) {}

  // Idempotent, never blocks on the network.
  void Abort();
  bool aborted();

  // The worker is about to wait for something other than the gateway: until EndExchange() an abort
  // calls `stop`, which must not block. Returns false if the call was aborted before.
  bool BeginWait(std::function<void()> stop);

  // The worker is about to send the call. From here to EndExchange() an abort calls `stop`, which
  // must not block. Returns false if the call was aborted before; it must not be sent then.
  bool BeginExchange(std::function<void()> stop);
  void EndExchange();

  // True once a BeginExchange() has returned true, until ForgetSent().
  bool sent();

  // The gateway has refused the call: no part of it was executed.
  void ForgetSent();

  // Blocks the worker; returns false, immediately, when the call is or gets aborted.
  bool SleepUntil(absl::Time time);

 private:
  Clock* const clock_;
  Mutex mutex_;
  // Created by the first sleep; most calls have none.
  std::unique_ptr<Sleeper> sleeper_ ABSL_GUARDED_BY(mutex_);
  bool aborted_ ABSL_GUARDED_BY(mutex_) = false;
  bool sent_ ABSL_GUARDED_BY(mutex_) = false;
  std::function<void()> stop_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace callslip::bridge
