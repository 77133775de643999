#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runner/config.h"

namespace callslip::runner {

// Asks the tracker, with `token` unless that is empty, whether it has the runner `runner_id`,
// within `timeout`; UNAVAILABLE if not. Implements `callslip-runner healthcheck`.
absl::Status CheckServes(const RunnerConfig& config, const std::string& runner_id,
                         const std::string& token, absl::Duration timeout);

}  // namespace callslip::runner
