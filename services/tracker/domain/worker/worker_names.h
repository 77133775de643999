#ifndef CALLSLIP_TRACKER_DOMAIN_WORKER_WORKER_NAMES_H_
#define CALLSLIP_TRACKER_DOMAIN_WORKER_WORKER_NAMES_H_

#include <string>

#include "absl/status/status.h"

namespace callslip::tracker {

// Replaces empty names by the defaults. INVALID_ARGUMENT, naming the field, if one is too long or
// has control characters.
absl::Status CompleteAndCheckWorker(std::string& target, std::string& worker_id);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_WORKER_WORKER_NAMES_H_
