#ifndef CALLSLIP_TRACKER_STORAGE_SQLITE_COMMAND_STORAGE_H_
#define CALLSLIP_TRACKER_STORAGE_SQLITE_COMMAND_STORAGE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "tracker/domain/command/command_journal.h"
#include "tracker/storage/command_rows.h"
#include "tracker/storage/drawing_rows.h"
#include "tracker/storage/sqlite.h"

namespace callslip::tracker {

// The journal of commands and drawings as a SQLite database with a write-ahead log. One append is
// one transaction.
class SqliteCommandStorage final : public CommandStorage {
 public:
  static constexpr char kFileName[] = "commands.db";

  enum class Sync {
    // An append survives the end of the process. The disk is synced at checkpoints, so that a power
    // cut costs the last appends and never the file.
    kAtCheckpoints,
    // An append survives a power cut.
    kAlways,
  };

  // Opens the database at `path`, and makes it where it is missing. UNAVAILABLE where that is not
  // possible; DATA_LOSS, with what to do, where it is damaged; FAILED_PRECONDITION where a newer
  // version has written it.
  static absl::StatusOr<std::unique_ptr<SqliteCommandStorage>> Open(const std::string& path,
                                                                    Sync sync);

  uint64_t position() const override { return position_; }
  absl::Status Append(uint64_t position, absl::Span<const JournalEntry> entries) override;
  absl::StatusOr<Summary> Summarize() override;
  absl::Status Replay(const ClocksOf& clocks,
                      const std::function<void(JournalEntry)>& each) override;

  // The file becomes no larger than so many pages of 4 KiB; a full disk, for tests.
  void LimitPages(int64_t pages);

  bool WantsCheckpoint() const override { return log_pages_ >= kCheckpointPages; }
  void BeginCheckpoint() override;
  void EndCheckpoint() override;

 private:
  // Of the write-ahead log; 16 MiB.
  static constexpr int kCheckpointPages = 4096;
  // As many as a table keeps, in all of its partitions.
  static constexpr int64_t kMaxTombstones = 1'600'000;

  SqliteCommandStorage(std::string path, SqliteDatabase database)
      : path_(std::move(path)), database_(std::move(database)) {}

  absl::Status Prepare(Sync sync);
  absl::Status CheckVersion();
  absl::Status Write(uint64_t position, absl::Span<const JournalEntry> entries);
  // Whether this is the first row of what has this sequence.
  bool NoteRow(uint64_t sequence);
  absl::Status WriteEntries(absl::Span<const JournalEntry> entries);
  // Takes the transaction's place in the order of all of them.
  absl::Status Advance(uint64_t position, absl::Span<const JournalEntry> entries);
  // An error of the file, with what to do.
  absl::Status Explain(const absl::Status& error) const;

  const std::string path_;
  SqliteDatabase database_;
  // A connection of its own, which waits for the disk while the other one goes on.
  std::optional<SqliteDatabase> checkpoints_;
  std::optional<CommandRowWriter> rows_;
  std::optional<DrawingRowWriter> drawing_rows_;
  SqliteStatement begin_;
  SqliteStatement commit_;
  SqliteStatement advance_;
  uint64_t position_ = 0;
  int log_pages_ = 0;
  int64_t tombstones_ = 0;
  // Commands and drawings that have a row, by sequence; and what the append under way has added.
  absl::flat_hash_set<uint64_t> known_;
  std::vector<uint64_t> added_;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_STORAGE_SQLITE_COMMAND_STORAGE_H_
