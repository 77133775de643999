#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "common/clock.h"
#include "common/latency_histogram.h"
#include "common/mutex.h"
#include "common/trace_context.h"
#include "tracker/metrics/rpc_statistics.h"

namespace callslip::tracker {

// Counts the calls of one method. Thread-safe; costs a few atomic additions and two clock readings
// per call.
class RpcMetrics {
 public:
  RpcMetrics(Clock* clock, std::string method) : clock_(clock), method_(std::move(method)) {}

  // Marks the beginning of a call; returns the value for End().
  int64_t Begin() {
    begun_.fetch_add(1, std::memory_order_relaxed);
    return Now();
  }
  // `span` is the span of the call; empty if it has none.
  void End(int64_t begun, absl::StatusCode code, const TraceContext& span = {}) {
    const auto index = static_cast<size_t>(code);
    ended_[index < kRpcCodes ? index : static_cast<size_t>(absl::StatusCode::kUnknown)].fetch_add(
        1, std::memory_order_relaxed);
    const int64_t now = Now();
    latency_.Observe(now - begun, span, now);
  }

  RpcStatistics Read() const;

 private:
  int64_t Now() const { return clock_ == nullptr ? 0 : absl::ToUnixNanos(clock_->Now()); }

  Clock* const clock_;
  const std::string method_;
  std::atomic<int64_t> begun_{0};
  std::array<std::atomic<int64_t>, kRpcCodes> ended_{};
  SharedLatencyHistogram latency_;
};

// The metrics of a server's calls, by method. Thread-safe. Without a clock, calls are only counted
// and their latency is zero.
class RpcMetricsByMethod {
 public:
  explicit RpcMetricsByMethod(Clock* clock) : clock_(clock) {}

  // The metrics of a method; valid as long as this lives.
  RpcMetrics* Of(const std::string& method);

  // Sorted by method name.
  std::vector<RpcStatistics> Read();

 private:
  Clock* const clock_;
  Mutex mutex_;
  std::map<std::string, std::unique_ptr<RpcMetrics>> by_method_
      ABSL_GUARDED_BY(mutex_);  // By method.
};

}  // namespace callslip::tracker
