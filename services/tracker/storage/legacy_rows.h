#ifndef CALLSLIP_TRACKER_STORAGE_LEGACY_ROWS_H_
#define CALLSLIP_TRACKER_STORAGE_LEGACY_ROWS_H_

#include <functional>

#include "absl/status/status.h"
#include "tracker/domain/journal/journal.h"
#include "tracker/storage/sqlite.h"

// The tables of before: a column for each field, and a table for each kind of entry. Nobody writes
// them any more.
namespace callslip::tracker {

// Of a database up to this format.
inline constexpr int64_t kLastLegacyFormat = 3;

// Shows all that such a database holds, each as if it was appended first; what stops it, too.
// Columns that were added under the same number may be missing. DATA_LOSS where a row is damaged or
// makes no sense.
absl::Status ReadLegacyRows(SqliteDatabase& database,
                            const std::function<absl::Status(JournalEntry)>& each);
absl::Status DropLegacyTables(SqliteDatabase& database);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_STORAGE_LEGACY_ROWS_H_
