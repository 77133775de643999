#include "tracker/rpc/runner_convert.h"

#include "common/status_macros.h"
#include "tracker/domain/errors.h"
#include "tracker/rpc/session_convert.h"
#include "tracker/rpc/time_convert.h"

namespace callslip::tracker {

RunnerOffer OfferFrom(const v1::ServeRequest& request) {
  RunnerOffer offer{.runner_id = request.runner_id(),
                    .version = request.version(),
                    .max_agents = request.max_agents(),
                    .instance = request.instance(),
                    .only_session = request.only_session_id()};
  for (const v1::AgentOffer& agent : request.agents()) {
    offer.agents.push_back({agent.name(),
                            agent.title(),
                            agent.problem(),
                            {agent.children().begin(), agent.children().end()}});
  }
  for (const v1::Workspace& workspace : request.workspaces()) {
    offer.workspaces.push_back({workspace.name(),
                                workspace.dir(),
                                {workspace.agents().begin(), workspace.agents().end()},
                                {workspace.children_in().begin(), workspace.children_in().end()}});
  }
  return offer;
}

absl::StatusOr<AgentChange> ChangeFrom(const v1::SetAgentStateRequest& request) {
  ASSIGN_OR_RETURN(const AgentStatus status, StatusFrom(request.status()));
  if (status == AgentStatus::kNone) {
    return InvalidField("status", "is required: a session is given up by ReleaseSession");
  }
  AgentChange change{.status = status, .reason = request.reason(), .message = request.message()};
  if (request.has_agent_session_id()) change.agent_session_id = request.agent_session_id();
  if (request.has_details()) change.details = request.details();
  change.failure = request.failure();
  return change;
}

absl::Status CheckControl(const v1::AgentControl& control) {
  switch (control.what_case()) {
    case v1::AgentControl::kAction:
      if (v1::AgentAction_IsValid(control.action()) &&
          control.action() != v1::AGENT_ACTION_UNSPECIFIED) {
        return absl::OkStatus();
      }
      return InvalidField("action", "has to be start, stop, restart or fresh");
    case v1::AgentControl::kModeId:
      if (!control.mode_id().empty()) return absl::OkStatus();
      return InvalidField("mode_id", "is empty");
    case v1::AgentControl::kConfigOption:
      if (!control.config_option().id().empty()) return absl::OkStatus();
      return InvalidField("config_option.id", "is empty");
    case v1::AgentControl::WHAT_NOT_SET: break;
  }
  return InvalidField("control", "has to be one of action, mode_id, config_option");
}

void Fill(const RunnerInfo& runner, v1::Runner& message) {
  message.set_runner_id(runner.offer.runner_id);
  message.set_version(runner.offer.version);
  for (const AgentOffer& agent : runner.offer.agents) {
    v1::AgentOffer& offer = *message.add_agents();
    offer.set_name(agent.name);
    offer.set_title(agent.title);
    offer.set_problem(agent.problem);
  }
  for (const Workspace& each : runner.offer.workspaces) {
    v1::Workspace& workspace = *message.add_workspaces();
    workspace.set_name(each.name);
    workspace.set_dir(each.dir);
    workspace.mutable_agents()->Add(each.agents.begin(), each.agents.end());
  }
  message.set_max_agents(runner.offer.max_agents);
  message.set_running_agents(runner.running_agents);
  message.set_waiting_agents(runner.waiting_agents);
  message.set_sessions(runner.sessions);
  Set(runner.known_since, *message.mutable_start_time());
  message.set_connected(runner.connected);
}

}  // namespace callslip::tracker
