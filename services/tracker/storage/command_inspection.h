#pragma once

#include <cstdio>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tracker/domain/journal/journal.h"

namespace callslip::tracker {

// Writes to `out`, for people, the contents of the journal in `folder`: the number of commands in
// each state, the number of drawings, and a line for each of the newest commands. Reads all of it,
// in a copy among SQLite's temporary files; changes nothing, and works while a tracker is running.
// UNAVAILABLE if there is none; DATA_LOSS if it is damaged, after writing what can be read.
absl::Status InspectCommands(const std::string& folder, std::FILE* out);
// The same for a journal in another storage.
absl::Status InspectCommands(JournalStorage& journal, std::FILE* out);

// The command with that id, from the same copy. NOT_FOUND if there is none.
absl::StatusOr<CommandPtr> FindStoredCommand(const std::string& folder, absl::string_view id);
absl::StatusOr<CommandPtr> FindStoredCommand(JournalStorage& journal, absl::string_view id);

}  // namespace callslip::tracker
