#ifndef CALLSLIP_TRACKER_DOMAIN_SESSION_AGENT_RIGHTS_H_
#define CALLSLIP_TRACKER_DOMAIN_SESSION_AGENT_RIGHTS_H_

#include "absl/status/status.h"
#include "tracker/domain/session/session_metadata.h"

// What the agent of one session, `by`, may do to others.
namespace callslip::tracker {

// Stop its turn, end it, answer what its agent asks for: NotAChild unless `by` has made it.
absl::Status CheckControls(const SessionMetadata& by, const SessionMetadata& session);

// How the session is related to the one that wants to put a message into its queue.
enum class Relation { kNone, kOwn, kParent, kChild };
Relation RelationTo(const SessionMetadata& by, const SessionMetadata& session);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_SESSION_AGENT_RIGHTS_H_
