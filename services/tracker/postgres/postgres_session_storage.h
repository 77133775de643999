#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/mutex.h"
#include "tracker/postgres/connection.h"
#include "tracker/storage/movable_session_storage.h"

namespace callslip::tracker {

// Timeouts for statements of sessions; tests use shorter ones.
struct PostgresPatience {
  absl::Duration statement = PostgresConnection::kMaxStatementTime;
  absl::Duration lock = PostgresConnection::kMaxLockTime;
};

// The connections with which sessions in one database are read and written. Thread-safe.
class PostgresPool {
 public:
  explicit PostgresPool(std::string url, PostgresPatience patience = {})
      : url_(std::move(url)), patience_(patience) {}

  // Executes a statement on a working connection. As PostgresConnection::Query().
  absl::StatusOr<PostgresResult> Query(const char* sql, const PostgresParameters& parameters);

 private:
  // One for each thread that reads and writes sessions.
  static constexpr size_t kKept = 16;
  // The limit of connections on which the server has not answered in time, for example because the
  // standby is down. Again one per thread, so most of the database's connections stay available to
  // others.
  static constexpr size_t kMaxWaiting = 16;

  // A working connection, or null. UNAVAILABLE if too many wait.
  absl::StatusOr<std::unique_ptr<PostgresConnection>> TakeIdle();
  void GiveBack(std::unique_ptr<PostgresConnection> connection);

  const std::string url_;
  const PostgresPatience patience_;
  Mutex mutex_;
  std::vector<std::unique_ptr<PostgresConnection>> idle_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<PostgresConnection>> waiting_ ABSL_GUARDED_BY(mutex_);
};

// Sessions in the tables of a cell, written by its owner under an epoch. The lines and texts are
// the same as in the files of FileSessionStorage, so a new field is added in one place.
//
// Every change is one statement that locks the cell's epoch (shared) and the session's row. A
// tracker that takes over the cell waits for it, and nothing is written under an earlier epoch.
// Loading locks the row too, so a change whose answer was lost has ended by then. The row counts
// its changes, and each change requires the count that loading has read or that the previous change
// has left. A change that arrives later nevertheless, from a slow server or network, therefore has
// no effect.
class PostgresSessionStorage final : public MovableSessionStorage {
 public:
  PostgresSessionStorage(std::string url, uint64_t epoch, PostgresPatience patience = {})
      : pool_(std::move(url), patience), epoch_(static_cast<int64_t>(epoch)) {}

  absl::StatusOr<std::vector<SessionMetadata>> List() override;
  absl::StatusOr<LoadedSession> Load(const std::string& id) override;
  absl::Status Remove(const std::string& id) override;
  absl::Status Copy(const std::string& id, SessionSink& to) override;
  absl::StatusOr<std::unique_ptr<SessionSink>> Put(const std::string& id) override;

 private:
  absl::StatusOr<bool> Exists(const std::string& id) override;
  absl::Status Make(SessionMetadata metadata) override;
  absl::Status Unmake(const SessionMetadata& metadata) override;

  PostgresPool pool_;
  const int64_t epoch_;
};

}  // namespace callslip::tracker
