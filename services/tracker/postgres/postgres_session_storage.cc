#include "tracker/postgres/postgres_session_storage.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "tracker/domain/session/session_errors.h"
#include "tracker/postgres/fence.h"
#include "tracker/postgres/postgres_session_record.h"
#include "tracker/storage/log_summary.h"
#include "tracker/storage/session_json.h"

namespace callslip::tracker {
namespace {

// Rows up to the one that fills the page.
constexpr char kList[] = R"sql(
  SELECT id, metadata, queue, max_seq FROM (
    SELECT id, metadata, queue, max_seq,
      sum(octet_length(metadata) + octet_length(queue)) OVER (ORDER BY id)
        - octet_length(metadata) - octet_length(queue) AS before
    FROM (SELECT id, metadata, coalesce(queue, '') AS queue, max_seq FROM callslip_sessions
          WHERE id > $1 ORDER BY id LIMIT 500) AS rows) AS page
  WHERE before < 16777216 ORDER BY id
)sql";
// Waits for a change in progress.
constexpr char kLoad[] =
    "SELECT metadata, coalesce(queue, ''), writes FROM callslip_sessions WHERE id = $1 FOR UPDATE";
// The count of changes starts above any count of a removed session with the same id.
constexpr char kInsert[] = CALLSLIP_FENCE
    ", made AS (INSERT INTO callslip_sessions (id, metadata, queue, max_seq, events, bytes, "
    "writes) "
    "SELECT $2, $3, NULL, 1, 1, $4, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint "
    "WHERE " CALLSLIP_IF_FENCED
    " ON CONFLICT DO NOTHING RETURNING 1), "
    "put AS (INSERT INTO callslip_events SELECT $2, 1, $5, $6 WHERE EXISTS (SELECT FROM made)) "
    "SELECT (SELECT count(*) FROM fence), (SELECT count(*) FROM made)";
constexpr char kRemove[] = CALLSLIP_FENCE
    ", gone AS (DELETE FROM callslip_sessions WHERE id = $2 AND writes = $3 AND " CALLSLIP_IF_FENCED
    " RETURNING 1), "
    "events AS (DELETE FROM callslip_events WHERE session = $2 AND EXISTS (SELECT FROM gone)), "
    "images AS (DELETE FROM callslip_images WHERE session = $2 AND EXISTS (SELECT FROM gone)) "
    "SELECT (SELECT count(*) FROM fence), (SELECT count(*) FROM gone)";

}  // namespace

absl::StatusOr<std::unique_ptr<PostgresConnection>> PostgresPool::TakeIdle() {
  MutexLock lock(&mutex_);
  for (auto& connection : waiting_) {
    if (connection->Settle() && connection->is_open() && idle_.size() < kKept) {
      idle_.push_back(std::move(connection));
    } else if (!connection->waits()) {
      connection = nullptr;
    }
  }
  std::erase(waiting_, nullptr);
  if (!idle_.empty()) {
    std::unique_ptr<PostgresConnection> connection = std::move(idle_.back());
    idle_.pop_back();
    return connection;
  }
  if (waiting_.size() < kMaxWaiting) return nullptr;
  return absl::UnavailableError(
      absl::StrCat("the database has not answered on ", waiting_.size(), " connections"));
}

void PostgresPool::GiveBack(std::unique_ptr<PostgresConnection> connection) {
  MutexLock lock(&mutex_);
  if (connection->waits()) {
    waiting_.push_back(std::move(connection));
    // If the server does not respond, the next caller would wait as long on each of the others.
    idle_.clear();
  } else if (!connection->is_open()) {
    // If one is unusable, the others probably are too.
    idle_.clear();
  } else if (idle_.size() < kKept) {
    idle_.push_back(std::move(connection));
  }
}

absl::StatusOr<PostgresResult> PostgresPool::Query(const char* sql,
                                                   const PostgresParameters& parameters) {
  ASSIGN_OR_RETURN(std::unique_ptr<PostgresConnection> connection, TakeIdle());
  if (connection == nullptr) {
    ASSIGN_OR_RETURN(connection, PostgresConnection::Open(url_, patience_.lock));
  }
  absl::StatusOr<PostgresResult> result = connection->Query(sql, parameters, patience_.statement);
  GiveBack(std::move(connection));
  return result;
}

absl::StatusOr<std::vector<SessionMetadata>> PostgresSessionStorage::List() {
  std::vector<SessionMetadata> sessions;
  std::string last;
  while (true) {
    const auto page = pool_.Query(kList, PostgresParameters().AddText(last));
    if (!page.ok()) return DatabaseFailed(page.status());
    if (page->rows() == 0) return sessions;
    for (int row = 0; row < page->rows(); ++row) {
      last = page->Text(row, 0);
      std::optional<SessionMetadata> metadata = DecodeMetadata(page->Bytes(row, 1));
      const bool has_queue = !page->Bytes(row, 2).empty();
      const std::optional<QueueFile> queue =
          has_queue ? DecodeQueue(page->Bytes(row, 2)) : QueueFile();
      if (!metadata.has_value() || !queue.has_value()) {
        sessions.push_back(Damaged(
            last, metadata,
            metadata.has_value() ? "its queue is not valid" : "its metadata are not valid"));
        continue;
      }
      if (metadata->max_seq != page->Int(row, 3)) {
        ASSIGN_OR_RETURN(LoadedSession loaded, Load(last));
        sessions.push_back(std::move(loaded.metadata));
        continue;
      }
      metadata->session_id = last;
      if (has_queue) metadata->queue = SummaryOf(*queue);
      sessions.push_back(*std::move(metadata));
    }
  }
}

