#include "runner/config_check.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "auth/token_file.h"
#include "common/directories.h"
#include "common/status_macros.h"
#include "common/url.h"
#include "runner/config_keys.h"
#include "tracker/domain/runner/runner.h"

namespace callslip::runner {
namespace {

using Of = ConfigProblem::Of;

// Why a program cannot be run; empty if it can.
std::string ProgramProblem(const std::string& command, const Environment& environment) {
  if (FindProgram(command, environment).has_value()) return "";
  if (absl::StrContains(command, '/')) {
    return absl::StrCat(command, " does not exist or is not executable");
  }
  return absl::StrCat("\"", command, "\" is not in ", environment.at("PATH"),
                      ": install it, write its whole path, or set PATH in `env`");
}

std::string FileProblem(const std::string& path) {
  if (path.empty() || access(path.c_str(), R_OK) == 0) return "";
  return absl::StrCat(path, " can't be read");
}

std::string DirectoryProblem(const std::string& path) {
  struct stat about = {};
  if (!absl::StartsWith(path, "/")) return absl::StrCat("\"", path, "\" is not an absolute path");
  if (stat(path.c_str(), &about) != 0) {
    return absl::StrCat(path, " does not exist, or the runner's user cannot see it");
  }
  if (!S_ISDIR(about.st_mode)) return absl::StrCat(path, " is not a directory");
  if (access(path.c_str(), R_OK | W_OK | X_OK) != 0) {
    return absl::StrCat(path, " can't be written to by the runner's user");
  }
  return "";
}

std::string RealPath(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(realpath(path.c_str(), nullptr), free);
  return real == nullptr ? path : real.get();
}

// Variables from which shells, interpreters and libraries take code; those of the loader begin with
// LD_.
constexpr absl::string_view kCodeVariables[] = {
    "BASH_ENV",  "CLASSPATH",  "ENV",          "GCONV_PATH",      "JAVA_TOOL_OPTIONS",
    "LUA_CPATH", "LUA_PATH",   "NODE_OPTIONS", "NODE_PATH",       "OPENSSL_CONF",
    "PERL5LIB",  "PERL5OPT",   "PERLLIB",      "OPENSSL_MODULES", "PYTHONHOME",
    "RUBYLIB",   "PYTHONPATH", "RUBYOPT",      "PYTHONSTARTUP",
};

// Whether a program with this variable could load what agents have written: a part of the value is
// a path that leads where they may write, or, in a variable for code, is not a safe absolute path.
bool MayLoad(const AgentDirectories& directories, const std::string& name,
             const std::string& value) {
  const bool is_for_code =
      absl::StartsWith(name, "LD_") || absl::c_linear_search(kCodeVariables, name);
  const std::vector<std::string> parts = absl::StrSplit(value, absl::ByAnyChar(": \t\n,;=\"'"));
  return absl::c_any_of(parts, [&](const std::string& part) {
    if (is_for_code || absl::StartsWith(part, ".")) return directories.MayReplace(part);
    // Behind an option, perhaps, as in -I/usr/lib.
    const size_t slash = part.find('/');
    return slash != std::string::npos && directories.MayReplace(part.substr(slash));
  });
}

bool WorksIn(const WorkspaceConfig& workspace, const std::string& agent) {
  return workspace.agents.empty() || absl::c_linear_search(workspace.agents, agent);
}

class Check {
 public:
  Check(const RunnerConfig& config, const Environment& environment)
      : config_(config), environment_(environment), directories_(config) {}

