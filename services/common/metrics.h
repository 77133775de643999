#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "common/latency_histogram.h"

namespace callslip {

using MetricLabels = std::vector<std::pair<std::string, std::string>>;

enum class MetricType { kCounter, kGauge, kHistogram };

// One series, or for a histogram the series of its buckets.
struct MetricPoint {
  MetricLabels labels;
  double value = 0;            // Not for histograms.
  LatencyHistogram histogram;  // Only for histograms.
};

// The series with one name.
struct MetricFamily {
  std::string name;
  std::string help;
  MetricType type = MetricType::kGauge;
  std::vector<MetricPoint> points;
};

// The content of GET /metrics and of the export to collectors, filled on request from numbers that
// other classes keep.
//
// Consecutive calls with the same name add to one family; its help and type are those of the first
// call. Every label has few values, known in advance, and never a name chosen by a caller.
class MetricsPage {
 public:
  // A value that only grows while the process lives. The name ends in _total.
  void Counter(const std::string& name, const std::string& help, double value,
               const MetricLabels& labels = {});
  void Gauge(const std::string& name, const std::string& help, double value,
             const MetricLabels& labels = {});
  // In seconds. The name ends in _seconds.
  void Histogram(const std::string& name, const std::string& help,
                 const LatencyHistogram& histogram, const MetricLabels& labels = {});

  // The metrics of every process: CPU time, memory, file descriptors and start time, under the
  // names that Prometheus' own clients use; and callslip_build_info.
  void Process();

  const std::vector<MetricFamily>& families() const { return families_; }

 private:
  void Add(const std::string& name, const std::string& help, MetricType type, MetricPoint point);

  std::vector<MetricFamily> families_;
};

// The wall-clock time at which this process started.
absl::Time ProcessStart();

}  // namespace callslip
