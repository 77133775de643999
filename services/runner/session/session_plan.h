#ifndef CALLSLIP_RUNNER_SESSION_SESSION_PLAN_H_
#define CALLSLIP_RUNNER_SESSION_SESSION_PLAN_H_

#include <functional>
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

// Where the agent of a session works, as the file system has it when that is looked up.
struct Workplace {
  // Why no agent can be started there.
  std::optional<AgentError> problem;
  // What stands before its command and those of its terminals; the first is a whole path.
  std::vector<std::string> wrapper;
  std::string path;  // PATH of all that is started, if it is not that of its environment.
  // The session's directory, then the additional ones. Each is reached beneath the workspaces that
  // it is in.
  std::vector<FolderWay> folders;
  std::vector<std::string> left_out;  // Why some additional ones are.
};

// How the agent of one session is run: what the configuration says of its agent and workspace.
struct SessionPlan {
  AgentWant want;
  AgentSettings settings;  // Its command without a wrapper.
  acp::SessionSetup setup;
  // Where its agent finds Callslip's tools, which a token of the session is made for; empty: it is
  // not told.
  std::string mcp_url;
  CommandHost commands;  // How its terminals run, without a wrapper.
  // Before each start, on any thread: may take as long as a file system does.
  std::function<Workplace()> find_workplace;
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
