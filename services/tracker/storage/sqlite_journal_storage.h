#pragma once

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
// survives a power failure.
class SqliteJournalStorage final : public JournalStorage {
 public:
  static constexpr char kFileName[] = "commands.db";

  // Opens the database at `path`, and creates it if it is missing. UNAVAILABLE if that is not
  // possible; DATA_LOSS, with what to do, if it is damaged; FAILED_PRECONDITION if it has another
  // format.
  static absl::StatusOr<std::unique_ptr<SqliteJournalStorage>> Open(const std::string& path);
  // Opens a temporary copy of the database, which ends with this; the one at `path` is only read.
  static absl::StatusOr<std::unique_ptr<SqliteJournalStorage>> OpenCopy(const std::string& path);

  // An empty temporary database, in memory or in a file without a name.
  static absl::StatusOr<std::unique_ptr<SqliteJournalStorage>> OpenTemporary();

  uint64_t position() const override { return position_; }
  absl::Status Append(uint64_t position, absl::Span<const JournalEntry> entries) override;
  // Like Append(), for all appends from `position` to before `end`. `summary` is their summary; of
  // each sequence the newest entry is sufficient.
  absl::Status AppendUpTo(uint64_t position, uint64_t end, const Summary& summary,
                          absl::Span<const JournalEntry> entries);
  absl::StatusOr<Summary> Summarize() override;
  absl::Status Replay(const ClocksOf& clocks,
                      const std::function<void(JournalEntry)>& each) override;

  // Limits the file to this many pages of 4 KiB, for tests of a full disk.
  void LimitPages(int64_t pages);

  // Increment it with each change of the tables, or of the meaning of a record, that another
  // version of the tracker would misread. A field that others can ignore is not such a change.
  static constexpr int64_t kFormat = 4;

  SqliteDatabase& database() { return database_; }

 private:
  // As many as the table keeps in all of its partitions.
  static constexpr int64_t kMaxTombstones = 1'600'000;

  SqliteJournalStorage(std::string path, SqliteDatabase database)
      : path_(std::move(path)), database_(std::move(database)) {}

  // A storage on `database`, ready for use.
  static absl::StatusOr<std::unique_ptr<SqliteJournalStorage>> Prepared(const std::string& path,
                                                                        SqliteDatabase database);
  // `sync`: ensures that the existing contents survive a power failure.
  absl::Status Prepare(bool sync);
  absl::Status CheckFormat();
  absl::Status Write(uint64_t position, uint64_t end, const Summary& summary,
                     absl::Span<const JournalEntry> entries);
  absl::Status WriteEntries(absl::Span<const JournalEntry> entries);
  // Moves the position from `position` to `end`, unless another writer has moved it.
  absl::Status Advance(uint64_t position, uint64_t end, const Summary& summary);
  // Adds what to do to an error of the file.
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

// The summary of `entries`.
JournalStorage::Summary SummaryOf(absl::Span<const JournalEntry> entries);

}  // namespace callslip::tracker
