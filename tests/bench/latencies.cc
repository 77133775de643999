#include "bench/latencies.h"

#include <algorithm>

#include "bench/die.h"

namespace callslip::bench {

double Latencies::Percentile(double percent) const {
  if (nanos_.empty()) Die("no latency was measured");
  std::vector<uint32_t> sorted = nanos_;
  const auto index = static_cast<size_t>(percent / 100 * static_cast<double>(sorted.size() - 1));
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(index),
                   sorted.end());
  return sorted[index] / 1000.0;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace callslip::bench
