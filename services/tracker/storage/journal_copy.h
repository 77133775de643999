#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tracker/domain/journal/journal.h"
#include "tracker/storage/copy_progress.h"

namespace callslip::tracker {

// The contents of a journal. Equal values mean equal contents.
struct JournalContents {
  int64_t commands = 0;
  int64_t drawings = 0;
  // Tombstones, and answers to drawings.
  int64_t others = 0;
  uint64_t last_sequence = 0;
  int64_t latest_nanos = 0;
  std::string digest;
  friend bool operator==(const JournalContents&, const JournalContents&) = default;
};

// Appends everything in `from`, except expired tombstones, to `to`, which must be empty. Nothing
// else may use either of them. Returns what was read. Errors of both; after an error `to` contains
// a part.
absl::StatusOr<JournalContents> CopyJournal(JournalStorage& from, JournalStorage& to,
                                            const CopyProgress& progress);
// What CopyJournal() would copy.
absl::StatusOr<JournalContents> ContentsOf(JournalStorage& journal, const CopyProgress& progress);

}  // namespace callslip::tracker
