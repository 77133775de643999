#ifndef CALLSLIP_TRACKER_STORAGE_COMMAND_ROWS_H_
#define CALLSLIP_TRACKER_STORAGE_COMMAND_ROWS_H_

#include "absl/status/statusor.h"
#include "tracker/domain/journal/journal.h"
#include "tracker/storage/sqlite.h"

// Commands as rows of `commands.db`, beside drawings: see drawing_rows.h. What never changes and
// may be large, a command's own parameters, is written once; what changes is a row of its own.
namespace callslip::tracker {

inline constexpr char kCommandTables[] = R"sql(
  CREATE TABLE commands (
    sequence INTEGER PRIMARY KEY,  -- registration order
    id TEXT NOT NULL, client TEXT, target TEXT, type TEXT, request_id TEXT, label TEXT,
    ordering_key TEXT, replay_of TEXT, human INTEGER, idempotent INTEGER, priority INTEGER,
    registered INTEGER,            -- nanoseconds since 1970, as all times
    not_before INTEGER, deadlines BLOB, traceparent TEXT, subject TEXT, params BLOB,
    checksum INTEGER);             -- of the columns before it, as in the other tables
  -- Missing for commands to which nothing has happened since their registration.
  CREATE TABLE states (
    sequence INTEGER PRIMARY KEY,
    state TEXT NOT NULL, attempt INTEGER, revision INTEGER, trace BLOB,
    error_code TEXT, error_message TEXT, error_hint TEXT, may_have_executed INTEGER,
    progress REAL, progress_message TEXT, context BLOB, result BLOB, late_result BLOB,
    leases TEXT, worker TEXT, worker_before TEXT, heartbeats INTEGER,
    untold INTEGER, end_number INTEGER, checksum INTEGER,
    is_read INTEGER);
  -- Results, or late ones, that are too large to be rewritten with their states.
  CREATE TABLE results (sequence INTEGER PRIMARY KEY, result BLOB, checksum INTEGER);
  CREATE TABLE tombstones (
    until INTEGER, number INTEGER, -- of the removal: the order of those that go at the same time
    id TEXT, client TEXT, ended_as TEXT, checksum INTEGER,
    PRIMARY KEY (until, number)) WITHOUT ROWID;
  CREATE TABLE journal (position INTEGER, last_sequence INTEGER, latest INTEGER);
  INSERT INTO journal VALUES (0, 0, 0);
  -- For people.
  CREATE VIEW overview AS
    SELECT sequence, id, client, target, type, coalesce(state, 'queued') AS state, worker,
      datetime(registered / 1000000000, 'unixepoch') AS registered_utc, error_code
    FROM commands LEFT JOIN states USING (sequence);
)sql";

// The prepared statements that write and delete rows.
class CommandRowWriter {
 public:
  static absl::StatusOr<CommandRowWriter> Prepare(SqliteDatabase& database);

  // Writes the row of what never changes where it `is_new`, and that of the state where something
  // has happened.
  absl::Status Write(const CommandRecord& record, bool is_new);
  absl::Status MarkRead(uint64_t sequence);
  // Where nothing of the command was written before, `is_first`, there is only its tombstone.
  absl::Status Remove(uint64_t sequence, const CommandRemoval& removal, bool is_first);
  // Drops tombstones that are out of date, and returns how many those were.
  absl::StatusOr<int64_t> DropTombstones(int64_t now_nanos);
  absl::Status DropOldestTombstones(int64_t count);

 private:
  absl::Status WriteSpec(const CommandSpec& spec);
  absl::Status WriteState(const CommandRecord& record);

  SqliteDatabase* database_ = nullptr;
  SqliteStatement insert_command_;
  SqliteStatement replace_state_;
  SqliteStatement replace_result_;
  SqliteStatement mark_read_;
  SqliteStatement delete_command_;
  SqliteStatement delete_state_;
  SqliteStatement delete_result_;
  SqliteStatement insert_tombstone_;
  SqliteStatement drop_tombstones_;
  SqliteStatement drop_oldest_tombstones_;
};

// Reads all rows of commands. DATA_LOSS where one is damaged or makes no sense.
absl::Status ReadCommandRows(SqliteDatabase& database, const JournalStorage::ClocksOf& clocks,
                             const std::function<void(JournalEntry)>& each);

// DATA_LOSS, of a row whose contents no tracker has written.
absl::Status NonsensicalRow(absl::string_view table, int64_t sequence);
// DATA_LOSS, of a row that does not have its checksum.
absl::Status DamagedRow(absl::string_view table, int64_t sequence);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_STORAGE_COMMAND_ROWS_H_
