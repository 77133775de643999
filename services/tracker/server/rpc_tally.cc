#include "tracker/server/rpc_tally.h"

#include <algorithm>

namespace callslip::tracker {
RpcStatistics RpcTally::Read() const {
  RpcStatistics read{.method = method_, .latency = latency_.Read()};
  int64_t ended = 0;
  for (size_t code = 0; code < kRpcCodes; ++code) {
    read.ended[code] = ended_[code].load(std::memory_order_relaxed);
    ended += read.ended[code];
  }
  // One may have ended since its beginning was missed.
  read.under_way = std::max<int64_t>(begun_.load(std::memory_order_relaxed) - ended, 0);
  return read;
}

RpcTally* RpcTallies::Of(const std::string& method) {
  MutexLock lock(&mutex_);
  std::unique_ptr<RpcTally>& tally = tallies_[method];
  if (tally == nullptr) tally = std::make_unique<RpcTally>(clock_, method);
  return tally.get();
}

std::vector<RpcStatistics> RpcTallies::Read() {
  std::vector<RpcStatistics> all;
  MutexLock lock(&mutex_);
  for (const auto& [method, tally] : tallies_) all.push_back(tally->Read());
  return all;
}

}  // namespace callslip::tracker
