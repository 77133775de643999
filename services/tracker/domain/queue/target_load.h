#pragma once

#include <cstdint>
#include <string>

#include "absl/time/time.h"

namespace callslip::tracker {

// Load of a target's workers, counting the commands of some clients.
struct TargetLoad {
  std::string target;
  int64_t queued = 0;
  // Since when the oldest queued command could have been delivered.
  absl::Time oldest_ready = absl::InfiniteFuture();
  int64_t delivered = 0;
  int64_t running = 0;
};

}  // namespace callslip::tracker