  std::vector<ConfigProblem> Run() && {
    const absl::StatusOr<std::string> token = TokenFor(Role::kRunner, config_);
    if (!token.ok()) Note(Of::kRunner, "", std::string(token.status().message()));
    Note(Of::kRunner, "", FileProblem(config_.tls_ca));
    for (ConfigProblem& refusal : Refusals(config_)) {
      const auto workspace = config_.workspaces.find(refusal.name);
      // CheckWorkspace() reports more about a path that is not absolute.
      if (refusal.of == Of::kWorkspace && !absl::StartsWith(workspace->second.dir, "/")) continue;
      problems_.push_back(std::move(refusal));
    }
    const AgentLimits& limits = config_.limits.agents;
    if (limits.starting_agents > limits.running_agents) {
      Remark(Of::kRunner, "",
             absl::StrCat("`starting_agents` is ", limits.starting_agents, ", but no more than ",
                          limits.running_agents, " agents run (`running_agents`)"));
    }
    for (const auto& [name, agent] : config_.agents) CheckAgent(name, agent);
    for (const auto& [name, workspace] : config_.workspaces) CheckWorkspace(name, workspace);
    return std::move(problems_);
  }

 private:
  void Note(Of of, const std::string& name, std::string text) {
    if (!text.empty()) problems_.push_back({of, name, std::move(text)});
  }

  void Remark(Of of, const std::string& name, std::string text) {
    problems_.push_back({of, name, std::move(text), /*is_note=*/true});
  }

  void CheckAgent(const std::string& name, const AgentConfig& agent) {
    const Environment environment =
        AgentEnvironment(environment_, {.env = agent.env, .env_from = agent.env_from});
    if (agent.command.empty()) {
      Note(Of::kAgent, name, "`command` is missing: write it as a list, such as [opencode, acp]");
    } else {
      Note(Of::kAgent, name, ProgramProblem(agent.command[0], environment));
    }
    const auto confined = Confined(directories_, agent, environment_);
    if (!confined.ok()) Note(Of::kAgent, name, std::string(confined.status().message()));
    CheckNames(Of::kAgent, name, "agent", agent.children, config_.agents);
    const bool has_workspace = absl::c_any_of(
        config_.workspaces, [&](const auto& workspace) { return WorksIn(workspace.second, name); });
    if (!has_workspace) {
      Remark(Of::kAgent, name,
             "no workspace takes it, so no session can have it: add it to `agents` of one");
    }
    for (const std::string& variable : agent.env_from) {
      if (environment_.contains(variable)) continue;
      Remark(Of::kAgent, name,
             absl::StrCat(variable, " of `env_from` is not set here: the agent does not get it"));
    }
    for (const std::string& server : agent.mcp) {
      if (server == "callslip") continue;
      Note(Of::kAgent, name,
           absl::StrCat("there is no MCP server \"", server, "\": `mcp` may have callslip"));
    }
  }

  void CheckWorkspace(const std::string& name, const WorkspaceConfig& workspace) {
    if (workspace.dir.empty()) {
      Note(Of::kWorkspace, name, "`dir` is missing: write the absolute path of a directory");
    } else {
      CheckDirectory(name, workspace.dir);
      const auto [other, is_first] = by_dir_.emplace(RealPath(workspace.dir), name);
      if (!is_first) {
        Note(Of::kWorkspace, name,
             absl::StrCat("workspace ", other->second, " has the same directory: remove one"));
      }
    }
    for (const std::string& directory : workspace.additional_directories) {
      CheckDirectory(name, directory);
      if (absl::StartsWith(directory, "/") && !IsInside(directory, "/")) {
        Note(
            Of::kWorkspace, name,
            absl::StrCat(directory, " has `..` in it, and nothing of it would be read or written: ",
                         "write the way without"));
      }
    }
    CheckNames(Of::kWorkspace, name, "agent", workspace.agents, config_.agents);
    CheckShellCommands(name, workspace);
    CheckNames(Of::kWorkspace, name, "workspace", workspace.children_in, config_.workspaces);
  }

