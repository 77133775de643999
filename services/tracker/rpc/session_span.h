#ifndef CALLSLIP_TRACKER_RPC_SESSION_SPAN_H_
#define CALLSLIP_TRACKER_RPC_SESSION_SPAN_H_

#include <optional>

#include "tracker/domain/session/session_metadata.h"

namespace callslip::tracker {

// Records the root span of a new session. It has no duration, because a session can last for
// months; everything done in the session is below it. Linked to the parent session's span, in
// another trace.
void RecordSession(const SessionMetadata& session, const std::optional<SessionMetadata>& parent);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_RPC_SESSION_SPAN_H_
