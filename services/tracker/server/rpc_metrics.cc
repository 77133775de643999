#include "tracker/server/rpc_metrics.h"

#include <algorithm>

namespace callslip::tracker {
RpcStatistics RpcMetrics::Read() const {
  RpcStatistics read{.method = method_, .latency = latency_.Read()};
  int64_t ended = 0;
  for (size_t code = 0; code < kRpcCodes; ++code) {
    read.ended[code] = ended_[code].load(std::memory_order_relaxed);
    ended += read.ended[code];
  }
  // With relaxed loads, the end of a call can be visible before its beginning.
  read.under_way = std::max<int64_t>(begun_.load(std::memory_order_relaxed) - ended, 0);
  return read;
}

RpcMetrics* RpcMetricsByMethod::Of(const std::string& method) {
  MutexLock lock(&mutex_);
  std::unique_ptr<RpcMetrics>& metrics = by_method_[method];
  if (metrics == nullptr) metrics = std::make_unique<RpcMetrics>(clock_, method);
  return metrics.get();
}

std::vector<RpcStatistics> RpcMetricsByMethod::Read() {
  std::vector<RpcStatistics> all;
  MutexLock lock(&mutex_);
  for (const auto& [method, metrics] : by_method_) all.push_back(metrics->Read());
  return all;
}

}  // namespace callslip::tracker