  // Shell commands never ask for permission.
  void CheckShellCommands(const std::string& name, const WorkspaceConfig& workspace) {
    const PermissionPolicy& policy = workspace.permissions;
    const auto execute = policy.by_kind.find("execute");
    const PermissionRule rule =
        execute == policy.by_kind.end() ? policy.otherwise : execute->second;
    if (rule != PermissionRule::kRejectOnce && rule != PermissionRule::kRejectAlways) return;
    for (const auto& [agent, settings] : config_.agents) {
      if (!settings.shell_commands || !WorksIn(workspace, agent)) continue;
      Remark(Of::kWorkspace, name,
             absl::StrCat("agent ", agent, " has `shell_commands`, which run whatever ",
                          "`permissions` say: name others in `agents`"));
    }
  }

  void CheckDirectory(const std::string& workspace, const std::string& directory) {
    std::string problem = DirectoryProblem(directory);
    if (problem.empty()) problem = directories_.ProblemOf(directory);
    Note(Of::kWorkspace, workspace, std::move(problem));
  }

  template <typename Section>
  void CheckNames(Of of, const std::string& name, const char* what,
                  const std::vector<std::string>& named,
                  const std::map<std::string, Section>& there_are) {
    std::vector<std::string> names;
    for (const auto& [each, unused] : there_are) names.push_back(each);
    for (const std::string& each : named) {
      if (there_are.contains(each)) continue;
      Note(of, name,
           absl::StrCat("there is no ", what, " \"", each, "\"", Suggestion(each, names)));
    }
  }

