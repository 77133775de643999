#include "tracker/domain/session/agent_state.h"

#include "absl/strings/string_view.h"
#include "common/status_macros.h"
#include "tracker/domain/command/command_validation.h"
#include "tracker/domain/errors.h"
#include "tracker/domain/session/session_limits.h"

namespace callslip::tracker {
namespace {

// Returns whether the value has changed.
bool Replace(const std::optional<std::string>& value, std::string& member) {
  if (!value.has_value() || *value == member) return false;
  member = *value;
  return true;
}

}  // namespace

const char* AgentStatusName(AgentStatus status) {
  switch (status) {
    case AgentStatus::kNone: return "none";
    case AgentStatus::kWaiting: return "waiting";
    case AgentStatus::kStarting: return "starting";
    case AgentStatus::kIdle: return "idle";
    case AgentStatus::kPrompting: return "prompting";
    case AgentStatus::kNeedsPermission: return "needs_permission";
    case AgentStatus::kStopping: return "stopping";
    case AgentStatus::kStopped: return "stopped";
    case AgentStatus::kFailed: return "failed";
  }
  return "";
}

absl::Status CheckAndCut(AgentChange& change) {
  RETURN_IF_ERROR(CheckSize("runner_id", change.runner_id.value_or(""), kMaxClientIdBytes));
  RETURN_IF_ERROR(
      CheckSize("agent_session_id", change.agent_session_id.value_or(""), kMaxAgentSessionIdBytes));
  RETURN_IF_ERROR(CheckSize("details", change.details.value_or(""), kMaxAgentDetailsBytes));
  if (change.reason.has_value()) Cut(*change.reason, kMaxReasonBytes);
  if (change.message.has_value()) Cut(*change.message, kMaxReasonTextBytes);
  return absl::OkStatus();
}

bool Apply(const AgentChange& change, absl::Time now, AgentState& state) {
  if (change.status.has_value()) {
    const bool in_turn = *change.status == AgentStatus::kPrompting ||
                         *change.status == AgentStatus::kNeedsPermission;
    state.status = in_turn ? AgentStatus::kIdle : *change.status;
  }
  Replace(change.reason, state.reason);
  Replace(change.message, state.message);
  state.updated_at = now;
  bool stored = Replace(change.runner_id, state.runner_id);
  stored = Replace(change.agent_session_id, state.agent_session_id) || stored;
  if (change.details.has_value() && *change.details != state.details.str()) {
    state.details = SharedText(*change.details);
    stored = true;
  }
  return stored;
}

}  // namespace callslip::tracker
