#include "tracker/domain/session/agent_rights.h"

#include "tracker/domain/session/session_errors.h"

namespace callslip::tracker {

absl::Status CheckControls(const std::string& by, const SessionMetadata& session) {
  if (session.parent_session_id == by) return absl::OkStatus();
  return NotAChild(session.session_id);
}

absl::Status CheckWritesTo(const SessionMetadata& by, const SessionMetadata& session) {
  const bool is_related = session.session_id == by.session_id ||
                          session.parent_session_id == by.session_id ||
                          session.session_id == by.parent_session_id;
  return is_related ? absl::OkStatus() : NotRelated(session.session_id);
}

}  // namespace callslip::tracker
