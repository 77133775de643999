#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runner/acp/messages_v1.h"
#include "runner/agent/agent.h"
#include "runner/client/command_process.h"
#include "runner/client/file_access.h"
#include "runner/running_agents.h"
#include "runner/session/permission_policy.h"

namespace callslip::runner {

// The workplace of a session's agent, as found in the file system at the time of lookup.
struct Workplace {
  // Why no agent can be started there.
  std::optional<AgentError> problem;
  // Prefix of its command and of the commands of its terminals; the first element is an absolute
  // path.
  std::vector<std::string> wrapper;
  std::string path;  // PATH of all started programs, if different from that in their environment.
  // Variables of their environment that no started program has: the wrapper sets them again for
  // what it runs.
  std::vector<std::string> kept_back;
  // The session's directory, then the additional ones. Each is opened beneath the workspaces that
  // contain it.
  std::vector<FolderWay> folders;
  std::vector<std::string> left_out;  // Why additional directories were omitted.
};

// How the agent of one session is run: the configuration of its agent and workspace.
struct SessionPlan {
  AgentWant want;
  AgentSettings settings;  // Its command has no wrapper.
  acp::SessionSetup setup;
  // URL of Callslip's tools, for which a session token is issued; empty: the agent gets none.
  std::string mcp_url;
  CommandHost commands;  // How its terminals run, without a wrapper.
  // Called before each start, on any thread; can block as long as a file system does.
  std::function<Workplace()> find_workplace;
  PermissionPolicy permissions;
  // Its parent can allow what it asks for.
  bool parents_allow = false;
  // Text between <shell> and </shell> in its answers is run.
  bool shell_commands = false;
  // If the agent has lost the context of the session, a new one is begun automatically.
  bool allow_fresh = false;
};

}  // namespace callslip::runner
