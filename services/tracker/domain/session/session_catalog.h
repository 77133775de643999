#ifndef CALLSLIP_TRACKER_DOMAIN_SESSION_SESSION_CATALOG_H_
#define CALLSLIP_TRACKER_DOMAIN_SESSION_SESSION_CATALOG_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/mutex.h"
#include "tracker/domain/session/session_metadata.h"

namespace callslip::tracker {

// The metadata of all sessions as they were last stored, in memory: what is asked for often and by
// many touches no disk. Thread-safe.
class SessionCatalog {
 public:
  explicit SessionCatalog(size_t limit) : limit_(limit) {}

  // Takes the id for a session that is being created, which stays invisible until Set().
  // SessionExists, TooManySessions.
  absl::Status Reserve(const std::string& id);
  // Creating it has failed.
  void Release(const std::string& id);
  // Adds or replaces.
  void Set(SessionMetadata metadata);
  void Remove(const std::string& id);

  // SessionNotFound.
  absl::StatusOr<SessionMetadata> Get(const std::string& id);
  // Newest first, by the time of creation. `page_size` 0 means the default. Sessions that come or
  // go between two pages shift none of the others. InvalidPageToken.
  absl::StatusOr<SessionPage> List(const SessionFilter& filter, int page_size,
                                   const std::string& page_token);
  size_t size();
  // Events that were added since the start.
  int64_t appended_events();

 private:
  // Nanoseconds since 1970, negated so that the newest comes first; and the id.
  using Place = std::pair<int64_t, std::string>;

  static Place PlaceOf(const SessionMetadata& metadata);

  const size_t limit_;
  Mutex mutex_;
  absl::flat_hash_map<std::string, SessionMetadata> sessions_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> reserved_ ABSL_GUARDED_BY(mutex_);
  std::set<Place> places_ ABSL_GUARDED_BY(mutex_);
  int64_t appended_events_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_SESSION_SESSION_CATALOG_H_
