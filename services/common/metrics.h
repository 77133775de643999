#ifndef CALLSLIP_COMMON_METRICS_H_
#define CALLSLIP_COMMON_METRICS_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/latency_histogram.h"

namespace callslip {

using MetricLabels = std::vector<std::pair<std::string, std::string>>;

// What GET /metrics answers: filled from numbers that others keep, at the moment it is asked for.
// The format and its escaping are prometheus-cpp's, whose headers stay behind this interface.
//
// Calls with the same name add to one family and follow one another; its help and type are those
// of the first. Every label has few values, known in advance: never a name that a caller has
// chosen.
class MetricsPage {
 public:
  MetricsPage();
  ~MetricsPage();

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

  // In the text format.
  std::string Text() const;
  static constexpr char kContentType[] = "text/plain; version=0.0.4; charset=utf-8";

 private:
  struct Families;
  const std::unique_ptr<Families> families_;
};

}  // namespace callslip

#endif  // CALLSLIP_COMMON_METRICS_H_
