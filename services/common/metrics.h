#ifndef CALLSLIP_COMMON_METRICS_H_
#define CALLSLIP_COMMON_METRICS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "common/latency_histogram.h"

namespace callslip {

using MetricLabels = std::vector<std::pair<std::string, std::string>>;

enum class MetricType { kCounter, kGauge, kHistogram };

// One series, or with a histogram the series of its buckets.
struct MetricPoint {
  MetricLabels labels;
  double value = 0;            // Not of histograms.
  LatencyHistogram histogram;  // Of these alone.
};

// The series of one name.
struct MetricFamily {
  std::string name;
  std::string help;
  MetricType type = MetricType::kGauge;
  std::vector<MetricPoint> points;
};

// What GET /metrics answers, and what is exported to collectors: filled from numbers that others
// keep, at the moment it is asked for.
//
// Calls with the same name add to one family and follow one another; its help and type are those
// of the first. Every label has few values, known in advance: never a name that a caller has
// chosen.
class MetricsPage {
 public:
  // Only ever grows while the process lives. The name ends in _total.
  void Counter(const std::string& name, const std::string& help, double value,
               const MetricLabels& labels = {});
  void Gauge(const std::string& name, const std::string& help, double value,
             const MetricLabels& labels = {});
  // In seconds. The name ends in _seconds.
  void Histogram(const std::string& name, const std::string& help,
                 const LatencyHistogram& histogram, const MetricLabels& labels = {});

  // What every process tells: processor time, memory, file descriptors and its start, under the
  // names that Prometheus' own clients use; and callslip_build_info.
  void Process();

  const std::vector<MetricFamily>& families() const { return families_; }

 private:
  void Add(const std::string& name, const std::string& help, MetricType type, MetricPoint point);

  std::vector<MetricFamily> families_;
};

// When this process was started, by the wall clock.
absl::Time ProcessStart();

}  // namespace callslip

#endif  // CALLSLIP_COMMON_METRICS_H_
