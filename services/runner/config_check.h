#pragma once

#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "auth/principal.h"
#include "runner/agent/agent_environment.h"
#include "runner/agent_directories.h"
#include "runner/config.h"

namespace callslip::runner {

// A problem that keeps a runner, an agent or a workspace from working, and what to do about it.
struct ConfigProblem {
  enum class Of { kRunner, kAgent, kWorkspace };
  Of of = Of::kRunner;
  std::string name;  // Of the agent or workspace; empty for the runner.
  std::string text;
  bool is_note = false;  // Possibly intended, or not a problem on the machine of the runner.
};

// The parts that the tracker would reject, by the tracker's own check: it then serves nothing of
// this runner.
std::vector<ConfigProblem> Refusals(const RunnerConfig& config);

// The token for the tracker, as a runner or as a client; empty if no token file is configured.
// FAILED_PRECONDITION if the token file has no token for that role.
absl::StatusOr<std::string> TokenFor(Role role, const RunnerConfig& config);

// Why `gateway` is not a valid URL of a gateway; empty if it is valid or empty.
std::string GatewayProblem(const std::string& gateway);

// Checks on this machine a configuration that was parsed without problems: missing commands and
// tokens, unusable directories, unknown names, and Refusals(). `environment` is the runner's.
std::vector<ConfigProblem> CheckConfig(const RunnerConfig& config, const Environment& environment);

// The path of the agent's program; nullopt if it does not exist.
std::optional<std::string> ProgramOf(const AgentConfig& agent, const Environment& environment);

// Returns the agent with its wrapper secured, so that no agent can replace a program that the
// wrapper runs, or code that it loads. The wrapper's program becomes an absolute path: it is looked
// up in the configured PATH, except in folders that agents can write to and in relative folders. If
// PATH has such folders, they are removed for the programs that the wrapper looks up itself, and
// the full PATH is set again behind the wrapper, by `env`. So are other configured variables with a
// path that leads where agents can write. Returns the agent unchanged if it has no wrapper; an
// error states what to do.
absl::StatusOr<AgentConfig> Confined(const AgentDirectories& directories, const AgentConfig& agent,
                                     const Environment& environment);

// The names in `env` and `env_from`.
std::set<std::string> ConfiguredVariables(const AgentConfig& agent);

}  // namespace callslip::runner
