#include "tracker/domain/worker/worker_names.h"

#include "common/status_macros.h"
#include "tracker/domain/command/command_validation.h"

namespace callslip::tracker {

absl::Status CompleteAndCheckWorker(std::string& target, std::string& worker_id) {
  if (target.empty()) target = kDefaultTarget;
  if (worker_id.empty()) worker_id = kDefaultWorker;
  RETURN_IF_ERROR(CheckName("target", target));
  return CheckName("worker_id", worker_id);
}

}  // namespace callslip::tracker
