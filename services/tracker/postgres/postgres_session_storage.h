#ifndef CALLSLIP_TRACKER_POSTGRES_POSTGRES_SESSION_STORAGE_H_
#define CALLSLIP_TRACKER_POSTGRES_POSTGRES_SESSION_STORAGE_H_

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

// How long statements of sessions may take; a test has less patience.
struct PostgresPatience {
  absl::Duration statement = PostgresConnection::kLongestStatement;
  absl::Duration lock = PostgresConnection::kLongestLock;
};

// The connections of those who read and write sessions in one database. Thread-safe.
class PostgresPool {
 public:
  explicit PostgresPool(std::string url, PostgresPatience patience = {})
      : url_(std::move(url)), patience_(patience) {}

  // What `statement` answers on a connection that works. As PostgresConnection::Query().
  absl::StatusOr<PostgresResult> Query(const char* sql, const PostgresParameters& parameters);

 private:
  // As many as threads that read and write sessions.
  static constexpr size_t kKept = 16;
  // Those that the server has not answered in time, as where the standby is away: one for each
  // thread again, so that a database keeps most of the connections that it has for others.
  static constexpr size_t kMostWaiting = 16;

  // One that works, or none. UNAVAILABLE where too many wait.
  absl::StatusOr<std::unique_ptr<PostgresConnection>> TakeIdle();
  void GiveBack(std::unique_ptr<PostgresConnection> connection);

  const std::string url_;
  const PostgresPatience patience_;
  Mutex mutex_;
  std::vector<std::unique_ptr<PostgresConnection>> idle_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<PostgresConnection>> waiting_ ABSL_GUARDED_BY(mutex_);
};

// Sessions in the tables of a cell, as the owner of an epoch writes them: the same lines and texts
// that are files on one machine (see FileSessionStorage), so that a field is added in one place.
//
// Every change is one statement that locks the cell's epoch, to be shared, and the session's row:
// the one who takes the cell over waits for it, and nothing is written under the epoch of before.
// Loading locks the row as well, so that a change whose answer was lost is over by then; and the
// row counts its changes, each of which wants the count that loading has seen or made: one that
// comes later all the same, from a server or a network that was slow, changes nothing any more.
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
  // One whose texts mean nothing, as lists have it.
  static SessionMetadata Damaged(const std::string& id,
                                 const std::optional<SessionMetadata>& known);
  absl::StatusOr<bool> Exists(const std::string& id) override;
  absl::Status Make(SessionMetadata metadata) override;
  absl::Status Unmake(const SessionMetadata& metadata) override;

  PostgresPool pool_;
  const int64_t epoch_;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_POSTGRES_POSTGRES_SESSION_STORAGE_H_
