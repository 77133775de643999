#ifndef CALLSLIP_TELEMETRY_EXPORT_THREAD_H_
#define CALLSLIP_TELEMETRY_EXPORT_THREAD_H_

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

// A thread that sends to a collector, so that nobody else waits for one. What the collector does
// not take is said once in the log, until it takes some again. Thread-safe.
class ExportThread {
 public:
  // `clock` must outlive this. `what` is what is sent, for the log: "spans".
  ExportThread(Clock* clock, absl::string_view what, std::unique_ptr<OtlpTransport> transport);

  // Has `round` called each `every`, at a Wake(), and once at the end. It has to keep all that it
  // uses alive, and this: a thread that can't be ended, since it looks for the collector's address,
  // is left behind by Stop(). Once at most.
  void Start(absl::Duration every, std::function<void()> round);
  void Wake() { sleeper_->Wake(); }

  // Of a round: tries three times at most, where OTLP allows that.
  absl::Status Send(const std::string& request);

  // Whether the thread is to end, and whether its time for that has run out.
  bool IsStopping() { return StopsAt() != absl::InfiniteFuture(); }
  bool IsOver() { return StopsAt() <= clock_->Now(); }

  // Leaves the thread `within` to end. The earliest end counts.
  void RequestStop(absl::Duration within);
  // Returns when it has ended, or a moment after its time. Once at most, and before the destructor
  // where the thread was started.
  void Stop(absl::Duration within);

 private:
  absl::Time StopsAt();
  void Run(absl::Duration every, const std::function<void()>& round);
  // True where it has ended by then.
  bool AwaitEnd(absl::Duration within);
  void Note(const absl::Status& sent);

  Clock* const clock_;
  const std::string what_;
  const std::unique_ptr<OtlpTransport> transport_;
  const std::unique_ptr<Sleeper> sleeper_;
  bool works_ = true;  // The thread's.
  std::promise<void> done_;
  std::future<void> is_done_ = done_.get_future();
  std::thread thread_;
  Mutex mutex_;
  absl::Time stops_at_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteFuture();
};

}  // namespace callslip

#endif  // CALLSLIP_TELEMETRY_EXPORT_THREAD_H_
