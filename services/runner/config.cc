#include "runner/config.h"

#include <fstream>
#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runner/config_keys.h"
#include "yaml-cpp/yaml.h"

namespace callslip::runner {
namespace {

constexpr size_t kMaxNameBytes = 64;
constexpr size_t kMaxAgents = 100;
constexpr size_t kMaxWorkspaces = 1'000;
constexpr size_t kMaxChildrenIn = 16;

bool IsName(absl::string_view text, absl::string_view marks) {
  return !text.empty() && text.size() <= kMaxNameBytes && absl::c_all_of(text, [&](char c) {
    return absl::ascii_isalnum(c) || absl::StrContains(marks, c);
  });
}

// Reads a map of names to maps.
template <typename T>
void ReadNamed(const YAML::Node& node, absl::string_view file, absl::string_view what, size_t most,
               std::map<std::string, T>& into, std::vector<std::string>& problems) {
  ForEachEntry(node, file, absl::StrCat(what, "s"), problems,
               [&](const std::string& name, const YAML::Node& value, int line) {
                 if (!IsName(name, "._-")) {
                   problems.push_back(
                       ProblemAt(file, line,
                                 absl::StrCat("\"", name, "\" is not a name of one of the ", what,
                                              "s: write 1 to 64 letters, digits, `.`, `_`, `-`")));
                   return;
                 }
                 if (into.size() >= most) {
                   problems.push_back(
                       ProblemAt(file, line, absl::StrCat("more than ", most, " ", what, "s")));
                   return;
                 }
                 ConfigKeys keys;
                 into[name].AddTo(keys);
                 keys.Read(value, file, absl::StrCat(what, " ", name), problems);
               });
}

void ReadRoot(const YAML::Node& root, absl::string_view file, LoadedConfig& loaded) {
  RunnerConfig& config = loaded.config;
  std::vector<std::string>& problems = loaded.problems;
  ConfigKeys keys;
  config.AddTo(keys);
  keys.AddSection("limits", [&](const YAML::Node& node) {
    ConfigKeys limits;
    config.limits.AddTo(limits);
    limits.Read(node, file, "limits", problems);
  });
  keys.AddSection("agents", [&](const YAML::Node& node) {
    ReadNamed(node, file, "agent", kMaxAgents, config.agents, problems);
  });
  keys.AddSection("workspaces", [&](const YAML::Node& node) {
    ReadNamed(node, file, "workspace", kMaxWorkspaces, config.workspaces, problems);
  });
  keys.Read(root, file, "the file", problems);
}

}  // namespace

void RunnerLimits::AddTo(ConfigKeys& keys) {
  keys.Add("running_agents", &agents.running_agents, 1, 1'000,
           "how many agents run at the same time; sessions beyond that wait in order");
  keys.Add("starting_agents", &agents.starting_agents, 1, 100,
           "how many of them start at the same time");
  keys.Add("sessions_per_process", &sessions_per_process, 1, 64,
           "how many sessions of the same agent and workspace share a process");
  keys.Add("idle_stop", &agents.idle_stop, absl::Seconds(10), absl::Hours(24 * 30),
           "an agent that was idle for so long is stopped; the next message resumes it");
}

void AgentConfig::AddTo(ConfigKeys& keys) {
  keys.Add("title", &title, "a name for people");
  keys.Add("command", &command,
           "the program and its arguments, such as `[opencode, acp]`; no shell; required");
  keys.Add("wrapper", &wrapper,
           "a program that confines it and its terminals, such as `[bwrap, --ro-bind, /, /]`: see "
           "[Confinement](#confinement)");
  keys.Add("env", &env, "variables of its environment");
  keys.Add("env_from", &env_from, "names of variables that it gets from the runner's environment");
  keys.Add("auth_method", &auth_method, "the method of `authenticate` to use; empty: none");
  keys.Add(
      "start_timeout", &start_timeout, absl::Seconds(1), absl::Hours(1),
      "how long it may take to answer `initialize`, and as long again to take back its mode and "
      "settings");
  keys.Add("turn_idle_timeout", &turn_idle_timeout, absl::ZeroDuration(), absl::Hours(24 * 7),
           "a turn in which it has said nothing for so long is ended; 0: never");
  keys.Add("mcp", &mcp, "the MCP servers that it gets; there is `callslip`, the gateway");
  keys.Add("fs", &fs, "whether it may read and write files of the session through the runner");
  keys.Add("terminal", &terminal, "whether it may have commands run by the runner");
  keys.Add("shell_commands", &shell_commands,
           "whether what stands between `<shell>` and `</shell>` in its answers is run in the "
           "session's directory, and told it as the next prompt: for agents without tools, since a "
           "quoted one runs, too");
  keys.Add("sessions_per_process", &sessions_per_process, 0, 64,
           "how many sessions share a process; 0: as `limits` has it");
  keys.Add(
      "children", &children,
      "the agents that sessions made by it may have, beside itself, instead of all that are "
      "confined "
      "no less: with the same `wrapper`, or any where it has none, with `shell_commands` only if "
      "it has them, and beside a `wrapper` with `fs` and `terminal` only if it has them");
}

void WorkspaceConfig::AddTo(ConfigKeys& keys) {
  keys.Add("dir", &dir, "an absolute directory; sessions work there or below; required");
  keys.Add("agents", &agents, "the agents that may work there; empty: all");
  keys.Add("permissions", &permissions,
           "what is answered, by the kind of tool, when an agent asks for permission");
  keys.Add(
      "parents_allow", &parents_allow,
      "whether an agent may allow what the sessions that it has made ask for, and not only "
      "reject it; what is allowed to a child its parent can have done without asking a person");
  keys.Add("additional_directories", &additional_directories,
           "further directories that its sessions may use");
  keys.Add("max_running", &max_running, 1, 1'000, "how many agents run there at the same time");
  keys.Add("allow_fresh", &allow_fresh,
           "whether a session continues without asking after its agent has lost its context");
  keys.Add(
      "children_in", &children_in,
      "the workspaces in which its agents may make sessions, beside this one; these sessions have "
      "the rules of the workspace that they are in: up to 16");
}

void RunnerConfig::AddTo(ConfigKeys& keys) {
  keys.Add("tracker", &tracker, "where the tracker serves gRPC");
  keys.Add("gateway", &gateway,
           "where agents reach the gateway's tools, such as http://127.0.0.1:7890; empty: they are "
           "not told of them");
  keys.Add("token_file", &token_file, "file with the runner's token for the tracker; empty: none");
  keys.Add("tls_ca", &tls_ca,
           "PEM file of the authorities that may have signed the tracker's certificate; empty: no "
           "TLS");
  keys.Add("runner_id", &runner_id,
           "its name, the same over restarts: 1 to 64 letters, digits, `_`, `-`; empty: the "
           "machine's");
  keys.AddChoice("log_level", &log_level, {"debug", "info", "warning", "error"},
                 "the least severe messages that are logged");
}

std::optional<TlsFiles> RunnerConfig::TrackerTls() const {
  if (tls_ca.empty() || tracker.is_unix()) return std::nullopt;
  return TlsFiles{.certificate = "", .key = "", .authorities = tls_ca};
}

LoadedConfig ParseRunnerConfig(const std::string& text, absl::string_view file) {
  LoadedConfig loaded;
  try {  // yaml-cpp throws; no exception leaves this block.
    const YAML::Node root = YAML::Load(text);
    const bool is_section = root.IsMap() && root["runner"].IsDefined();
    ReadRoot(is_section ? root["runner"] : root, file, loaded);
  } catch (const YAML::Exception& error) {
    loaded.problems.push_back(ProblemAt(file, error.mark.line + 1, error.msg));
  } catch (const std::exception& error) {
    loaded.problems.push_back(ProblemAt(file, 1, error.what()));
  }
  const std::string& id = loaded.config.runner_id;
  if (!id.empty() && !IsName(id, "_-")) {
    loaded.problems.push_back(
        absl::StrCat(file, ": runner_id \"", id, "\": write 1 to 64 letters, digits, `_`, `-`"));
  }
  for (const auto& [name, workspace] : loaded.config.workspaces) {
    if (workspace.children_in.size() <= kMaxChildrenIn) continue;
    loaded.problems.push_back(
        absl::StrCat(file, ": workspaces.", name, ".children_in: more than ", kMaxChildrenIn));
  }
  return loaded;
}

absl::StatusOr<LoadedConfig> ReadRunnerConfig(const std::string& path) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad()) {
    return absl::NotFoundError(absl::StrCat("cannot read the configuration file ", path));
  }
  return ParseRunnerConfig(text, path);
}

std::string RunnerIdOf(const RunnerConfig& config, absl::string_view host_name) {
  if (!config.runner_id.empty()) return config.runner_id;
  std::string id(host_name.substr(0, kMaxNameBytes));
  for (char& c : id) {
    if (!absl::ascii_isalnum(c) && c != '_' && c != '-') c = '-';
  }
  return id.empty() ? "runner" : id;
}

std::vector<std::string> RunnerConfigRows() {
  RunnerConfig config;
  AgentConfig agent;
  WorkspaceConfig workspace;
  std::vector<std::string> rows;
  const auto add = [&](auto& section, absl::string_view prefix) {
    ConfigKeys keys;
    section.AddTo(keys);
    for (std::string& row : keys.Rows(prefix)) rows.push_back(std::move(row));
  };
  add(config, "");
  add(config.limits, "limits.");
  add(agent, "agents.NAME.");
  add(workspace, "workspaces.NAME.");
  return rows;
}

}  // namespace callslip::runner
