#include "common/latency_histogram.h"

#include "absl/time/time.h"
#include "common/clock.h"

namespace callslip {

void LatencyHistogram::Add(const LatencyHistogram& other) {
  for (size_t i = 0; i < kBuckets; ++i) counts[i] += other.counts[i];
  sum_nanos += other.sum_nanos;
  if (other.exemplars.empty()) return;
  exemplars.resize(kBuckets);
  for (size_t i = 0; i < kBuckets; ++i) {
    if (other.exemplars[i].unix_nanos > exemplars[i].unix_nanos) exemplars[i] = other.exemplars[i];
  }
}

LatencyHistogram LatencyHistogram::Since(const LatencyHistogram& before) const {
  LatencyHistogram since;
  for (size_t i = 0; i < kBuckets; ++i) since.counts[i] = counts[i] - before.counts[i];
  since.sum_nanos = sum_nanos - before.sum_nanos;
  return since;
}

void LatencyHistogram::Keep(int64_t nanos, const TraceContext& trace, int64_t at_nanos) {
  nanos = std::max<int64_t>(nanos, 0);
  exemplars.resize(kBuckets);
  exemplars[BucketOf(nanos)] = {
      .trace = trace,
      .nanos = nanos,
      .unix_nanos = absl::ToUnixNanos(ToWallTime(absl::FromUnixNanos(at_nanos)))};
}

}  // namespace callslip
