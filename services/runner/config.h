#ifndef CALLSLIP_RUNNER_CONFIG_H_
#define CALLSLIP_RUNNER_CONFIG_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/address.h"
#include "common/tls_files.h"
#include "runner/agent/agent_environment.h"
#include "runner/running_agents.h"
#include "runner/session/permission_policy.h"

namespace callslip::runner {

class ConfigKeys;

// How many agents may run.
struct RunnerLimits {
  AgentLimits agents;
  int sessions_per_process = 1;

  void AddTo(ConfigKeys& keys);
};

// A program that speaks the Agent Client Protocol.
struct AgentConfig {
  std::string title;
  std::vector<std::string> command;
  std::vector<std::string> wrapper;
  Environment env;
  std::vector<std::string> env_from;
  std::string auth_method;
  absl::Duration start_timeout = absl::Seconds(60);
  absl::Duration turn_idle_timeout = absl::ZeroDuration();  // None.
  std::vector<std::string> mcp = {"callslip"};
  bool fs = true;
  bool terminal = true;
  bool shell_commands = false;
  int sessions_per_process = 0;       // As the limits have it.
  std::vector<std::string> children;  // Empty: see ChildrenOf() of session_plans.h.

  void AddTo(ConfigKeys& keys);
};

// A directory that sessions work in, or below.
struct WorkspaceConfig {
  std::string dir;
  std::vector<std::string> agents;  // Empty: all.
  PermissionPolicy permissions;
  bool parents_allow = false;
  std::vector<std::string> additional_directories;
  int max_running = 4;
  bool allow_fresh = false;
  std::vector<std::string> children_in;

  void AddTo(ConfigKeys& keys);
};

// All that a runner is told by its file.
struct RunnerConfig {
  Address tracker{.host = "127.0.0.1", .port = 7900};
  std::string gateway;  // http://HOST:PORT; empty: agents get no tools of ours.
  std::string token_file;
  std::string tls_ca;
  std::string runner_id;  // Empty: see RunnerIdOf().
  std::string log_level = "info";
  RunnerLimits limits;
  std::map<std::string, AgentConfig> agents;
  std::map<std::string, WorkspaceConfig> workspaces;

  void AddTo(ConfigKeys& keys);  // But limits, agents and workspaces.
  // Nothing where the way to the tracker has no TLS.
  std::optional<TlsFiles> TrackerTls() const;
};

// A configuration and all that is wrong with its text, each with its line: `file:line: text`.
struct LoadedConfig {
  RunnerConfig config;
  std::vector<std::string> problems;
  // The agent and the workspace that the command line names; empty where it does not.
  std::string agent = {};
  std::string workspace = {};
};

// Reads YAML: the section `runner` where there is one, the whole otherwise. `file` is for messages.
LoadedConfig ParseRunnerConfig(const std::string& text, absl::string_view file);
// The same of a file. NOT_FOUND where it can't be read.
absl::StatusOr<LoadedConfig> ReadRunnerConfig(const std::string& path);

// What is configured, or else what can be made of the machine's name.
std::string RunnerIdOf(const RunnerConfig& config, absl::string_view host_name);

// The table of docs/runner.md, a line for each key.
std::vector<std::string> RunnerConfigRows();

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_CONFIG_H_
