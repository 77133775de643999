#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/metrics.h"

namespace callslip {

// The period of cumulative numbers, by the wall clock, since 1970.
struct MetricTimes {
  int64_t start_nanos = 0;
  int64_t now_nanos = 0;
};

// The bytes of an opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest, encoded as
// EncodeSpans() does for spans. Counters are monotonic sums; histograms include their bounds.
std::string EncodeMetrics(absl::string_view resource, const std::vector<MetricFamily>& families,
                          const MetricTimes& times);

}  // namespace callslip
