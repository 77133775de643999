#include "runner/commands/agent_commands.h"

#include <algorithm>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runner/commands/terminal_text.h"
#include "runner/config_check.h"

namespace callslip::runner {
namespace {

using Of = ConfigProblem::Of;

// A line of a list; pads the name to the width of the longest one.
template <typename Entries>
std::string Line(const Entries& entries, absl::string_view name, absl::string_view verdict,
                 absl::string_view text) {
  size_t width = 0;
  for (const auto& [each, unused] : entries) width = std::max(width, each.size());
  return absl::StrFormat("  %-*s  %-7s  %s\n", static_cast<int>(width), name, verdict, text);
}

template <typename Entries>
void List(const char* title, Of of, const Entries& entries,
          const std::vector<ConfigProblem>& problems,
          const std::function<std::string(const typename Entries::mapped_type&)>& about,
          std::ostream& out) {
  out << title << (entries.empty() ? ": none\n" : "\n");
  for (const auto& [name, entry] : entries) {
    const auto is_its = [&, &its_name = name](const ConfigProblem& each) {
      return each.of == of && each.name == its_name;
    };
    const bool is_ok = absl::c_none_of(
        problems, [&](const ConfigProblem& each) { return is_its(each) && !each.is_note; });
    if (is_ok) out << Line(entries, name, "ok", about(entry));
    for (const ConfigProblem& problem : problems) {
      if (!is_its(problem)) continue;
      out << Line(entries, name, problem.is_note ? "note" : "problem", problem.text);
    }
  }
}

}  // namespace

int RunCheck(const LoadedConfig& loaded, const Environment& environment, const std::string& keeper,
             std::ostream& out) {
  const RunnerConfig& config = loaded.config;
  std::vector<ConfigProblem> problems = CheckConfig(config, environment);
  if (!FindProgram(keeper, environment).has_value()) {
    problems.push_back(
        {Of::kRunner, "",
         absl::StrCat(keeper, " does not exist or is not executable, and no agent starts without ",
                      "it: install callslip-keeper beside callslip-runner")});
  }
  for (const std::string& problem : loaded.problems) out << problem << "\n";
  for (const ConfigProblem& problem : problems) {
    if (problem.of != Of::kRunner) continue;
    out << (problem.is_note ? "note: " : "") << problem.text << "\n";
  }
  List(
      "agents", Of::kAgent, config.agents, problems,
      [&](const AgentConfig& agent) { return ProgramOf(agent, environment).value_or(""); }, out);
  List(
      "workspaces", Of::kWorkspace, config.workspaces, problems,
      [](const WorkspaceConfig& workspace) { return workspace.dir; }, out);
  const size_t count =
      loaded.problems.size() +
      absl::c_count_if(problems, [](const ConfigProblem& each) { return !each.is_note; });
  if (count == 0) {
    out << "no problems\n";
  } else {
    out << count << (count == 1 ? " problem\n" : " problems\n");
  }
  return count == 0 ? 0 : 1;
}

int RunAgents(const RunnerConfig& config, const Environment& environment, const AgentProbe& probe,
              std::ostream& out) {
  if (config.agents.empty()) out << "no agents are configured: add one to `agents`\n";
  int exit_code = 0;
  const AgentDirectories directories(config);
  for (const auto& [name, agent] : config.agents) {
    const std::optional<std::string> program = ProgramOf(agent, environment);
    if (!program.has_value()) {
      out << Line(config.agents, name, "missing",
                  agent.command.empty() ? "it has no `command`"
                                        : absl::StrCat(agent.command[0], " is not installed"));
      exit_code = 1;
      continue;
    }
    const auto confined = Confined(directories, agent, environment);
    if (!confined.ok()) {
      out << Line(config.agents, name, "missing", confined.status().message());
      exit_code = 1;
      continue;
    }
    const absl::StatusOr<std::string> who = probe(name, *confined);
    if (!who.ok()) exit_code = 1;
    out << Line(
        config.agents, name, who.ok() ? "answers" : "silent",
        absl::StrCat(*program, ": ", TerminalText(who.ok() ? *who : who.status().message())));
  }
  return exit_code;
}

}  // namespace callslip::runner
