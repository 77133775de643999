#ifndef CALLSLIP_TRACKER_METRICS_RPC_STATISTICS_H_
#define CALLSLIP_TRACKER_METRICS_RPC_STATISTICS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/latency_histogram.h"

namespace callslip::tracker {

// The codes of gRPC, OK being 0.
inline constexpr size_t kRpcCodes = 17;

// What the calls of one method have come to.
struct RpcStatistics {
  std::string method;  // "RegisterCommand"
  int64_t under_way = 0;
  std::array<int64_t, kRpcCodes> ended{};  // By code.
  LatencyHistogram latency;
};

// What has come to the tracker's door.
struct DoorStatistics {
  struct Refused {
    std::string reason;  // "token_missing"
    int64_t calls = 0;
  };
  std::vector<RpcStatistics> rpcs;
  std::vector<Refused> refused;  // Before a handler saw them; every reason.
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_METRICS_RPC_STATISTICS_H_
