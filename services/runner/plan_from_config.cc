#include "runner/plan_from_config.h"

#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/directories.h"
#include "common/version.h"
#include "runner/config_check.h"

namespace callslip::runner {
namespace {

// Whether `parent` can do everything that `child` can do without asking for permission.
bool IsConfinedNoLess(const AgentConfig& child, const AgentConfig& parent) {
  if (child.shell_commands && !parent.shell_commands) return false;
  if (parent.wrapper.empty()) return true;
  // What the runner does for an agent happens outside of the agent's wrapper.
  return child.wrapper == parent.wrapper && (parent.fs || !child.fs) &&
         (parent.terminal || !child.terminal);
}

// The workplace of a session of `agent` in a directory of the workspace.
Workplace FindWorkplace(const AgentDirectories& directories, const std::string& name,
                        const AgentConfig& agent, const WorkspaceConfig& workspace,
                        const Environment& environment, const std::string& directory,
                        bool is_child) {
  Workplace place;
  absl::StatusOr<AgentConfig> confined = Confined(directories, agent, environment);
  if (confined.ok()) {
    place.wrapper = std::move(confined->wrapper);
    const std::set<std::string> kept = ConfiguredVariables(*confined);
    for (const std::string& variable : ConfiguredVariables(agent)) {
      if (!kept.contains(variable)) place.kept_back.push_back(variable);
    }
    if (const auto path = confined->env.find("PATH"); path != confined->env.end()) {
      place.path = path->second;
    }
  } else {
    place.problem = AgentError{"command_missing", absl::StrCat(confined.status().message(),
                                                               " (`wrapper` of agent ", name, ")")};
  }
  // A child works in its parent's directory or below, whatever link the parent has placed there.
  place.folders.push_back(directories.WayTo(directory, is_child));
  for (const std::string& more : workspace.additional_directories) {
    if (std::string problem = directories.ProblemOf(more); problem.empty()) {
      place.folders.push_back(directories.WayTo(more));
    } else {
      place.left_out.push_back(std::move(problem));
    }
  }
  if (std::string problem = directories.ProblemOf(workspace.dir); !problem.empty()) {
    place.problem = AgentError{"directory_unusable", std::move(problem)};
  }
  return place;
}

}  // namespace

const std::pair<const std::string, WorkspaceConfig>* FindWorkspace(const RunnerConfig& config,
                                                                   absl::string_view agent,
                                                                   absl::string_view directory) {
  const std::pair<const std::string, WorkspaceConfig>* best = nullptr;
  for (const auto& workspace : config.workspaces) {
    const auto& [name, settings] = workspace;
    const bool is_allowed =
        settings.agents.empty() || absl::c_linear_search(settings.agents, agent);
    if (!is_allowed || !IsInside(directory, settings.dir)) continue;
    if (best == nullptr || DepthOf(settings.dir) > DepthOf(best->second.dir)) best = &workspace;
  }
  return best;
}

std::vector<std::string> ChildrenOf(const RunnerConfig& config, const std::string& agent) {
  const AgentConfig& parent = config.agents.at(agent);
  if (!parent.children.empty()) return parent.children;
  std::vector<std::string> children;
  for (const auto& [name, child] : config.agents) {
    if (name != agent && IsConfinedNoLess(child, parent)) children.push_back(name);
  }
  return children;
}

std::optional<SessionPlan> PlanOf(const RunnerConfig& config,
                                  std::shared_ptr<const AgentDirectories> directories,
                                  const RunnerPlace& place, const v1::Session& session) {
  const auto agent = config.agents.find(session.acp_server());
  if (agent == config.agents.end()) return std::nullopt;
  const auto* workspace = FindWorkspace(config, agent->first, session.working_dir());
  if (workspace == nullptr) return std::nullopt;
  const AgentConfig& settings = agent->second;
  const int shared = settings.sessions_per_process > 0 ? settings.sessions_per_process
                                                       : config.limits.sessions_per_process;
  const Environment environment =
      AgentEnvironment(place.environment, {.env = settings.env,
                                           .env_from = settings.env_from,
                                           // A shared process does not belong to one session.
                                           .session_id = shared > 1 ? "" : session.session_id(),
                                           .agent_id = agent->first});
  SessionPlan plan;
  plan.want = {.session = session.session_id(),
               .agent = agent->first,
               .workspace = workspace->first,
               .sessions_per_process = shared,
               .max_running = workspace->second.max_running};
  plan.settings.name = agent->first;
  plan.settings.command = {.arguments = settings.command,
                           .environment = FormatEnvironment(environment),
                           .directory = session.working_dir()};
  plan.settings.auth_method = settings.auth_method;
  plan.settings.login = absl::StrCat("callslip-runner login ", agent->first,
                                     place.agent_options.empty() ? "" : " ", place.agent_options);
  plan.settings.offer = {.files = settings.fs, .terminals = settings.terminal, .version = kVersion};
  plan.settings.patience.initialize = settings.start_timeout;
  plan.settings.patience.start += settings.start_timeout;
  if (settings.turn_idle_timeout > absl::ZeroDuration()) {
    plan.settings.patience.turn_idle = settings.turn_idle_timeout;
  }
  plan.setup = {.directory = session.working_dir(),
                .additional_directories = workspace->second.additional_directories};
  if (absl::c_linear_search(settings.mcp, "callslip") && !config.gateway.empty()) {
    plan.mcp_url = absl::StrCat(absl::StripSuffix(config.gateway, "/"), "/mcp");
  }
  plan.commands = {
      .context = place.context, .keeper = place.keeper, .environment = environment, .wrapper = {}};
  plan.find_workplace = [directories = std::move(directories), name = agent->first, settings,
                         workspace = workspace->second, environment = place.environment,
                         directory = session.working_dir(),
                         is_child = !session.parent_session_id().empty()] {
    return FindWorkplace(*directories, name, settings, workspace, environment, directory, is_child);
  };
  plan.permissions = workspace->second.permissions;
  plan.parents_allow = workspace->second.parents_allow;
  plan.shell_commands = settings.shell_commands;
  plan.allow_fresh = workspace->second.allow_fresh;
  return plan;
}

RunnerSetup SetupOf(const RunnerConfig& config, const RunnerPlace& place) {
  RunnerSetup setup;
  setup.limits = config.limits.agents;
  setup.keeper = place.keeper;
  v1::ServeRequest& offer = setup.offer;
  offer.set_runner_id(RunnerIdOf(config, place.host_name));
  offer.set_version(kVersion);
  offer.set_max_agents(config.limits.agents.running_agents);
  const std::vector<ConfigProblem> problems = CheckConfig(config, place.environment);
  for (const auto& [name, agent] : config.agents) {
    v1::AgentOffer& to = *offer.add_agents();
    to.set_name(name);
    to.set_title(agent.title);
    for (const std::string& child : ChildrenOf(config, name)) to.add_children(child);
    const auto problem =
        absl::c_find_if(problems, [&, &agent_name = name](const ConfigProblem& each) {
          return each.of == ConfigProblem::Of::kAgent && each.name == agent_name && !each.is_note;
        });
    if (problem != problems.end()) to.set_problem(problem->text);
  }
  for (const auto& [name, workspace] : config.workspaces) {
    v1::Workspace& to = *offer.add_workspaces();
    to.set_name(name);
    to.set_dir(workspace.dir);
    for (const std::string& agent : workspace.agents) to.add_agents(agent);
    for (const std::string& other : workspace.children_in) to.add_children_in(other);
  }
  setup.plan_of = [config, place, directories = std::make_shared<const AgentDirectories>(config)](
                      const v1::Session& session) {
    return PlanOf(config, directories, place, session);
  };
  return setup;
}

}  // namespace callslip::runner
