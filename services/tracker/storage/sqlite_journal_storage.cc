#include "tracker/storage/sqlite_journal_storage.h"

#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace callslip::tracker {
namespace {

// "CSLP": distinguishes the file from other databases.
constexpr int64_t kApplicationId = 0x43534c50;
constexpr char kJournalTable[] =
    "CREATE TABLE journal (position INTEGER, last_sequence INTEGER, latest INTEGER);"
    "INSERT INTO journal VALUES (0, 0, 0);";

// The latest time in an entry.
int64_t LatestNanos(const JournalEntry& entry) {
  if (const auto* record = std::get_if<CommandRecord>(&entry.change)) {
    return record->command->trace.back().unix_nanos;
  }
  if (const auto* removal = std::get_if<CommandRemoval>(&entry.change)) {
    return removal->remove_nanos;
  }
  if (const auto* drawing = std::get_if<DrawingRecord>(&entry.change)) {
    return absl::ToUnixNanos(drawing->drawing->append_time);
  }
  if (const auto* answer = std::get_if<DrawingAnswer>(&entry.change)) {
    return absl::ToUnixNanos(answer->append_time);
  }
  if (const auto* restart = std::get_if<Restart>(&entry.change)) {
    return absl::ToUnixNanos(restart->time);
  }
  return 0;
}

}  // namespace

JournalStorage::Summary SummaryOf(absl::Span<const JournalEntry> entries) {
  JournalStorage::Summary summary;
  for (const JournalEntry& entry : entries) {
    summary.last_sequence = std::max(summary.last_sequence, entry.sequence);
    summary.latest_nanos = std::max(summary.latest_nanos, LatestNanos(entry));
  }
  return summary;
}

absl::StatusOr<std::unique_ptr<SqliteJournalStorage>> SqliteJournalStorage::Open(
    const std::string& path) {
  // If its process was killed, SQLite's own log may contain unsynced data.
  std::error_code missing;
  const auto log_bytes = std::filesystem::file_size(path + "-wal", missing);
  const bool was_killed = !missing && log_bytes > 0;
  ASSIGN_OR_RETURN(SqliteDatabase database, SqliteDatabase::Open(path));
  std::unique_ptr<SqliteJournalStorage> storage(
      new SqliteJournalStorage(path, std::move(database)));
  if (const absl::Status prepared = storage->Prepare(was_killed); !prepared.ok()) {
    return storage->Explain(prepared);
  }
  return storage;
}

absl::StatusOr<std::unique_ptr<SqliteJournalStorage>> SqliteJournalStorage::OpenCopy(
    const std::string& path) {
  ASSIGN_OR_RETURN(SqliteDatabase database, SqliteDatabase::OpenCopy(path));
  return Prepared(path, std::move(database));
}

absl::StatusOr<std::unique_ptr<SqliteJournalStorage>> SqliteJournalStorage::OpenTemporary() {
  ASSIGN_OR_RETURN(SqliteDatabase database, SqliteDatabase::OpenTemporary());
  return Prepared("a temporary database", std::move(database));
}

absl::StatusOr<std::unique_ptr<SqliteJournalStorage>> SqliteJournalStorage::Prepared(
    const std::string& path, SqliteDatabase database) {
  std::unique_ptr<SqliteJournalStorage> storage(
      new SqliteJournalStorage(path, std::move(database)));
  if (const absl::Status prepared = storage->Prepare(/*sync=*/false); !prepared.ok()) {
    return storage->Explain(prepared);
  }
  return storage;
}

absl::Status SqliteJournalStorage::Explain(const absl::Status& error) const {
  if (absl::IsDataLoss(error)) {
    return absl::DataLossError(absl::StrCat(
        path_, " is damaged: ", error.message(),
        ". `callslip-tracker inspect` shows what can be read of it, and `sqlite3 ", path_,
        " .recover` saves that. To begin without its commands, move it away, together with all "
        "files beside it whose names begin with \"commands\""));
  }
  if (absl::IsUnavailable(error)) {
    return absl::UnavailableError(absl::StrCat(
        path_, " can't be used: ", error.message(),
        ". The tracker must be able to write to this file and its directory, see --data-dir"));
  }
  return error;
}

absl::Status SqliteJournalStorage::Prepare(bool sync) {
  // Other tools can have the database open.
  sqlite3_busy_timeout(database_.get(), 1000);
  RETURN_IF_ERROR(database_.Run("PRAGMA synchronous = FULL"));
  RETURN_IF_ERROR(CheckFormat());
  RETURN_IF_ERROR(
      database_.Run("PRAGMA journal_mode = WAL;"
                    "PRAGMA journal_size_limit = 16777216; PRAGMA temp_store = MEMORY;"));
  // Fails if the file or its directory is read-only, instead of at the first append.
  RETURN_IF_ERROR(database_.Run("BEGIN IMMEDIATE; UPDATE journal SET position = position; COMMIT"));
  // SQLite does not write, and therefore does not sync, an unchanged row.
  if (sync) {
    RETURN_IF_ERROR(
        database_.Run("BEGIN IMMEDIATE; UPDATE journal SET position = position + 1;"
                      "UPDATE journal SET position = position - 1; COMMIT"));
  }
  ASSIGN_OR_RETURN(rows_, EntryRowWriter::Prepare(database_));
  ASSIGN_OR_RETURN(begin_, SqliteStatement::Prepare(database_, "BEGIN IMMEDIATE"));
  ASSIGN_OR_RETURN(commit_, SqliteStatement::Prepare(database_, "COMMIT"));
  ASSIGN_OR_RETURN(advance_,
                   SqliteStatement::Prepare(database_,
                                            "UPDATE journal SET position = ?4, last_sequence = "
                                            "max(last_sequence, ?2), latest = max(latest, ?3) "
                                            "WHERE position = ?1"));
  ASSIGN_OR_RETURN(const int64_t position, database_.Number("SELECT position FROM journal"));
  position_ = static_cast<uint64_t>(position);
  return absl::OkStatus();
}

