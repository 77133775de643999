#include "tracker/domain/session/session_metadata.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/random.h"
#include "tracker/domain/session/session_errors.h"
#include "tracker/domain/session/session_limits.h"

namespace callslip::tracker {

absl::string_view SessionStateName(SessionState state) {
  return state == SessionState::kActive ? "active" : "completed";
}

AgentPlace PlaceOf(const SessionMetadata& session) {
  return {session.acp_server, session.working_dir};
}

bool HasWork(const SessionMetadata& session, bool enabled_by_default) {
  if (session.state != SessionState::kActive || !session.damage.empty()) return false;
  const QueueSummary& queue = session.queue;
  const bool is_to_send =
      queue.length > 0 && !queue.paused && queue.enabled.value_or(enabled_by_default);
  return is_to_send || !queue.turn_id.empty();
}

SessionMetadata WithoutDetails(SessionMetadata session) {
  session.agent.details = SharedText();
  return session;
}

void KeepUnstored(const SessionMetadata& known, SessionMetadata& session) {
  session.agent.status = known.agent.status;
  session.agent.reason = known.agent.reason;
  session.agent.message = known.agent.message;
  session.agent.updated_at = known.agent.updated_at;
  session.needs_agent = known.needs_agent;
}

absl::Status CheckSessionId(absl::string_view id) {
  const auto fits = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-';
  };
  if (!id.empty() && id.size() <= kMaxSessionIdBytes && std::all_of(id.begin(), id.end(), fits)) {
    return absl::OkStatus();
  }
  return InvalidSessionId();
}

std::string NewSessionId(absl::Time now) {
  return absl::StrCat(absl::FormatTime("%Y%m%d-%H%M%S-", now, absl::UTCTimeZone()),
                      absl::StrFormat("%016x", Random64()));
}

}  // namespace callslip::tracker
