#ifndef CALLSLIP_TRACKER_RPC_SESSION_SPAN_H_
#define CALLSLIP_TRACKER_RPC_SESSION_SPAN_H_

#include <optional>

#include "tracker/domain/session/session_metadata.h"

namespace callslip::tracker {

// Records the first span of a session that was created just now: a moment, since a session may last
// for months. What is done in it is below. Linked to that of its parent, whose trace is another.
void RecordSession(const SessionMetadata& session, const std::optional<SessionMetadata>& parent);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_RPC_SESSION_SPAN_H_
