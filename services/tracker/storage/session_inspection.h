#ifndef CALLSLIP_TRACKER_STORAGE_SESSION_INSPECTION_H_
#define CALLSLIP_TRACKER_STORAGE_SESSION_INSPECTION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tracker/domain/session/session_metadata.h"
#include "tracker/storage/session_json.h"

namespace callslip::tracker {

// What the files of a session hold, as they lie on the disk.
struct SessionInspection {
  std::string id;
  // None: metadata.json is missing or damaged. The tracker makes it anew from the log.
  std::optional<SessionMetadata> metadata;
  int64_t events = 0;  // Whole lines of the log.
  int64_t log_bytes = 0;
  // Of an event that was not written whole, at the end of the log. The tracker cuts it off.
  int64_t torn_bytes = 0;
  // None where nothing was ever queued, or queue.json is damaged.
  std::optional<QueueFile> queue;
  bool is_queue_damaged = false;
  // Why its log can't be read; empty where it can.
  std::string damage;
};

// The sessions under `data_dir`, those that were changed last first. Changes and locks nothing, so
// that a tracker may be running; what it is just writing may then look torn. NOT_FOUND where there
// is no such directory, StorageFailed. A directory without sessions is no error, nor is a session
// that can't be read; what is no folder is passed over.
absl::StatusOr<std::vector<SessionInspection>> InspectSessions(const std::string& data_dir);

// Those that were changed last come first.
void SortByChange(std::vector<SessionInspection>& sessions);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_STORAGE_SESSION_INSPECTION_H_
