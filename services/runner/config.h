#pragma once

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

// Limits for running agents.
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
  absl::Duration turn_idle_timeout = absl::ZeroDuration();  // No limit.
  std::vector<std::string> mcp = {"callslip"};
  bool fs = true;
  bool terminal = true;
  bool shell_commands = false;
  int sessions_per_process = 0;       // As in `limits`.
  std::vector<std::string> children;  // If empty, see ChildrenOf() in plan_from_config.h.

  void AddTo(ConfigKeys& keys);
};

// A directory; sessions work in it or below it.
struct WorkspaceConfig {
  std::string dir;
  std::vector<std::string> agents;  // If empty, all.
  PermissionPolicy permissions;
  bool parents_allow = false;
  std::vector<std::string> additional_directories;
  int max_running = 4;
  bool allow_fresh = false;
  std::vector<std::string> children_in;

  void AddTo(ConfigKeys& keys);
};

// The configuration file of a runner.
struct RunnerConfig {
  Address tracker{.host = "127.0.0.1", .port = 7900};
  std::string gateway;  // http://HOST:PORT; if empty, agents get no Callslip tools.
  std::string token_file;
  std::string tls_ca;
  std::string runner_id;  // If empty, see RunnerIdOf().
  std::string log_level = "info";
  RunnerLimits limits;
  std::map<std::string, AgentConfig> agents;
  std::map<std::string, WorkspaceConfig> workspaces;

  void AddTo(ConfigKeys& keys);  // Without limits, agents and workspaces.
  // Nullopt if the connection to the tracker uses no TLS.
  std::optional<TlsFiles> TrackerTls() const;
};

// A configuration and all problems of its text, each with its line: `file:line: text`.
struct LoadedConfig {
  RunnerConfig config;
  std::vector<std::string> problems;
  // The agent and the workspace given on the command line; empty if not given.
  std::string agent = {};
  std::string workspace = {};
};

// Parses YAML: the section `runner` if there is one, otherwise the whole text. `file` is for
// messages.
LoadedConfig ParseRunnerConfig(const std::string& text, absl::string_view file);
// Reads and parses a file. NOT_FOUND if it cannot be read.
absl::StatusOr<LoadedConfig> ReadRunnerConfig(const std::string& path);

// The configured id, or else one derived from the host name.
std::string RunnerIdOf(const RunnerConfig& config, absl::string_view host_name);

// The rows of the table in docs/runner.md, one for each key.
std::vector<std::string> RunnerConfigRows();

}  // namespace callslip::runner
