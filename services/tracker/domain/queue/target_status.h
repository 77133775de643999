#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tracker/domain/queue/target_load.h"
#include "tracker/domain/worker/worker_registry.h"

namespace callslip::tracker {

// Load and workers of a target.
struct TargetStatus {
  TargetLoad load;
  WorkerCounts workers;
};

// Targets that have loads or workers, and whose names contain `part` in upper or lower case. Those
// that need attention come first: where commands wait and no worker is connected, then where the
// oldest command has waited longest, then where most wait, then by name.
std::vector<TargetStatus> JoinTargets(std::vector<TargetLoad> loads,
                                      const std::map<std::string, WorkerCounts>& workers,
                                      absl::string_view part);

}  // namespace callslip::tracker
