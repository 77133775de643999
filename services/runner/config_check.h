#ifndef CALLSLIP_RUNNER_CONFIG_CHECK_H_
#define CALLSLIP_RUNNER_CONFIG_CHECK_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runner/agent/agent_environment.h"
#include "runner/agent_directories.h"
#include "runner/config.h"

namespace callslip::runner {

// Something that keeps a runner, an agent or a workspace from working, and what to do about it.
struct ConfigProblem {
  enum class Of { kRunner, kAgent, kWorkspace };
  Of of = Of::kRunner;
  std::string name;  // Of the agent or workspace.
  std::string text;
  bool is_note = false;  // It may be meant so, or be right where the runner will run.
};

// What the tracker would refuse, by its own check: then it serves nothing of the runner.
std::vector<ConfigProblem> Refusals(const RunnerConfig& config);

// Why it is no URL of a gateway; empty where it is, or there is none.
std::string GatewayProblem(const std::string& gateway);

// All that is wrong on this machine with a configuration whose text is right: commands that are not
// there, directories that can't be worked in, names of nothing, and Refusals().
// `environment` is the runner's.
std::vector<ConfigProblem> CheckConfig(const RunnerConfig& config, const Environment& environment);

// Where the program of an agent is; nothing where it is not there.
std::optional<std::string> ProgramOf(const AgentConfig& agent, const Environment& environment);

// The agent so that no agent can put another program in the place of one that its wrapper is made
// of. The first of these becomes a whole path: it is looked up in PATH as that is configured, but
// in none of its folders where agents may write, and in none that is relative. Where PATH has such
// folders, it loses them, for what the wrapper looks up itself, and is set again behind the
// wrapper, by `env`. The agent itself where it has no wrapper; an error says what to do.
absl::StatusOr<AgentConfig> Confined(const AgentDirectories& directories, const AgentConfig& agent,
                                     const Environment& environment);

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_CONFIG_CHECK_H_
