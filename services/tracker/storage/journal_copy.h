#ifndef CALLSLIP_TRACKER_STORAGE_JOURNAL_COPY_H_
#define CALLSLIP_TRACKER_STORAGE_JOURNAL_COPY_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tracker/domain/journal/journal.h"
#include "tracker/storage/copy_progress.h"

namespace callslip::tracker {

// What a journal holds. Equal ones hold the same.
struct JournalContents {
  int64_t commands = 0;
  int64_t drawings = 0;
  // Tombstones, and what was answered to drawings.
  int64_t others = 0;
  uint64_t last_sequence = 0;
  int64_t latest_nanos = 0;
  std::string digest;
  friend bool operator==(const JournalContents&, const JournalContents&) = default;
};

// Appends all that `from` keeps to `to`, which is empty, but for tombstones that are out of date.
// Both are used by nobody else. Returns what was read. Errors of either; after one `to` has some of
// it.
absl::StatusOr<JournalContents> CopyJournal(JournalStorage& from, JournalStorage& to,
                                            const CopyProgress& progress);
// What would be copied of it.
absl::StatusOr<JournalContents> ContentsOf(JournalStorage& journal, const CopyProgress& progress);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_STORAGE_JOURNAL_COPY_H_
