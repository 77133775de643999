#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tracker/domain/session/session_metadata.h"
#include "tracker/storage/session_json.h"

namespace callslip::tracker {

// The files of a session as they are on the disk.
struct SessionInspection {
  std::string id;
  // Nullopt if metadata.json is missing or damaged. The tracker recreates it from the log.
  std::optional<SessionMetadata> metadata;
  int64_t events = 0;  // Complete lines of the log.
  int64_t log_bytes = 0;
  // The incomplete event at the end of the log. The tracker truncates it.
  int64_t torn_bytes = 0;
  // Nullopt if nothing was ever queued, or queue.json is damaged.
  std::optional<QueueFile> queue;
  bool is_queue_damaged = false;
  // Why its log cannot be read; empty if it can.
  std::string damage;
};

// The sessions under `data_dir`, the latest changed first. Changes and locks nothing, so a tracker
// can be running; a write in progress can then look torn. NOT_FOUND if there is no such directory,
// StorageFailed. A directory without sessions is not an error, nor is a session that cannot be
// read; everything but folders is skipped.
absl::StatusOr<std::vector<SessionInspection>> InspectSessions(const std::string& data_dir);

// Sorts the latest changed first.
void SortByChange(std::vector<SessionInspection>& sessions);

}  // namespace callslip::tracker
