#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace callslip::bench {

// All durations of one kind, stored individually: percentiles are exact.
class Latencies {
 public:
  void Add(std::chrono::nanoseconds latency) {
    nanos_.push_back(static_cast<uint32_t>(latency.count()));
  }
  void Add(const Latencies& other) {
    nanos_.insert(nanos_.end(), other.nanos_.begin(), other.nanos_.end());
  }

  size_t count() const { return nanos_.size(); }

  // In microseconds; `percent` from 0 to 100. There must be at least one latency.
  double Percentile(double percent) const;

 private:
  std::vector<uint32_t> nanos_;
};

// The upper one of the two middle values. There must be at least one value.
double Median(std::vector<double> values);

}  // namespace callslip::bench
