#ifndef CALLSLIP_RUNNER_SESSION_SESSION_PLAN_H_
#define CALLSLIP_RUNNER_SESSION_SESSION_PLAN_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "runner/acp/messages_v1.h"
#include "runner/agent/agent.h"
#include "runner/client/command_process.h"
#include "runner/client/file_access.h"
#include "runner/running_agents.h"
#include "runner/session/permission_policy.h"

namespace callslip::runner {

// How the agent of one session is run: what the configuration says of its agent and workspace.
struct SessionPlan {
  AgentWant want;
  AgentSettings settings;
  acp::SessionSetup setup;
  // Where its agent finds Callslip's tools, which a token of the session is made for; empty: it is
  // not told.
  std::string mcp_url;
  CommandHost commands;  // How its terminals run.
  // Where its agent and terminals work and files are read and written: the session's directory,
  // then the additional ones. Each is reached beneath the workspaces that it is in.
  std::vector<FolderWay> folders;
  // Why its agent can't be started, whenever that is tried.
  std::optional<AgentError> problem;
  PermissionPolicy permissions;
  // Its parent may allow what it asks for.
  bool parents_allow = false;
  // What stands between <shell> and </shell> in its answers is run.
  bool shell_commands = false;
  // Where the agent has lost what it knew of the session, a new one is begun by itself.
  bool allow_fresh = false;
};

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_SESSION_SESSION_PLAN_H_
