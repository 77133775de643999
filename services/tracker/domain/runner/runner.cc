#include "tracker/domain/runner/runner.h"

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/directories.h"
#include "common/status_macros.h"
#include "tracker/domain/errors.h"
#include "tracker/domain/runner/runner_errors.h"
#include "tracker/domain/runner/runner_limits.h"

namespace callslip::tracker {
namespace {

absl::Status CheckName(absl::string_view field, absl::string_view name, absl::string_view marks) {
  const auto fits = [marks](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
           marks.find(c) != absl::string_view::npos;
  };
  if (!name.empty() && name.size() <= kMaxRunnerNameBytes && absl::c_all_of(name, fits)) {
    return absl::OkStatus();
  }
  return InvalidField(field, absl::StrCat("has to be 1 to ", kMaxRunnerNameBytes,
                                          " letters, digits, or of \"", marks, "\""));
}

absl::Status CheckCount(absl::string_view field, size_t count, size_t most) {
  if (count <= most) return absl::OkStatus();
  return InvalidField(field, absl::StrCat("must be at most ", most));
}

absl::Status CheckNames(absl::string_view field, const std::vector<std::string>& names,
                        size_t most) {
  RETURN_IF_ERROR(CheckCount(field, names.size(), most));
  for (const std::string& name : names) RETURN_IF_ERROR(CheckName(field, name, "._-"));
  return absl::OkStatus();
}

const AgentOffer* AgentOf(const RunnerOffer& offer, absl::string_view acp_server) {
  const auto agent = absl::c_find_if(
      offer.agents, [&](const AgentOffer& each) { return each.name == acp_server; });
  return agent == offer.agents.end() ? nullptr : &*agent;
}

}  // namespace

absl::Status CheckOffer(const RunnerOffer& offer) {
  RETURN_IF_ERROR(CheckName("runner_id", offer.runner_id, "_-"));
  RETURN_IF_ERROR(CheckCount("agents", offer.agents.size(), kMaxAgentsOfRunner));
  RETURN_IF_ERROR(CheckCount("workspaces", offer.workspaces.size(), kMaxWorkspacesOfRunner));
  for (const AgentOffer& agent : offer.agents) {
    RETURN_IF_ERROR(CheckName("agents.name", agent.name, "._-"));
    RETURN_IF_ERROR(CheckNames("agents.children", agent.children, kMaxAgentsOfRunner));
  }
  for (const Workspace& workspace : offer.workspaces) {
    RETURN_IF_ERROR(CheckName("workspaces.name", workspace.name, "._-"));
    // A directory is inside itself unless it is one that nothing can be in.
    if (!IsInside(workspace.dir, workspace.dir)) {
      return InvalidField("workspaces.dir", "has to be an absolute path without \"..\"");
    }
    RETURN_IF_ERROR(CheckCount("workspaces.agents", workspace.agents.size(), kMaxAgentsOfRunner));
    RETURN_IF_ERROR(CheckNames("workspaces.children_in", workspace.children_in, kMaxChildrenIn));
  }
  if (offer.max_agents < 1) return InvalidField("max_agents", "has to be at least 1");
  return absl::OkStatus();
}

const Workspace* WorkspaceOf(const RunnerOffer& offer, const AgentPlace& place) {
  if (AgentOf(offer, place.acp_server) == nullptr) return nullptr;
  const Workspace* best = nullptr;
  for (const Workspace& each : offer.workspaces) {
    const bool is_allowed =
        each.agents.empty() || absl::c_linear_search(each.agents, place.acp_server);
    if (!is_allowed || !IsInside(place.working_dir, each.dir)) continue;
    if (best == nullptr || DepthOf(each.dir) > DepthOf(best->dir)) best = &each;
  }
  return best;
}

SessionNeed NeedOf(const SessionMetadata& session) {
  SessionNeed need{.session_id = session.session_id,
                   .owner = session.owner,
                   .place = PlaceOf(session),
                   .makers = session.queue.writers,
                   .only_runner = session.only_runner};
  if (session.maker.has_value()) need.makers.push_back(*session.maker);
  return need;
}

Fit FitOf(const RunnerOffer& offer, const AgentPlace& place, absl::Span<const Maker> makers) {
  if (WorkspaceOf(offer, place) == nullptr) return Fit::kNone;
  for (const Maker& maker : makers) {
    if (!CheckChild(offer, maker.place, place).ok()) return Fit::kNone;
  }
  return AgentOf(offer, place.acp_server)->problem.empty() ? Fit::kGood : Fit::kProblem;
}

absl::Status CheckChild(const RunnerOffer& offer, const AgentPlace& maker,
                        const AgentPlace& child) {
  const Workspace* const from = WorkspaceOf(offer, maker);
  const Workspace* const to = WorkspaceOf(offer, child);
  if (from == nullptr) return NoRunnerFor(maker.acp_server, maker.working_dir);
  if (to == nullptr) return NoRunnerFor(child.acp_server, child.working_dir);
  // In its own workspace, not above its own directory.
  const bool is_own = to == from && IsInside(child.working_dir, maker.working_dir);
  if (!is_own && !absl::c_linear_search(from->children_in, to->name)) {
    return WorkspaceNotAllowed(*from, maker.working_dir, to->name);
  }
  const AgentOffer& agent = *AgentOf(offer, maker.acp_server);
  if (child.acp_server != agent.name && !absl::c_linear_search(agent.children, child.acp_server)) {
    return AgentNotAllowed(agent, child.acp_server);
  }
  return absl::OkStatus();
}

}  // namespace callslip::tracker
