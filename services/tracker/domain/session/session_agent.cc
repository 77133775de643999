// The session's agent: its state, and whether it is needed.

#include <utility>

#include "common/status_macros.h"
#include "tracker/domain/session/session.h"

namespace callslip::tracker {

absl::Status Session::SetAgentState(AgentChange change, absl::Time now) {
  RETURN_IF_ERROR(CheckAndCut(change));
  if (change.details.has_value()) {
    RETURN_IF_ERROR(record_->CheckObject("details", *change.details));
  }
  metadata_.agent.status = told_status_;
  bool stored = Apply(change, now, metadata_.agent);
  const AgentStatus before = std::exchange(told_status_, metadata_.agent.status);
  const bool is_another =
      change.failure == 0 ? before != AgentStatus::kFailed : change.failure != last_failure_;
  // In one step, because a message in between would start the agent again.
  if (told_status_ == AgentStatus::kFailed && is_another && !delivery_.state().turn.has_value()) {
    const AgentState& agent = metadata_.agent;
    PauseQueue(agent.reason.empty() ? "agent_failed" : agent.reason, agent.message, now);
  }
  if (told_status_ == AgentStatus::kFailed) last_failure_ = change.failure;
  if (change.token_hash.has_value() && *change.token_hash != metadata_.agent_token_hash) {
    metadata_.agent_token_hash = *change.token_hash;
    stored = true;
  }
  metadata_changed_ = metadata_changed_ || stored;
  agent_changed_ = true;
  Refresh();
  return absl::OkStatus();
}

Session::Known Session::KnownOf(const SessionMetadata& metadata) {
  return {.status = metadata.agent.status,
          .queue = metadata.queue,
          .open_permissions = metadata.open_permissions,
          .needs_agent = metadata.needs_agent,
          .is_active = metadata.state == SessionState::kActive};
}

void Session::FollowAgent() {
  Refresh();
  const Known before = std::exchange(known_, KnownOf(metadata_));
  const bool agent_changed = std::exchange(agent_changed_, false);
  if (!agent_changed && known_ == before) return;
  listing_changed_ = true;
  if (agent_changed || known_.status != before.status) NotifyAll(metadata_.agent);
  if (known_.status != before.status) Announce(SessionAction::kAgent);
  // A message that is gone can leave the session to more runners.
  const bool has_come_to_need =
      known_.needs_agent && (!before.needs_agent || known_.queue.writers != before.queue.writers);
  const bool has_ended = before.is_active && !known_.is_active;
  if (!has_come_to_need && !has_ended) return;
  AfterCommit([this, has_ended, session = metadata_](const absl::Status& status) {
    if (!status.ok()) return;
    if (has_ended) {
      needs_->Ended(session);
    } else {
      needs_->Needed(session);
    }
  });
}

}  // namespace callslip::tracker
