#pragma once

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "telemetry/otlp_transport.h"

namespace callslip {

// A thread that sends to a collector, so that no other thread waits for one. When the collector
// stops accepting data, logs that once, until it accepts some again. Thread-safe.
class ExportThread {
 public:
  // `clock` must outlive this. `what` names the exported data in the log: "spans".
  ExportThread(Clock* clock, absl::string_view what, std::unique_ptr<OtlpTransport> transport);

  // Calls `round` every `every`, at a Wake(), and once at the end. `round` must keep alive this and
  // all that it uses: if the thread cannot be ended because it is resolving the collector's
  // address, Stop() detaches it. Call it at most once.
  void Start(absl::Duration every, std::function<void()> round);
  void Wake() { sleeper_->Wake(); }

  // Called by a round: tries up to three times, if OTLP allows retries. Returns the last answer.
  OtlpAnswer Send(const std::string& request);

  // Whether the thread must end, and whether its time for that has run out.
  bool IsStopping() { return StopsAt() != absl::InfiniteFuture(); }
  bool IsOver() { return StopsAt() <= clock_->Now(); }

  // Gives the thread `within` to end. The earliest request counts.
  void RequestStop(absl::Duration within);
  // Returns when the thread has ended, or shortly after its time. Call it at most once, and before
  // the destructor if the thread was started.
  void Stop(absl::Duration within);

 private:
  absl::Time StopsAt();
  void Run(absl::Duration every, const std::function<void()>& round);
  // Whether it ended in time.
  bool AwaitEnd(absl::Duration within);
  void Note(const OtlpAnswer& answer);

  Clock* const clock_;
  const std::string what_;
  const std::unique_ptr<OtlpTransport> transport_;
  const std::unique_ptr<Sleeper> sleeper_;  // Until the next round.
  const std::unique_ptr<Sleeper> pause_;    // Until the next attempt.
  // Used only by the thread.
  bool works_ = true;
  bool rejects_ = false;
  std::promise<void> done_;
  std::future<void> is_done_ = done_.get_future();
  std::thread thread_;
  Mutex mutex_;
  absl::Time stops_at_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteFuture();
};

}  // namespace callslip
