#pragma once

#include <optional>

#include "tracker/domain/session/session_metadata.h"

namespace callslip::tracker {

// Records the root span of a new session. It has no duration, because a session can last for
// months; everything done in the session is below it. Linked to the parent session's span, in
// another trace.
void RecordSession(const SessionMetadata& session, const std::optional<SessionMetadata>& parent);

}  // namespace callslip::tracker
