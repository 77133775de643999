#ifndef CALLSLIP_TRACKER_DOMAIN_SESSION_AGENT_RIGHTS_H_
#define CALLSLIP_TRACKER_DOMAIN_SESSION_AGENT_RIGHTS_H_

#include <string>

#include "absl/status/status.h"
#include "tracker/domain/session/session_metadata.h"

// What the agent of one session may do to others. `by` is the session whose agent calls.
namespace callslip::tracker {

// Stop its turn, end it, answer what its agent asks for: NotAChild unless `by` has made it.
absl::Status CheckControls(const std::string& by, const SessionMetadata& session);

// Put a message into its queue: NotRelated unless it is the same one, a child of it or its parent.
absl::Status CheckWritesTo(const SessionMetadata& by, const SessionMetadata& session);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_SESSION_AGENT_RIGHTS_H_
