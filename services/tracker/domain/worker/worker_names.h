#pragma once

#include <string>

#include "absl/status/status.h"

namespace callslip::tracker {

// Replaces empty names by the defaults. INVALID_ARGUMENT, naming the field, if one is too long or
// has control characters.
absl::Status CompleteAndCheckWorker(std::string& target, std::string& worker_id);

}  // namespace callslip::tracker
