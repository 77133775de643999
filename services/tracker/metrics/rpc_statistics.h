#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/latency_histogram.h"

namespace callslip::tracker {

// gRPC's codes; OK is 0.
inline constexpr size_t kRpcCodes = 17;

// The calls of one method and their outcomes.
struct RpcStatistics {
  std::string method;  // "RegisterCommand"
  int64_t under_way = 0;
  std::array<int64_t, kRpcCodes> ended{};  // By code.
  LatencyHistogram latency;
};

// Statistics of the tracker's listeners.
struct AdmissionStatistics {
  struct Refused {
    std::string reason;  // "token_missing"
    int64_t calls = 0;
  };
  std::vector<RpcStatistics> rpcs;
  std::vector<Refused> refused;  // Rejected before a handler saw them; every reason is listed.
};

}  // namespace callslip::tracker