absl::StatusOr<bool> PostgresSessionStorage::Exists(const std::string& id) {
  const auto row = pool_.Query("SELECT 1::bigint FROM callslip_sessions WHERE id = $1",
                               PostgresParameters().AddText(id));
  if (!row.ok()) return DatabaseFailed(row.status());
  return row->rows() > 0;
}

absl::Status PostgresSessionStorage::Unmake(const SessionMetadata& metadata) {
  // An insert that was given up may still wait for the standby, invisible to others. Another insert
  // with the same id waits for it, so that afterwards there is a session to remove.
  const absl::Status made = Make(metadata);
  if (!made.ok() && !absl::IsAlreadyExists(made)) return made;
  return Remove(metadata.session_id);
}

absl::Status PostgresSessionStorage::Make(SessionMetadata metadata) {
  std::vector<NewEvent> start;
  start.emplace_back(
      SessionStart{metadata.session_id, metadata.acp_server, metadata.working_dir, metadata.owner});
  ASSIGN_OR_RETURN(const std::vector<EncodedEvent> events,
                   EncodeEvents(1, metadata.created_at, std::move(start)));
  metadata.event_count = 1;
  metadata.log_bytes = static_cast<int64_t>(events.front().line.size());
  metadata.max_seq = 1;
  const auto made = pool_.Query(kInsert, PostgresParameters()
                                             .Add(epoch_)
                                             .AddText(metadata.session_id)
                                             .AddText(EncodeMetadata(metadata))
                                             .Add(metadata.log_bytes)
                                             .AddText(events.front().appended.event->type)
                                             .AddBytes(events.front().line));
  RETURN_IF_ERROR(CheckFence(made, epoch_));
  return made->Int(0, 1) == 1 ? absl::OkStatus() : SessionExists(metadata.session_id);
}

absl::StatusOr<LoadedSession> PostgresSessionStorage::Load(const std::string& id) {
  RETURN_IF_ERROR(CheckSessionId(id));
  const auto row = pool_.Query(kLoad, PostgresParameters().AddText(id));
  if (!row.ok()) return DatabaseFailed(row.status());
  if (row->rows() == 0) return SessionNotFound(id);
  const std::optional<SessionMetadata> known = DecodeMetadata(row->Bytes(0, 0));
  if (!known.has_value()) return StorageFailed("reading metadata, which are none,");
  LoadedSession loaded;
  if (!row->Bytes(0, 1).empty()) {
    std::optional<QueueFile> queue = DecodeQueue(row->Bytes(0, 1));
    if (!queue.has_value()) return StorageFailed("reading a queue that is not valid");
    loaded.messages = std::move(queue->messages);
    loaded.delivery = std::move(queue->delivery);
  }
  ASSIGN_OR_RETURN(PostgresSessionRecord::Extent extent, PostgresSessionRecord::Measure(pool_, id));
  // Read before Measure(): a change in between makes later changes of this record fail.
  extent.writes = row->Int(0, 2);
  LogSummary summary;
  RETURN_IF_ERROR(PostgresSessionRecord::ForEachLine(
      pool_, id, [&](const EventHead& head, absl::string_view line) { summary.See(head, line); }));
  std::move(summary).Complete(
      id, known, {.events = extent.events, .bytes = extent.bytes, .max_seq = extent.max_seq},
      loaded);
  loaded.metadata.image_bytes = extent.image_bytes;
  loaded.record = std::make_unique<PostgresSessionRecord>(&pool_, epoch_, id, extent);
  // If this fails, the next Load() recreates them with the same contents.
  if (known != loaded.metadata) loaded.record->SaveMetadata(loaded.metadata).IgnoreError();
  loaded.metadata.queue = SummaryOf({loaded.messages, loaded.delivery});
  return loaded;
}

absl::Status PostgresSessionStorage::Remove(const std::string& id) {
  RETURN_IF_ERROR(CheckSessionId(id));
  // Waits for a change in progress, so that the removal includes it.
  const auto held = pool_.Query(kLoad, PostgresParameters().AddText(id));
  if (!held.ok()) return DatabaseFailed(held.status());
  const bool is_there = held->rows() > 0;
  const int64_t writes = is_there ? held->Int(0, 2) : -1;
  const auto removed =
      pool_.Query(kRemove, PostgresParameters().Add(epoch_).AddText(id).Add(writes));
  RETURN_IF_ERROR(CheckFence(removed, epoch_));
  if (!is_there) return SessionNotFound(id);
  if (removed->Int(0, 1) == 1) return absl::OkStatus();
  return StorageFailed("removing a session that has changed meanwhile");
}

}  // namespace callslip::tracker
