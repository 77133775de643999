#include "tracker/storage/movable_session_storage.h"

#include "common/log.h"
#include "common/status_macros.h"
#include "tracker/domain/client_scope.h"
#include "tracker/domain/session/session_errors.h"

namespace callslip::tracker {

absl::StatusOr<LoadedSession> MovableSessionStorage::Create(const SessionMetadata& metadata) {
  const std::string& id = metadata.session_id;
  RETURN_IF_ERROR(CheckSessionId(id));
  if (IsHalfMade(id)) {
    RETURN_IF_ERROR(Unmake(metadata));
  } else {
    ASSIGN_OR_RETURN(const bool exists, Exists(id));
    if (exists) return SessionExists(id);
  }
  const absl::Status made = Make(metadata);
  absl::StatusOr<LoadedSession> created = made.ok() ? Load(id) : made;
  SetHalfMade(id, !created.ok() && !absl::IsAlreadyExists(made) && !Unmake(metadata).ok());
  return created;
}

SessionMetadata MovableSessionStorage::Damaged(const std::string& id,
                                               const std::optional<SessionMetadata>& known,
                                               absl::string_view damage) {
  // The owner is unknown until the metadata can be read: until then no client owns it.
  SessionMetadata damaged = known.value_or(SessionMetadata{.owner = kNobody});
  damaged.session_id = id;
  damaged.damage = std::string(damage);
  Log(LogLevel::kWarning, "a session can't be read",
      {{"session_id", id}, {"error", damaged.damage}});
  return damaged;
}

bool MovableSessionStorage::IsHalfMade(const std::string& id) {
  MutexLock lock(&mutex_);
  return half_made_.contains(id);
}

void MovableSessionStorage::SetHalfMade(const std::string& id, bool is_half_made) {
  MutexLock lock(&mutex_);
  if (is_half_made) {
    half_made_.insert(id);
  } else {
    half_made_.erase(id);
  }
}

}  // namespace callslip::tracker
