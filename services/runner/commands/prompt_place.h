#ifndef CALLSLIP_RUNNER_COMMANDS_PROMPT_PLACE_H_
#define CALLSLIP_RUNNER_COMMANDS_PROMPT_PLACE_H_

#include <string>

#include "absl/status/statusor.h"
#include "runner/agent/agent_environment.h"
#include "runner/config.h"

namespace callslip::runner {

// Which agent is asked, and where it works.
struct PromptPlace {
  std::string agent;
  std::string directory;
};

// What the command line names, and beside that the first of the file, by their names, that go
// together and can be started. FAILED_PRECONDITION with what to do where there is none.
absl::StatusOr<PromptPlace> PlaceOfPrompt(const LoadedConfig& loaded,
                                          const Environment& environment);

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_COMMANDS_PROMPT_PLACE_H_
