#ifndef CALLSLIP_TRACKER_STORAGE_COMMAND_INSPECTION_H_
#define CALLSLIP_TRACKER_STORAGE_COMMAND_INSPECTION_H_

#include <cstdio>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tracker/domain/journal/journal.h"

namespace callslip::tracker {

// Writes to `out`, for people, what the journal in `folder` holds: how many commands there are in
// each state, how many drawings, and a line for each of the newest commands. Reads all of it, in a
// copy among SQLite's temporary files; changes nothing, and may be called beside a running tracker.
// UNAVAILABLE where there is none; DATA_LOSS where it is damaged, after all that can be read.
absl::Status InspectCommands(const std::string& folder, std::FILE* out);
// The same of a journal that is kept elsewhere.
absl::Status InspectCommands(JournalStorage& journal, std::FILE* out);

// The command of that id, as the same copy has it. NOT_FOUND where there is none.
absl::StatusOr<CommandPtr> FindStoredCommand(const std::string& folder, absl::string_view id);
absl::StatusOr<CommandPtr> FindStoredCommand(JournalStorage& journal, absl::string_view id);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_STORAGE_COMMAND_INSPECTION_H_
