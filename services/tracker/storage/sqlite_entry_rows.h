#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tracker/domain/journal/journal.h"
#include "tracker/storage/entry_row.h"
#include "tracker/storage/sqlite.h"

// The contents of the journal as rows of `commands.db`; see entry_row.h.
namespace callslip::tracker {

inline constexpr char kEntryTables[] = R"sql(
  CREATE TABLE entries (
    key INTEGER PRIMARY KEY,  -- 4 * sequence + 0: the first record, 1: the newest, 2: a receipt
    until INTEGER,            -- Of a tombstone: when it goes, in nanoseconds since 1970,
    number INTEGER,           -- and its place among those that go at the same time.
    -- For people. All else reads the record alone.
    kind TEXT, id TEXT, client TEXT, target TEXT, type TEXT, registered INTEGER,
    state TEXT, worker TEXT, error_code TEXT,
    crc INTEGER NOT NULL,     -- CRC-32 of the key, as 8 bytes, and the record.
    record BLOB NOT NULL);    -- An Entry of journal.proto.
  CREATE INDEX entries_until ON entries (until, number) WHERE until IS NOT NULL;
  CREATE VIEW overview AS
    SELECT first.key / 4 AS sequence, first.id, first.client, first.target, first.type,
      iif(later.key IS NULL, first.state, later.state) AS state,
      iif(later.key IS NULL, first.worker, later.worker) AS worker,
      datetime(first.registered / 1000000000, 'unixepoch') AS registered_utc,
      iif(later.key IS NULL, first.error_code, later.error_code) AS error_code
    FROM entries AS first LEFT JOIN entries AS later ON later.key = first.key + 1
    WHERE first.kind = 'command';
)sql";

// The prepared statements that write and delete rows.
class EntryRowWriter {
 public:
  static absl::StatusOr<EntryRowWriter> Prepare(SqliteDatabase& database);

  // Updates the rows of the entry's sequence.
  absl::Status Write(const JournalEntry& entry);
  // Deletes expired tombstones, and returns their number.
  absl::StatusOr<int64_t> DropTombstones(int64_t now_nanos);
  absl::Status DropOldestTombstones(int64_t count);

 private:
  absl::Status Put(const EntryRow& row);

  SqliteDatabase* database_ = nullptr;
  SqliteStatement put_;
  SqliteStatement remove_;
  SqliteStatement drop_tombstones_;
  SqliteStatement drop_oldest_tombstones_;
  EntryRowEncoder encoder_;
};

// Reads all rows, in the order of JournalStorage::Replay(). DATA_LOSS if a row is damaged or
// invalid.
absl::Status ReadEntryRows(SqliteDatabase& database, const JournalStorage::ClocksOf& clocks,
                           const std::function<void(JournalEntry)>& each);

}  // namespace callslip::tracker
