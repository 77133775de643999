#pragma once

#include <algorithm>
#include <utility>

#include "absl/time/time.h"
#include "boost/asio/awaitable.hpp"
#include "boost/asio/this_coro.hpp"
#include "common/error_details.h"
#include "rpc_client/promise.h"
#include "rpc_client/tracker_calls.h"
#include "runner/timers.h"

namespace callslip::runner {

// Whether a call that failed with this status can succeed later: the tracker is unavailable, is
// restarting, or its disk is behind.
inline bool IsPassing(const absl::Status& status) {
  if (status.ok()) return false;
  const std::string reason = DetailsOf(status).reason;
  return reason.empty()
             ? status.code() == absl::StatusCode::kUnavailable ||
                   status.code() == absl::StatusCode::kDeadlineExceeded ||
                   status.code() == absl::StatusCode::kCancelled ||
                   status.code() == absl::StatusCode::kUnknown ||
                   status.code() == absl::StatusCode::kInternal
             : reason == "draining" || reason == "storage_failed" || reason == "storage_busy" ||
                   reason == "storage_unavailable" || reason == "runner_away";
}

// The retry schedule of a call: after 0.1 s, doubling each time, up to 2 s.
class Backoff {
 public:
  // INTERNAL without a reason is a connection that broke at an odd moment, or a request that can
  // never be parsed: after so many failures, about 8 s, the latter is assumed.
  static constexpr int kMaxInternalErrors = 8;

  bool MayPass(const absl::Status& status) {
    if (!IsPassing(status)) return false;
    return status.code() != absl::StatusCode::kInternal || ++internal_ < kMaxInternalErrors;
  }
  absl::Duration Next() { return std::exchange(wait_, std::min(2 * wait_, absl::Seconds(2))); }
  void Reset() { wait_ = absl::Milliseconds(100); }

 private:
  absl::Duration wait_ = absl::Milliseconds(100);
  int internal_ = 0;
};

// Waits for `wait`, measured by `timers`.
inline boost::asio::awaitable<void> Pause(Timers& timers, absl::Duration wait) {
  const Promise<bool> over(co_await boost::asio::this_coro::executor);
  const auto timer = timers.After(wait, [over] { over.Set(true); });
  co_await over.Get();
}

// Repeats a call that is safe to repeat until the tracker has answered it, or `gives_up()`.
template <typename Request, typename GivesUp>
TrackerCalls::Result<ResponseOf<Request>> CallWithRetry(TrackerCalls& tracker, Timers& timers,
                                                        Request request, GivesUp gives_up,
                                                        CallOptions options = {}) {
  Backoff again;
  while (true) {
    auto answer = co_await tracker.Call(request, options);
    if (!again.MayPass(answer.status()) || gives_up()) co_return answer;
    co_await Pause(timers, again.Next());
  }
}

}  // namespace callslip::runner
