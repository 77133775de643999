#ifndef CALLSLIP_RUNNER_SESSION_PLANS_H_
#define CALLSLIP_RUNNER_SESSION_PLANS_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "runner/agent_directories.h"
#include "runner/config.h"
#include "runner/runner.h"
#include "runner/session/session_plan.h"

namespace callslip::runner {

// Where the runner is.
struct RunnerPlace {
  boost::asio::io_context* context = nullptr;
  Environment environment;  // The runner's own.
  std::string keeper;       // The path of callslip-keeper.
  std::string host_name;
  std::string agent_options;  // By which a command finds the same agents, for a shell.
};

// The workspace that a directory is in, the innermost of those where `agent` may work; null for
// none. By the names of folders: /src-evil is not in /src, and a path with `..` is in none.
const std::pair<const std::string, WorkspaceConfig>* FindWorkspace(const RunnerConfig& config,
                                                                   absl::string_view agent,
                                                                   absl::string_view directory);

// The agents that sessions made by that one may have, beside itself, as `children` of
// docs/runner.md has it.
std::vector<std::string> ChildrenOf(const RunnerConfig& config, const std::string& agent);

// How the agent of a session is run; nothing where its agent or its directory is none of ours.
std::optional<SessionPlan> PlanOf(const RunnerConfig& config,
                                  std::shared_ptr<const AgentDirectories> directories,
                                  const RunnerPlace& place, const v1::Session& session);

// What the runner offers: each agent with what keeps it from working, each workspace.
RunnerSetup SetupOf(const RunnerConfig& config, const RunnerPlace& place);

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_SESSION_PLANS_H_
