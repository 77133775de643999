#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "runner/agent/agent_environment.h"
#include "runner/config.h"

namespace callslip::runner {

// The agent of a prompt, and its directory.
struct PromptPlace {
  std::string agent;
  std::string directory;
};

// Returns the agent and the workspace named on the command line; for one that is not named, the
// first in the file, by name, such that both fit together and can be started. FAILED_PRECONDITION
// with what to do if there is none.
absl::StatusOr<PromptPlace> PlaceOfPrompt(const LoadedConfig& loaded,
                                          const Environment& environment);

}  // namespace callslip::runner
