#include "tracker/domain/runner/runner.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/status_macros.h"
#include "tracker/domain/errors.h"
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

bool IsAbsolute(absl::string_view path) { return !path.empty() && path[0] == '/'; }

std::vector<absl::string_view> ComponentsOf(absl::string_view path) {
  std::vector<absl::string_view> components = absl::StrSplit(path, '/', absl::SkipEmpty());
  std::erase(components, ".");
  return components;
}

}  // namespace

absl::Status CheckOffer(const RunnerOffer& offer) {
  RETURN_IF_ERROR(CheckName("runner_id", offer.runner_id, "_-"));
  RETURN_IF_ERROR(CheckCount("agents", offer.agents.size(), kMaxAgentsOfRunner));
  RETURN_IF_ERROR(CheckCount("workspaces", offer.workspaces.size(), kMaxWorkspacesOfRunner));
  for (const AgentOffer& agent : offer.agents) {
    RETURN_IF_ERROR(CheckName("agents.name", agent.name, "._-"));
  }
  for (const Workspace& workspace : offer.workspaces) {
    RETURN_IF_ERROR(CheckName("workspaces.name", workspace.name, "._-"));
    // A directory is inside itself unless it is one that nothing can be in.
    if (!IsInside(workspace.dir, workspace.dir)) {
      return InvalidField("workspaces.dir", "has to be an absolute path without \"..\"");
    }
    RETURN_IF_ERROR(CheckCount("workspaces.agents", workspace.agents.size(), kMaxAgentsOfRunner));
  }
  if (offer.max_agents < 1) return InvalidField("max_agents", "has to be at least 1");
  return absl::OkStatus();
}

bool IsInside(absl::string_view path, absl::string_view dir) {
  if (!IsAbsolute(path) || !IsAbsolute(dir)) return false;
  const std::vector<absl::string_view> inner = ComponentsOf(path);
  const std::vector<absl::string_view> outer = ComponentsOf(dir);
  if (absl::c_linear_search(inner, "..") || absl::c_linear_search(outer, "..")) return false;
  return outer.size() <= inner.size() && std::equal(outer.begin(), outer.end(), inner.begin());
}

Fit FitOf(const RunnerOffer& offer, absl::string_view acp_server, absl::string_view working_dir) {
  const auto agent = absl::c_find_if(
      offer.agents, [&](const AgentOffer& each) { return each.name == acp_server; });
  if (agent == offer.agents.end()) return Fit::kNone;
  const bool has_workspace = absl::c_any_of(offer.workspaces, [&](const Workspace& each) {
    return (each.agents.empty() || absl::c_linear_search(each.agents, acp_server)) &&
           IsInside(working_dir, each.dir);
  });
  if (!has_workspace) return Fit::kNone;
  return agent->problem.empty() ? Fit::kGood : Fit::kProblem;
}

}  // namespace callslip::tracker
