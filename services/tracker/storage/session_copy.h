#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "tracker/storage/copy_progress.h"
#include "tracker/storage/movable_session_storage.h"

namespace callslip::tracker {

// The contents of a session storage.
struct SessionContents {
  int64_t events = 0;
  int64_t images = 0;
  // By session id; equal digests mean equal sessions.
  std::map<std::string, std::string> digests;
};

// Copies all sessions of `from` to `to`, which must be empty. Nothing else may use either of them.
// Returns what was read. FAILED_PRECONDITION, with what to do, if a session cannot be read;
// otherwise the errors of both.
absl::StatusOr<SessionContents> CopySessions(MovableSessionStorage& from, MovableSessionStorage& to,
                                             const CopyProgress& progress);
// What CopySessions() would copy.
absl::StatusOr<SessionContents> ContentsOf(MovableSessionStorage& sessions,
                                           const CopyProgress& progress);

}  // namespace callslip::tracker
