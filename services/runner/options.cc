#include "runner/options.h"

#include <limits.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "common/status_macros.h"
#include "runner/config_check.h"
#include "telemetry/otlp_option.h"

namespace callslip::runner {
namespace {

// Splits a program and its arguments. Makes a path absolute, because the agent starts in another
// folder.
std::vector<std::string> CommandOf(const std::string& text) {
  std::vector<std::string> command;
  if (access(text.c_str(), X_OK) == 0 && absl::StrContains(text, '/')) {
    command = {text};
  } else {
    command = absl::StrSplit(text, ' ', absl::SkipEmpty());
  }
  if (!command.empty() && absl::StrContains(command.front(), '/')) {
    std::error_code error;
    const auto whole = std::filesystem::absolute(command.front(), error).lexically_normal();
    if (!error) command.front() = whole;
  }
  return command;
}

// A valid name for an agent of which only the program is known.
std::string NameOf(const std::string& program) {
  std::string name = std::filesystem::path(program).filename().string().substr(0, 64);
  for (char& c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && !absl::StrContains("._-", c)) {
      c = '-';
    }
  }
  return name.empty() ? "agent" : name;
}

}  // namespace

void Options::AddTo(OptionSet& options) {
  options.Add("runner-file", &file,
              "YAML file with agents and workspaces: see docs/runner.md. Without it there are "
              "those of --agent and --dir only");
  options.Add("tracker", &tracker, "instead of the file's: HOST:PORT or unix:PATH");
  options.Add("gateway", &gateway, "instead of the file's: http://HOST:PORT");
  options.Add("token-file", &token_file, "instead of the file's: whose first `runner` line counts");
  options.Add("agent", &agent,
              "an agent: by its name in the file, or by its command, such as 'opencode acp'");
  options.Add("dir", &dir, "a workspace: one of the file that has this folder, or beside those");
  AddOtlpEndpoint(options, &otlp_endpoint);
}

absl::StatusOr<LoadedConfig> LoadConfig(const Options& options) {
  LoadedConfig loaded;
  if (!options.file.empty()) {
    ASSIGN_OR_RETURN(loaded, ReadRunnerConfig(options.file));
  }
  RunnerConfig& config = loaded.config;
  if (!options.tracker.empty()) {
    ASSIGN_OR_RETURN(config.tracker, ParseAddress(options.tracker));
  }
  if (!options.gateway.empty()) config.gateway = options.gateway;
  if (!options.token_file.empty()) config.token_file = options.token_file;
  if (config.agents.contains(options.agent)) {
    loaded.agent = options.agent;
  } else if (!options.agent.empty()) {
    AgentConfig agent;
    agent.command = CommandOf(options.agent);
    if (agent.command.empty()) return absl::InvalidArgumentError("--agent is empty");
    loaded.agent = NameOf(agent.command.front());
    config.agents.insert_or_assign(loaded.agent, std::move(agent));
  }
  if (!options.dir.empty() || (!options.agent.empty() && config.workspaces.empty())) {
    std::error_code error;
    const auto dir = std::filesystem::canonical(options.dir.empty() ? "." : options.dir, error);
    if (error) return absl::NotFoundError(absl::StrCat("--dir: ", error.message()));
    for (const auto& [name, workspace] : config.workspaces) {
      std::error_code ignored;
      if (std::filesystem::equivalent(dir, workspace.dir, ignored)) loaded.workspace = name;
    }
    if (loaded.workspace.empty()) {
      WorkspaceConfig workspace;
      workspace.dir = dir;
      loaded.workspace = "here";
      config.workspaces.insert_or_assign(loaded.workspace, std::move(workspace));
    }
  }
  if (std::string problem = GatewayProblem(config.gateway); !problem.empty()) {
    loaded.problems.push_back(std::move(problem));
  }
  return loaded;
}

std::string AgentOptions(const Options& options) {
  std::vector<std::string> words;
  const auto add = [&](const char* name, const std::string& value) {
    if (value.empty()) return;
    const bool is_plain = absl::c_all_of(
        value, [](char c) { return absl::ascii_isalnum(c) || absl::StrContains("/._-+:@=", c); });
    words.push_back(absl::StrCat(
        name, " ",
        is_plain ? value : absl::StrCat("'", absl::StrReplaceAll(value, {{"'", "'\\''"}}), "'")));
  };
  std::error_code error;
  const auto file = std::filesystem::absolute(options.file, error);
  if (!options.file.empty()) add("--runner-file", file);
  add("--agent", options.agent);
  return absl::StrJoin(words, " ");
}

std::string KeeperPath() {
  std::error_code error;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  const auto beside = here / "callslip-keeper";
  if (std::filesystem::exists(beside, error)) return beside;
  return here / "../libexec/callslip/callslip-keeper";
}

std::string HostName() {
  char name[HOST_NAME_MAX + 1] = {};
  gethostname(name, sizeof(name) - 1);
  return name;
}

}  // namespace callslip::runner
