#pragma once

#include "absl/status/status.h"
#include "tracker/domain/session/session_metadata.h"

// Rights of the agent of one session, `by`, over other sessions.
namespace callslip::tracker {

// Whether it may stop the session's turn, end the session, and answer its agent's permission
// requests: NotAChild unless `by` created the session.
absl::Status CheckControls(const SessionMetadata& by, const SessionMetadata& session);

// Relation of the session to the one that wants to put a message into its queue.
enum class Relation { kNone, kOwn, kParent, kChild };
Relation RelationTo(const SessionMetadata& by, const SessionMetadata& session);

}  // namespace callslip::tracker
