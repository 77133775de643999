#ifndef CALLSLIP_TRACKER_STORAGE_SQLITE_JOURNAL_STORAGE_H_
#define CALLSLIP_TRACKER_STORAGE_SQLITE_JOURNAL_STORAGE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "tracker/domain/journal/journal.h"
#include "tracker/storage/sqlite.h"
#include "tracker/storage/sqlite_entry_rows.h"

namespace callslip::tracker {

// The journal of commands and drawings as a SQLite database. One append is one transaction, which
// survives a power cut.
class SqliteJournalStorage final : public JournalStorage {
 public:
  static constexpr char kFileName[] = "commands.db";

  // Opens the database at `path`, and makes it where it is missing. UNAVAILABLE if that is not
  // possible; DATA_LOSS, with what to do, if it is damaged; FAILED_PRECONDITION if it has another
  // format.
  static absl::StatusOr<std::unique_ptr<SqliteJournalStorage>> Open(const std::string& path);
  // Opens a copy of the database, which goes with this; the one at `path` is read, and stays as it
  // is.
  static absl::StatusOr<std::unique_ptr<SqliteJournalStorage>> OpenCopy(const std::string& path);

  // An empty one, in memory or a file without a name, which goes with this.
  static absl::StatusOr<std::unique_ptr<SqliteJournalStorage>> OpenTemporary();

  uint64_t position() const override { return position_; }
  absl::Status Append(uint64_t position, absl::Span<const JournalEntry> entries) override;
  // As Append(), of all appends from `position` up to before `end`; what they bring that is known
  // besides commands is in `summary`, and of each sequence the newest entry is enough.
  absl::Status AppendUpTo(uint64_t position, uint64_t end, const Summary& summary,
                          absl::Span<const JournalEntry> entries);
  absl::StatusOr<Summary> Summarize() override;
  absl::Status Replay(const ClocksOf& clocks,
                      const std::function<void(JournalEntry)>& each) override;

  // The file becomes no larger than so many pages of 4 KiB; a full disk, for tests.
  void LimitPages(int64_t pages);

  // Raise it with each change of the tables, and of the meaning of a record, that another version
  // of the tracker would get wrong. A field that others can ignore is none.
  static constexpr int64_t kFormat = 4;

  SqliteDatabase& database() { return database_; }

 private:
  // As many as a table keeps, in all of its partitions.
  static constexpr int64_t kMaxTombstones = 1'600'000;

  SqliteJournalStorage(std::string path, SqliteDatabase database)
      : path_(std::move(path)), database_(std::move(database)) {}

  // One that goes with this.
  static absl::StatusOr<std::unique_ptr<SqliteJournalStorage>> Prepared(const std::string& path,
                                                                        SqliteDatabase database);
  // `sync`: what the database has already is to survive a power cut.
  absl::Status Prepare(bool sync);
  absl::Status CheckFormat();
  absl::Status Write(uint64_t position, uint64_t end, const Summary& summary,
                     absl::Span<const JournalEntry> entries);
  absl::Status WriteEntries(absl::Span<const JournalEntry> entries);
  // Takes the transaction's place in the order of all of them.
  absl::Status Advance(uint64_t position, uint64_t end, const Summary& summary);
  // An error of the file, with what to do.
  absl::Status Explain(const absl::Status& error) const;

  const std::string path_;
  SqliteDatabase database_;
  std::optional<EntryRowWriter> rows_;
  SqliteStatement begin_;
  SqliteStatement commit_;
  SqliteStatement advance_;
  uint64_t position_ = 0;
  int64_t tombstones_ = 0;
};

// What `entries` bring that is known besides commands.
JournalStorage::Summary SummaryOf(absl::Span<const JournalEntry> entries);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_STORAGE_SQLITE_JOURNAL_STORAGE_H_
