#ifndef CALLSLIP_TRACKER_DOMAIN_QUEUE_TARGET_STATUS_H_
#define CALLSLIP_TRACKER_DOMAIN_QUEUE_TARGET_STATUS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tracker/domain/queue/target_load.h"
#include "tracker/domain/worker/worker_registry.h"

namespace callslip::tracker {

// What is to be done at a target, and by whom.
struct TargetStatus {
  TargetLoad load;
  WorkerCounts workers;
};

// The targets that either names and whose names contain `part`, in upper or lower case. First those
// that want somebody's eye: where commands wait and nobody is connected, then where the oldest has
// waited for longest, then where most wait, then by name.
std::vector<TargetStatus> JoinTargets(std::vector<TargetLoad> loads,
                                      const std::map<std::string, WorkerCounts>& workers,
                                      absl::string_view part);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_QUEUE_TARGET_STATUS_H_
