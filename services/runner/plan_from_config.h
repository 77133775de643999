#pragma once

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

// The runner's environment on its machine.
struct RunnerPlace {
  boost::asio::io_context* context = nullptr;
  Environment environment;  // The runner's own.
  std::string keeper;       // Path of callslip-keeper.
  std::string host_name;
  std::string agent_options;  // Options to find the same agents, quoted for a shell.
};

// The innermost workspace that contains a directory and allows `agent`; null if none. Compares
// whole folder names: /src-evil is not in /src, and a path with `..` is in none.
const std::pair<const std::string, WorkspaceConfig>* FindWorkspace(const RunnerConfig& config,
                                                                   absl::string_view agent,
                                                                   absl::string_view directory);

// The agents available to sessions created by `agent`, in addition to `agent` itself; see
// `children` in docs/runner.md.
std::vector<std::string> ChildrenOf(const RunnerConfig& config, const std::string& agent);

// How the agent of a session is run; nullopt if its agent or its directory is not configured here.
std::optional<SessionPlan> PlanOf(const RunnerConfig& config,
                                  std::shared_ptr<const AgentDirectories> directories,
                                  const RunnerPlace& place, const v1::Session& session);

// The runner's offer: each agent with the problem that keeps it from working, and each workspace.
RunnerSetup SetupOf(const RunnerConfig& config, const RunnerPlace& place);

}  // namespace callslip::runner