  const RunnerConfig& config_;
  const Environment& environment_;
  const AgentDirectories directories_;
  std::map<std::string, std::string> by_dir_;  // Workspace names by the real path of `dir`.
  std::vector<ConfigProblem> problems_;
};

}  // namespace

std::vector<ConfigProblem> Refusals(const RunnerConfig& config) {
  std::vector<ConfigProblem> refusals;
  const auto check = [&](Of of, const std::string& name, const tracker::RunnerOffer& offer) {
    if (const absl::Status refusal = tracker::CheckOffer(offer); !refusal.ok()) {
      refusals.push_back({of, name, absl::StrCat("the tracker refuses it: ", refusal.message())});
    }
  };
  // Checks each part by itself, because the tracker reports only the first problem.
  const tracker::RunnerOffer empty{.runner_id = "runner"};
  tracker::RunnerOffer all = empty;
  if (!config.runner_id.empty()) {
    check(Of::kRunner, "", {.runner_id = config.runner_id});
  }
  for (const auto& [name, agent] : config.agents) {
    all.agents.push_back({.name = name, .children = agent.children});
    tracker::RunnerOffer one = empty;
    one.agents = {all.agents.back()};
    check(Of::kAgent, name, one);
  }
  for (const auto& [name, workspace] : config.workspaces) {
    all.workspaces.push_back({.name = name,
                              .dir = workspace.dir,
                              .agents = workspace.agents,
                              .children_in = workspace.children_in});
    tracker::RunnerOffer one = empty;
    one.workspaces = {all.workspaces.back()};
    check(Of::kWorkspace, name, one);
  }
  // Valid parts can still be too many in total.
  if (refusals.empty()) check(Of::kRunner, "", all);
  return refusals;
}

absl::StatusOr<std::string> TokenFor(Role role, const RunnerConfig& config) {
  if (config.token_file.empty()) return "";
  ASSIGN_OR_RETURN(const TokenFile file, LoadTokenFile(config.token_file));
  for (const TokenFile::Entry& entry : file.entries) {
    if (entry.principal.role == role && !entry.token.empty()) return entry.token;
  }
  return absl::FailedPreconditionError(absl::StrCat(config.token_file, ": has no line of the role ",
                                                    RoleName(role), ": add `", RoleName(role),
                                                    " NAME TOKEN`"));
}

std::string GatewayProblem(const std::string& gateway) {
  if (gateway.empty()) return "";
  if (!absl::StartsWith(gateway, "https://") && !absl::StartsWith(gateway, "http://")) {
    return absl::StrCat("the gateway \"", gateway, "\" is not a URL: write http://", gateway);
  }
  const absl::StatusOr<Url> url = ParseUrl(gateway);
  if (!url.ok() || gateway.find_first_of("?@") != std::string::npos) {
    return absl::StrCat("the gateway \"", gateway,
                        "\" is not a URL of the form http://HOST:PORT or https://HOST");
  }
  if (absl::EndsWith(absl::StripSuffix(url->path, "/"), "/mcp")) {
    return absl::StrCat("the gateway \"", gateway,
                        "\" ends with /mcp, which is added: leave it out");
  }
  return "";
}

std::vector<ConfigProblem> CheckConfig(const RunnerConfig& config, const Environment& environment) {
  return Check(config, environment).Run();
}

absl::StatusOr<AgentConfig> Confined(const AgentDirectories& directories, const AgentConfig& agent,
                                     const Environment& environment) {
  AgentConfig confined = agent;
  if (agent.wrapper.empty()) return confined;
  std::string& program = confined.wrapper.front();
  Environment own = AgentEnvironment(environment, {.env = agent.env, .env_from = agent.env_from});
  if (absl::StrContains(program, '/') && !absl::StartsWith(program, "/")) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", program, "\" depends on where it is started: write its whole path"));
  }
  if (const std::string problem = ProgramProblem(program, own); !problem.empty()) {
    return absl::NotFoundError(problem);
  }
  const std::string path = own["PATH"];
  std::vector<std::string> folders = absl::StrSplit(path, ':');
  std::erase_if(folders, [&](const std::string& folder) { return directories.MayReplace(folder); });
  own["PATH"] = absl::StrJoin(folders, ":");
  const std::optional<std::string> found = FindProgram(program, own);
  if (!found.has_value()) {
    return absl::FailedPreconditionError(
        absl::StrCat("\"", program, "\" is only in folders of PATH that are relative, or in which ",
                     "agents may write, and could replace it: write its whole path"));
  }
  if (directories.MayReplace(*found)) {
    return absl::FailedPreconditionError(
        absl::StrCat(*found, " is, or has a link or `..` that leads, where agents may write, and ",
                     "could replace it: put it elsewhere"));
  }
  program = *found;
  // An empty PATH means the working directory of a program.
  if (folders.empty()) {
    return absl::FailedPreconditionError(
        "PATH has only folders that are relative, or in which agents may write, and could replace "
        "what `wrapper` runs: add others to it, such as /usr/bin");
  }
  std::vector<std::string> behind;
  if (own["PATH"] != path) {
    confined.env["PATH"] = own["PATH"];
    behind.push_back(absl::StrCat("PATH=", path));
  }
  for (const std::string& name : ConfiguredVariables(agent)) {
    const auto variable = own.find(name);
    if (name == "PATH" || variable == own.end()) continue;
    if (!MayLoad(directories, name, variable->second)) continue;
    confined.env.erase(name);
    std::erase(confined.env_from, name);
    behind.push_back(absl::StrCat(name, "=", variable->second));
  }
  if (behind.empty()) return confined;
  confined.wrapper.insert(confined.wrapper.end(), {"env", "--"});
  confined.wrapper.insert(confined.wrapper.end(), behind.begin(), behind.end());
  // `env` would take the command for a variable.
  if (!agent.command.empty() && absl::StrContains(agent.command.front(), '=')) {
    confined.wrapper.insert(confined.wrapper.end(), {"sh", "-c", "exec \"$@\"", "sh"});
  }
  return confined;
}

std::set<std::string> ConfiguredVariables(const AgentConfig& agent) {
  std::set<std::string> names(agent.env_from.begin(), agent.env_from.end());
  for (const auto& [name, value] : agent.env) names.insert(name);
  return names;
}

std::optional<std::string> ProgramOf(const AgentConfig& agent, const Environment& environment) {
  if (agent.command.empty()) return std::nullopt;
  return FindProgram(agent.command[0],
                     AgentEnvironment(environment, {.env = agent.env, .env_from = agent.env_from}));
}

}  // namespace callslip::runner
