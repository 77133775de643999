#ifndef CALLSLIP_TRACKER_STORAGE_LOGGED_JOURNAL_STORAGE_H_
#define CALLSLIP_TRACKER_STORAGE_LOGGED_JOURNAL_STORAGE_H_

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
// log, which is all that has to be waited for; a thread of its own brings what is newest of each
// command to the database once the log is long, and at the end.
//
// Where the database can't be written, appends fail until it can: it is tried again with each.
class LoggedJournalStorage final : public JournalStorage {
 public:
  enum class Sync {
    kNever,   // An append survives the end of the process; a power cut costs the last ones.
    kAlways,  // An append survives a power cut.
  };

  // Of the file that the log writes, in bytes.
  struct LogLimits {
    // It is time to write rows.
    int64_t is_long = JournalLog::kKeptBytes;
    // Rows are written more slowly than what comes: there is no more room, and appends fail.
    int64_t is_longest = 16 * JournalLog::kKeptBytes;
  };

  // Opens the database and the log in `folder`, and makes them where they are missing; what the log
  // holds is in the database after that. UNAVAILABLE where that is not possible; DATA_LOSS, with
  // what to do, where something is damaged; FAILED_PRECONDITION where a newer version has written
  // it.
  //
  // Where records of the log are missing before others, as a power cut can leave it with kNever,
  // those others are put aside, and it is logged. With kAlways it is damage.
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

  // Brings all that was appended to the database. Thread-safe.
  absl::Status WriteRows();

  SqliteJournalStorage& database() { return *database_; }

 private:
  // Of the memory for one append; one that was larger gives it back.
  static constexpr size_t kKeptBytes = size_t{1} << 20;
  // How soon rows that could not be written are tried again.
  static constexpr absl::Duration kPause = absl::Seconds(1);

  LoggedJournalStorage(Sync sync, LogLimits limits, std::unique_ptr<SqliteJournalStorage> database,
                       JournalLog log);

  // Once the database has all, and has been read, before the first append.
  absl::Status EmptyLog() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Wakes the thread.
  void WantRows() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Run();
  void Note(const JournalEntry& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Sync sync_;
  const LogLimits limits_;
  const std::unique_ptr<SqliteJournalStorage> database_;
  std::atomic<uint64_t> position_;

  // Held while rows are written. Before `mutex_`.
  Mutex rows_mutex_;

  Mutex mutex_;
  CondVar changed_;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  bool wants_rows_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status rows_status_ ABSL_GUARDED_BY(mutex_);  // Of the last time that they were written.
  JournalLog log_ ABSL_GUARDED_BY(mutex_);
  bool is_log_empty_ ABSL_GUARDED_BY(mutex_) = false;  // Of what was there before.
  JournalEncoder encoder_ ABSL_GUARDED_BY(mutex_);
  std::string record_ ABSL_GUARDED_BY(mutex_);
  // What was appended and is not in the database, by sequence: of each the newest.
  absl::node_hash_map<uint64_t, JournalEntry> unwritten_ ABSL_GUARDED_BY(mutex_);
  Summary summary_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

// Brings to the database what the log has beyond it. DATA_LOSS where that makes no sense.
absl::Status WriteRowsOf(const JournalLogContents& log, SqliteJournalStorage& database);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_STORAGE_LOGGED_JOURNAL_STORAGE_H_
