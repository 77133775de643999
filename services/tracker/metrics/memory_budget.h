#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "common/metrics.h"
#include "tracker/domain/annotation/annotation_limits.h"
#include "tracker/domain/command/command_limits.h"
#include "tracker/domain/session/session_limits.h"

namespace callslip::tracker {

// How much of a tracker's memory each of its tables can use, and the limits that follow from it.
struct MemoryBudget {
  // With this value every limit has its default.
  static constexpr int64_t kDefault = int64_t{5} << 30;

  int64_t bytes = kDefault;
  CommandLimits commands;
  AnnotationLimits annotations;
  SessionLimits sessions;

  // A table, and the maximum that it uses with these limits.
  struct Share {
    const char* table;
    int64_t bytes;
  };
  // All shares. Their sum is at most `bytes`.
  std::vector<Share> Shares() const;
  // How much gRPC can hold for calls, including waiting ones.
  int64_t CallBytes() const;

  // The budget for that many bytes. INVALID_ARGUMENT, with the required size, if the shares do not
  // fit.
  static absl::StatusOr<MemoryBudget> Of(int64_t bytes);
};

// How much tables use now, as far as it is counted, by their names in Shares().
struct MemoryUse {
  int64_t payload_bytes = 0;
  int64_t commands = 0;
  int64_t waits = 0;
  int64_t feed_bytes = 0;
  int64_t drawing_bytes = 0;
  int64_t sessions = 0;
  int64_t worker_report_bytes = 0;
  int64_t worker_log_bytes = 0;
};

// Adds the limit of each table, and how much of it is used.
void AddMemory(const MemoryBudget& budget, const MemoryUse& use, MetricsPage& page);

}  // namespace callslip::tracker
