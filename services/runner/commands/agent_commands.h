#ifndef CALLSLIP_RUNNER_COMMANDS_AGENT_COMMANDS_H_
#define CALLSLIP_RUNNER_COMMANDS_AGENT_COMMANDS_H_

#include <functional>
#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include "runner/agent/agent_environment.h"
#include "runner/config.h"

// What `callslip-runner COMMAND` does for a person. Each returns what the program exits with.
namespace callslip::runner {

// `check`: what is wrong with the file's text, then each agent and workspace with `ok` or what to
// do. 1 where there is a problem.
int RunCheck(const LoadedConfig& loaded, const Environment& environment, std::ostream& out);

// Asks an agent who it is: its name and version, or why it does not answer.
using AgentProbe =
    std::function<absl::StatusOr<std::string>(const std::string& name, const AgentConfig& agent)>;

// `agents`: which of them are installed, where, and what `probe` says of those. 1 where one is
// missing or does not answer.
int RunAgents(const RunnerConfig& config, const Environment& environment, const AgentProbe& probe,
              std::ostream& out);

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_COMMANDS_AGENT_COMMANDS_H_
