#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "common/mutex.h"
#include "common/trace_context.h"

namespace callslip {

// The upper bounds of the buckets for all latencies, in nanoseconds: from 0.1 ms, a call over
// loopback, to a person's ten minutes, three per decade where most latencies lie.
inline constexpr std::array<int64_t, 20> kLatencyBoundsNanos = {
    100'000,        250'000,        500'000,        1'000'000,       2'500'000,
    5'000'000,      10'000'000,     25'000'000,     50'000'000,      100'000'000,
    250'000'000,    500'000'000,    1'000'000'000,  2'500'000'000,   5'000'000'000,
    10'000'000'000, 30'000'000'000, 60'000'000'000, 120'000'000'000, 600'000'000'000};

// A latency, and the span or command that it belongs to.
struct Exemplar {
  TraceContext trace;
  int64_t nanos = 0;
  int64_t unix_nanos = 0;  // The wall-clock time of the measurement.
};

// Counts latencies per bucket, and their sum. Not thread-safe: a few additions, for code that
// already holds a lock.
struct LatencyHistogram {
  // The last bucket takes everything longer.
  static constexpr size_t kBuckets = kLatencyBoundsNanos.size() + 1;

  static size_t BucketOf(int64_t nanos) {
    return static_cast<size_t>(
        std::lower_bound(kLatencyBoundsNanos.begin(), kLatencyBoundsNanos.end(), nanos) -
        kLatencyBoundsNanos.begin());
  }

  // A negative latency counts as zero.
  void Observe(int64_t nanos) {
    nanos = std::max<int64_t>(nanos, 0);
    ++counts[BucketOf(nanos)];
    sum_nanos += nanos;
  }

  // As above, for an event in `trace`, which may be empty, at `at_nanos` on the process clock.
  // Keeps the last sampled trace of each bucket as its exemplar.
  void Observe(int64_t nanos, const TraceContext& trace, int64_t at_nanos) {
    Observe(nanos);
    if (trace.sampled()) Keep(nanos, trace, at_nanos);
  }

  void Add(const LatencyHistogram& other);

  // The difference to `before`, an earlier state of this histogram, without exemplars.
  LatencyHistogram Since(const LatencyHistogram& before) const;

  int64_t count() const {
    int64_t all = 0;
    for (const int64_t bucket : counts) all += bucket;
    return all;
  }

  std::array<int64_t, kBuckets> counts{};
  int64_t sum_nanos = 0;
  // Empty, or one for each bucket; an empty trace means that the bucket has none.
  std::vector<Exemplar> exemplars;

 private:
  friend class SharedLatencyHistogram;

  void Keep(int64_t nanos, const TraceContext& trace, int64_t at_nanos);
};

// Estimates the quantile `part`, from 0 to 1, in nanoseconds, assuming that the latencies are
// evenly distributed within a bucket. The lower bound of the last bucket if the quantile lies
// there; zero if there are no latencies.
inline double NanosAt(const LatencyHistogram& latencies, double part) {
  const double wanted = part * static_cast<double>(latencies.count());
  double below = 0;
  for (size_t i = 0; i < kLatencyBoundsNanos.size(); ++i) {
    const auto count = static_cast<double>(latencies.counts[i]);
    const double lower = i == 0 ? 0 : static_cast<double>(kLatencyBoundsNanos[i - 1]);
    const double width = static_cast<double>(kLatencyBoundsNanos[i]) - lower;
    if (count > 0 && below + count >= wanted) return lower + width * (wanted - below) / count;
    below += count;
  }
  return below > 0 || latencies.counts.back() > 0 ? static_cast<double>(kLatencyBoundsNanos.back())
                                                  : 0;
}

// A thread-safe LatencyHistogram. Read() may miss concurrent additions.
class SharedLatencyHistogram {
 public:
  void Observe(int64_t nanos) {
    nanos = std::max<int64_t>(nanos, 0);
    counts_[LatencyHistogram::BucketOf(nanos)].fetch_add(1, std::memory_order_relaxed);
    sum_nanos_.fetch_add(nanos, std::memory_order_relaxed);
  }

  // As in LatencyHistogram. Takes a lock if the trace is sampled.
  void Observe(int64_t nanos, const TraceContext& trace, int64_t at_nanos) {
    Observe(nanos);
    if (!trace.sampled()) return;
    MutexLock lock(&mutex_);
    kept_.Keep(nanos, trace, at_nanos);
  }

  LatencyHistogram Read() const {
    LatencyHistogram read;
    {
      MutexLock lock(&mutex_);
      read.exemplars = kept_.exemplars;
    }
    for (size_t i = 0; i < LatencyHistogram::kBuckets; ++i) {
      read.counts[i] = counts_[i].load(std::memory_order_relaxed);
    }
    read.sum_nanos = sum_nanos_.load(std::memory_order_relaxed);
    return read;
  }

 private:
  std::array<std::atomic<int64_t>, LatencyHistogram::kBuckets> counts_{};
  std::atomic<int64_t> sum_nanos_{0};
  mutable Mutex mutex_;
  LatencyHistogram kept_ ABSL_GUARDED_BY(mutex_);  // Only its exemplars are used.
};

}  // namespace callslip
