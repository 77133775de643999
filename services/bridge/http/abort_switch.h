#ifndef CALLSLIP_BRIDGE_HTTP_ABORT_SWITCH_H_
#define CALLSLIP_BRIDGE_HTTP_ABORT_SWITCH_H_

#include <functional>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "common/mutex.h"

namespace callslip::bridge {

// Lets any thread end what one worker thread is doing for a call, and remembers whether anything
// of the call may have reached the gateway. One per call. Thread-safe.
//
// Before BeginExchange() nothing was sent and an abort only takes effect at the next step of the
// worker; from then on it breaks the connection.
class AbortSwitch {
 public:
  explicit AbortSwitch(Clock* clock) : clock_(clock) {}

  // Idempotent, never blocks on the network.
  void Abort();
  bool aborted();

  // The worker is about to wait for something else than the gateway: until EndExchange() an abort
  // calls `stop`, which must not block. Returns false if the call was aborted before.
  bool BeginWait(std::function<void()> stop);

  // The worker is about to send the call. From here to EndExchange() an abort calls `stop`, which
  // must not block. Returns false, and the call must not be sent, if it was aborted before.
  bool BeginExchange(std::function<void()> stop);
  void EndExchange();

  // True from a BeginExchange() that returned true on, until the worker knows better.
  bool sent();

  // The gateway has refused the call: nothing of it was executed.
  void ForgetSent();

  // Blocks the worker; returns false, at once, when the call is or gets aborted.
  bool SleepUntil(absl::Time time);

 private:
  Clock* const clock_;
  Mutex mutex_;
  // Made by the first sleep; most calls have none.
  std::unique_ptr<Sleeper> sleeper_ ABSL_GUARDED_BY(mutex_);
  bool aborted_ ABSL_GUARDED_BY(mutex_) = false;
  bool sent_ ABSL_GUARDED_BY(mutex_) = false;
  std::function<void()> stop_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_HTTP_ABORT_SWITCH_H_
