#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/mutex.h"
#include "tracker/domain/session/session_limits.h"
#include "tracker/domain/session/session_metadata.h"

namespace callslip::tracker {

// The metadata of all sessions as last stored, in memory, so that frequent reads touch no disk.
// Thread-safe.
class SessionCatalog {
 public:
  explicit SessionCatalog(const SessionLimits& limits) : limits_(limits) {}

  // Reserves the id for a session of `owner` that is being created, which stays invisible until
  // Set(). SessionExists, TooManySessions, TooManyLogBytes.
  absl::Status Reserve(const std::string& id, const std::string& owner);
  // The same for a child; returns its depth. Also SessionNotFound and SessionEnded of its parent,
  // TooDeep, TooManyChildren.
  absl::StatusOr<int> ReserveChild(const std::string& id, const std::string& owner,
                                   const std::string& parent_id);
  // Its creation has failed.
  void Release(const std::string& id);
  // Adds or replaces a session, without the details of its agent.
  void Set(SessionMetadata metadata);
  void Remove(const std::string& id);

  // Whether the log of a session may grow. SessionNotFound, TooManyLogBytes.
  absl::Status CheckRoom(const std::string& id);

  // SessionNotFound.
  absl::StatusOr<SessionMetadata> Get(const std::string& id);
  // Newest first, by the time of creation. `page_size` 0 means the default. Sessions that are added
  // or removed between two pages shift none of the others. InvalidPageToken.
  absl::StatusOr<SessionPage> List(const SessionFilter& filter, int page_size,
                                   const std::string& page_token);
  // Children that must end because their parent has ended or was removed: of one parent, or of all.
  std::vector<std::string> ChildrenToEnd(const std::string& parent_id);
  std::vector<std::string> ChildrenToEnd();
  // Newest first.
  std::vector<SessionMetadata> ThatNeedAgent();
  // The same for the children of a session.
  std::vector<SessionMetadata> ChildrenThatNeedAgent(const std::string& parent_id);
  // Number of active sessions by the AgentStatus of their agent. kNone counts only sessions that
  // need the agent that they name.
  std::array<int64_t, kAgentStatusCount> AgentCounts();
  size_t size();
  // Sessions that have not ended.
  int64_t active();
  // Events that were added since the start.
  int64_t appended_events();

 private:
  // Nanoseconds since 1970, negated so that the newest comes first; and the id.
  using Place = std::pair<int64_t, std::string>;

  // Sessions of one owner, or of all.
  struct Share {
    size_t sessions = 0;  // Including those that are being created.
    int64_t log_bytes = 0;
  };

  absl::Status ReserveLocked(const std::string& id, const std::string& owner)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CountChildLocked(const SessionMetadata& session, bool is_there)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsToEndLocked(const SessionMetadata& session) const ABSL_SHARED_LOCKS_REQUIRED(mutex_);

  static Place PlaceOf(const SessionMetadata& metadata);
  void CountLocked(const std::string& owner, int sessions, int64_t log_bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckRoomLocked(const std::string& owner) const ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  Share ShareOfLocked(const std::string& owner) const ABSL_SHARED_LOCKS_REQUIRED(mutex_);

  const SessionLimits limits_;
  Mutex mutex_;
  absl::flat_hash_map<std::string, SessionMetadata> sessions_ ABSL_GUARDED_BY(mutex_);
  struct Reserved {
    std::string owner;
    std::string parent_id;
  };
  std::map<std::string, Reserved> reserved_ ABSL_GUARDED_BY(mutex_);
  // Active children of each session, including those that are being created.
  absl::flat_hash_map<std::string, std::set<std::string>> children_ ABSL_GUARDED_BY(mutex_);
  Share of_all_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, Share> of_owner_ ABSL_GUARDED_BY(mutex_);
  std::set<Place> places_ ABSL_GUARDED_BY(mutex_);
  int64_t appended_events_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace callslip::tracker
