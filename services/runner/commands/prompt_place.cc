#include "runner/commands/prompt_place.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "runner/config_check.h"
#include "runner/plan_from_config.h"

namespace callslip::runner {
namespace {

using Of = ConfigProblem::Of;

// Returns the first problem of an agent or a workspace; empty if it has none.
std::string ProblemOf(const std::vector<ConfigProblem>& problems, Of of, const std::string& name) {
  const auto found = absl::c_find_if(problems, [&](const ConfigProblem& each) {
    return each.of == of && each.name == name && !each.is_note;
  });
  return found == problems.end() ? "" : found->text;
}

}  // namespace

absl::StatusOr<PromptPlace> PlaceOfPrompt(const LoadedConfig& loaded,
                                          const Environment& environment) {
  const RunnerConfig& config = loaded.config;
  if (config.agents.empty() || config.workspaces.empty()) {
    return absl::FailedPreconditionError(
        "prompt needs an agent and a folder: --agent 'opencode acp' --dir ., or a --runner-file");
  }
  const std::vector<ConfigProblem> problems = CheckConfig(config, environment);
  std::string why;
  for (const auto& [agent, unused] : config.agents) {
    if (!loaded.agent.empty() && agent != loaded.agent) continue;
    for (const auto& [name, workspace] : config.workspaces) {
      if (!loaded.workspace.empty() && name != loaded.workspace) continue;
      std::string problem = ProblemOf(problems, Of::kAgent, agent);
      if (!problem.empty()) problem = absl::StrCat("agent ", agent, ": ", problem);
      const std::string of_workspace = ProblemOf(problems, Of::kWorkspace, name);
      if (problem.empty() && !of_workspace.empty()) {
        problem = absl::StrCat("workspace ", name, ": ", of_workspace);
      }
      if (problem.empty() && FindWorkspace(config, agent, workspace.dir) == nullptr) {
        problem = absl::StrCat("workspace ", name, " does not name ", agent, " among its `agents`");
      }
      if (problem.empty()) return PromptPlace{agent, workspace.dir};
      if (why.empty()) why = std::move(problem);
    }
  }
  return absl::FailedPreconditionError(why);
}

}  // namespace callslip::runner