absl::Status SqliteJournalStorage::CheckFormat() {
  ASSIGN_OR_RETURN(const int64_t application, database_.Number("PRAGMA application_id"));
  ASSIGN_OR_RETURN(const int64_t format, database_.Number("PRAGMA user_version"));
  ASSIGN_OR_RETURN(const int64_t tables, database_.Number("SELECT count(*) FROM sqlite_schema"));
  if (application == 0 && format == 0 && tables == 0) {
    return database_.Run(absl::StrCat("BEGIN IMMEDIATE;", kJournalTable, kEntryTables,
                                      "PRAGMA application_id = ", kApplicationId,
                                      "; PRAGMA user_version = ", kFormat, "; COMMIT;"));
  }
  if (application != kApplicationId) {
    return absl::FailedPreconditionError(
        absl::StrCat(path_, " is a database of another program; name another --data-dir"));
  }
  if (format > kFormat) {
    return absl::FailedPreconditionError(
        absl::StrCat(path_, " was written by a newer version of the tracker (format ", format,
                     ", this one knows ", kFormat, "): use that one, or name another --data-dir"));
  }
  if (format < kFormat) {
    return absl::FailedPreconditionError(
        absl::StrCat(path_, " has format ", format,
                     " of a development version, which this one (format ", kFormat,
                     ") does not read: move the files away whose names begin with \"commands\", or "
                     "name another --data-dir"));
  }
  return absl::OkStatus();
}

absl::Status SqliteJournalStorage::Append(uint64_t position,
                                          absl::Span<const JournalEntry> entries) {
  return AppendUpTo(position, position + 1, SummaryOf(entries), entries);
}

absl::Status SqliteJournalStorage::AppendUpTo(uint64_t position, uint64_t end,
                                              const Summary& summary,
                                              absl::Span<const JournalEntry> entries) {
  const int64_t tombstones_before = tombstones_;
  if (const absl::Status written = Write(position, end, summary, entries); !written.ok()) {
    // Some errors have already ended the transaction.
    if (sqlite3_get_autocommit(database_.get()) == 0) (void)database_.Run("ROLLBACK");
    tombstones_ = tombstones_before;
    return Explain(written);
  }
  position_ = end;
  return absl::OkStatus();
}

absl::Status SqliteJournalStorage::Write(uint64_t position, uint64_t end, const Summary& summary,
                                         absl::Span<const JournalEntry> entries) {
  RETURN_IF_ERROR(begin_.Run());
  RETURN_IF_ERROR(Advance(position, end, summary));
  RETURN_IF_ERROR(WriteEntries(entries));
  return commit_.Run();
}

absl::Status SqliteJournalStorage::Advance(uint64_t position, uint64_t end,
                                           const Summary& summary) {
  advance_.Bind(0, static_cast<int64_t>(position));
  advance_.Bind(1, static_cast<int64_t>(summary.last_sequence));
  advance_.Bind(2, summary.latest_nanos);
  advance_.Bind(3, static_cast<int64_t>(end));
  RETURN_IF_ERROR(advance_.Run());
  if (database_.changes() == 1) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("another tracker has written to ", path_, " meanwhile; stop one of them"));
}

absl::Status SqliteJournalStorage::WriteEntries(absl::Span<const JournalEntry> entries) {
  int64_t removed_at = 0;
  for (const JournalEntry& entry : entries) {
    RETURN_IF_ERROR(rows_->Write(entry));
    const auto* removal = std::get_if<CommandRemoval>(&entry.change);
    if (removal == nullptr) continue;
    removed_at = std::max(removed_at, removal->remove_nanos);
    ++tombstones_;
  }
  if (removed_at == 0) return absl::OkStatus();
  ASSIGN_OR_RETURN(const int64_t dropped, rows_->DropTombstones(removed_at));
  tombstones_ -= dropped;
  if (tombstones_ <= kMaxTombstones) return absl::OkStatus();
  RETURN_IF_ERROR(rows_->DropOldestTombstones(tombstones_ - kMaxTombstones));
  tombstones_ = kMaxTombstones;
  return absl::OkStatus();
}

absl::StatusOr<JournalStorage::Summary> SqliteJournalStorage::Summarize() {
  Summary summary;
  const absl::StatusOr<int64_t> last = database_.Number("SELECT last_sequence FROM journal");
  if (!last.ok()) return Explain(last.status());
  summary.last_sequence = static_cast<uint64_t>(*last);
  const absl::StatusOr<int64_t> latest = database_.Number("SELECT latest FROM journal");
  if (!latest.ok()) return Explain(latest.status());
  summary.latest_nanos = *latest;
  return summary;
}

absl::Status SqliteJournalStorage::Replay(const ClocksOf& clocks,
                                          const std::function<void(JournalEntry)>& each) {
  tombstones_ = 0;
  const absl::Status read = ReadEntryRows(database_, clocks, [&](JournalEntry entry) {
    if (std::holds_alternative<CommandRemoval>(entry.change)) ++tombstones_;
    each(std::move(entry));
  });
  return read.ok() ? read : Explain(read);
}

void SqliteJournalStorage::LimitPages(int64_t pages) {
  (void)database_.Number(absl::StrCat("PRAGMA max_page_count = ", pages));
}

}  // namespace callslip::tracker
