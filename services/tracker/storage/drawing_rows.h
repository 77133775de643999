#ifndef CALLSLIP_TRACKER_STORAGE_DRAWING_ROWS_H_
#define CALLSLIP_TRACKER_STORAGE_DRAWING_ROWS_H_

#include <functional>

#include "absl/status/statusor.h"
#include "tracker/domain/journal/journal.h"
#include "tracker/storage/sqlite.h"

// Drawings as rows of `commands.db`. The drawing itself, which may be megabytes, is written once;
// who has been given it is a row of its own.
namespace callslip::tracker {

inline constexpr char kDrawingTables[] = R"sql(
  CREATE TABLE drawings (
    sequence INTEGER PRIMARY KEY,  -- in one order with the commands
    target TEXT, tab_id INTEGER, url TEXT, title TEXT, session TEXT, drawing_id TEXT,
    appended INTEGER, content BLOB, checksum INTEGER);
  -- A line for each client that was given the drawing, with a tab and the id of the command whose
  -- result it is, if any; then the ids of commands that are still to be completed with it. Missing
  -- where nobody was given it.
  CREATE TABLE drawing_receipts (
    sequence INTEGER PRIMARY KEY, receipts TEXT, to_complete TEXT, checksum INTEGER);
  -- What was answered to drawings that may be handed in again.
  CREATE TABLE drawing_answers (
    sequence INTEGER PRIMARY KEY, target TEXT, drawing_id TEXT, appended INTEGER,
    completed TEXT, stored INTEGER, checksum INTEGER);
)sql";

// The prepared statements that write and delete rows.
class DrawingRowWriter {
 public:
  static absl::StatusOr<DrawingRowWriter> Prepare(SqliteDatabase& database);

  // Writes the row of what never changes where it `is_new`, and that of the receipts.
  absl::Status Write(const DrawingRecord& record, bool is_new);
  absl::Status Write(uint64_t sequence, const DrawingAnswer& answer);
  // Of a drawing or of an answer.
  absl::Status Remove(uint64_t sequence);

 private:
  SqliteStatement insert_drawing_;
  SqliteStatement replace_receipts_;
  SqliteStatement replace_answer_;
  SqliteStatement delete_drawing_;
  SqliteStatement delete_receipts_;
  SqliteStatement delete_answer_;
};

// Reads all rows of drawings, then all of answers. DATA_LOSS where one is damaged or makes no
// sense.
absl::Status ReadDrawingRows(SqliteDatabase& database,
                             const std::function<void(JournalEntry)>& each);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_STORAGE_DRAWING_ROWS_H_
