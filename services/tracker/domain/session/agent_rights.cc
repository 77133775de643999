#include "tracker/domain/session/agent_rights.h"

#include "tracker/domain/session/session_errors.h"

namespace callslip::tracker {
namespace {

bool HasMade(const SessionMetadata& parent, const SessionMetadata& child) {
  return child.parent_session_id == parent.session_id;
}

}  // namespace

absl::Status CheckControls(const SessionMetadata& by, const SessionMetadata& session) {
  return HasMade(by, session) ? absl::OkStatus() : NotAChild(session.session_id);
}

Relation RelationTo(const SessionMetadata& by, const SessionMetadata& session) {
  if (session.session_id == by.session_id) return Relation::kOwn;
  if (HasMade(by, session)) return Relation::kChild;
  return HasMade(session, by) ? Relation::kParent : Relation::kNone;
}

}  // namespace callslip::tracker
