#ifndef CALLSLIP_TRACKER_STORAGE_SESSION_COPY_H_
#define CALLSLIP_TRACKER_STORAGE_SESSION_COPY_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "tracker/storage/copy_progress.h"
#include "tracker/storage/movable_session_storage.h"

namespace callslip::tracker {

// What the sessions of a storage hold.
struct SessionContents {
  int64_t events = 0;
  int64_t images = 0;
  // By id; equal ones are of equal sessions.
  std::map<std::string, std::string> digests;
};

// Puts all sessions of `from` into `to`, which has none. Both are used by nobody else. Returns what
// was read. FAILED_PRECONDITION, with what to do, where one can't be read; else errors of either.
absl::StatusOr<SessionContents> CopySessions(MovableSessionStorage& from, MovableSessionStorage& to,
                                             const CopyProgress& progress);
// What would be copied of it.
absl::StatusOr<SessionContents> ContentsOf(MovableSessionStorage& sessions,
                                           const CopyProgress& progress);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_STORAGE_SESSION_COPY_H_
