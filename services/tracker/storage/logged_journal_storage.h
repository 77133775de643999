#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/container/node_hash_map.h"
#include "absl/status/statusor.h"
#include "common/mutex.h"
#include "tracker/domain/journal/journal.h"
#include "tracker/storage/journal_encoding.h"
#include "tracker/storage/journal_log.h"
#include "tracker/storage/sqlite_journal_storage.h"

namespace callslip::tracker {

// The journal of commands and drawings as a log in front of a database. An append is written to the
// log, and only that must be waited for. A separate thread moves the newest entry of each command
// to the database when the log is long, and at the end.
//
// While the database cannot be written, appends fail; each append triggers another attempt.
class LoggedJournalStorage final : public JournalStorage {
 public:
  enum class Sync {
    kNever,   // An append survives the end of the process; a power failure loses the last ones.
    kAlways,  // An append survives a power failure.
  };

  // Limits of the log file in use, in bytes.
  struct LogLimits {
    // Rows are written to the database from here on.
    int64_t is_long = JournalLog::kKeptBytes;
    // Appends fail from here on, because rows are written more slowly than entries arrive.
    int64_t is_longest = 16 * JournalLog::kKeptBytes;
  };

  // Opens the database and the log in `folder`, and creates missing ones; then moves the contents
  // of the log to the database. UNAVAILABLE if that is not possible; DATA_LOSS, with what to do, if
  // something is damaged; FAILED_PRECONDITION if a newer version has written it.
  //
  // Records after a gap in the log, which a power failure can leave with kNever, are set aside and
  // reported in the program's log. With kAlways a gap is damage.
  static absl::StatusOr<std::unique_ptr<LoggedJournalStorage>> Open(const std::string& folder,
                                                                    Sync sync, LogLimits limits);
  static absl::StatusOr<std::unique_ptr<LoggedJournalStorage>> Open(const std::string& folder,
                                                                    Sync sync) {
    return Open(folder, sync, LogLimits());
  }
  ~LoggedJournalStorage() override;

  uint64_t position() const override { return position_; }
  absl::Status Append(uint64_t position, absl::Span<const JournalEntry> entries) override;
  bool HasRoom() override;
  absl::StatusOr<Summary> Summarize() override { return database_->Summarize(); }
  absl::Status Replay(const ClocksOf& clocks,
                      const std::function<void(JournalEntry)>& each) override {
    return database_->Replay(clocks, each);
  }

  // Moves everything appended to the database. Thread-safe.
  absl::Status WriteRows();

  SqliteJournalStorage& database() { return *database_; }

 private:
  // The memory kept for one append; larger memory is released.
  static constexpr size_t kKeptBytes = size_t{1} << 20;
  // How soon a failed write of rows is retried.
  static constexpr absl::Duration kPause = absl::Seconds(1);

  LoggedJournalStorage(Sync sync, LogLimits limits, std::unique_ptr<SqliteJournalStorage> database,
                       JournalLog log);

  // Must be called when the database has all entries and has been read, before the first append.
  absl::Status EmptyLog() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Wakes the thread.
  void WantRows() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Run();
  void Note(const JournalEntry& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Sync sync_;
  const LogLimits limits_;
  const std::unique_ptr<SqliteJournalStorage> database_;
  std::atomic<uint64_t> position_;

  // Held while rows are written. Locked before `mutex_`.
  Mutex rows_mutex_;

  Mutex mutex_;
  CondVar changed_;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  bool wants_rows_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status rows_status_ ABSL_GUARDED_BY(mutex_);  // Of the last attempt to write rows.
  JournalLog log_ ABSL_GUARDED_BY(mutex_);
  bool is_log_empty_ ABSL_GUARDED_BY(mutex_) = false;  // Of what earlier processes wrote.
  JournalEncoder encoder_ ABSL_GUARDED_BY(mutex_);
  std::string record_ ABSL_GUARDED_BY(mutex_);
  // Appended entries that are not in the database, by sequence: the newest of each.
  absl::node_hash_map<uint64_t, JournalEntry> unwritten_ ABSL_GUARDED_BY(mutex_);
  Summary summary_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

// Moves the records of the log that the database lacks to the database. DATA_LOSS if they are
// invalid.
absl::Status WriteRowsOf(const JournalLogContents& log, SqliteJournalStorage& database);

}  // namespace callslip::tracker
