#pragma once

#include <functional>
#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include "runner/agent/agent_environment.h"
#include "runner/config.h"

// The commands for users: `callslip-runner COMMAND`. Each returns the exit code of the program.
namespace callslip::runner {

// `check`: prints the problems of the file's text, then each agent and workspace with `ok` or what
// to do. `keeper` is the path of callslip-keeper. Returns 1 if there is a problem.
int RunCheck(const LoadedConfig& loaded, const Environment& environment, const std::string& keeper,
             std::ostream& out);

// Returns an agent's name and version, or why it does not answer.
using AgentProbe =
    std::function<absl::StatusOr<std::string>(const std::string& name, const AgentConfig& agent)>;

// `agents`: prints which agents are installed, where, and the result of `probe` for those. Returns
// 1 if an agent is missing or does not answer.
int RunAgents(const RunnerConfig& config, const Environment& environment, const AgentProbe& probe,
              std::ostream& out);

}  // namespace callslip::runner
