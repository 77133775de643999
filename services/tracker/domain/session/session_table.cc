#include "tracker/domain/session/session_table.h"

#include <functional>
#include <variant>

#include "common/status_macros.h"
#include "tracker/domain/errors.h"
#include "tracker/domain/session/session_errors.h"

namespace callslip::tracker {
namespace {

absl::Status Check(const SessionRequest& request) {
  if (!request.session_id.empty()) RETURN_IF_ERROR(CheckSessionId(request.session_id));
  if (!request.parent_session_id.empty()) {
    RETURN_IF_ERROR(CheckSessionId(request.parent_session_id));
  }
  RETURN_IF_ERROR(CheckSize("name", request.name, kMaxSessionNameBytes));
  RETURN_IF_ERROR(CheckClientId("owner", request.owner));
  RETURN_IF_ERROR(CheckSize("acp_server", request.acp_server, kMaxSessionNameBytes));
  return CheckSize("working_dir", request.working_dir, kMaxWorkingDirBytes);
}

// A session that can't be read is kept, because its content is unknown.
bool IsOld(const SessionMetadata& session, const SessionRetention& retention, absl::Time now) {
  return retention.keep_ended > absl::ZeroDuration() && session.damage.empty() &&
         session.state == SessionState::kCompleted &&
         session.updated_at + retention.keep_ended <= now;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SessionTable>> SessionTable::Open(SessionStorage* storage,
                                                                 Clock* clock,
                                                                 const SessionLimits& limits,
                                                                 const QueueDefaults& defaults,
                                                                 int threads) {
  ASSIGN_OR_RETURN(std::vector<SessionMetadata> sessions, storage->List());
  std::unique_ptr<SessionTable> table(new SessionTable(clock, limits));
  for (SessionMetadata& session : sessions) {
    session.needs_agent = HasWork(session, defaults.enabled);
    table->catalog_.Set(std::move(session));
  }
  for (int i = 0; i < threads; ++i) {
    table->threads_.push_back(std::make_unique<SessionThread>(
        storage, &table->catalog_, &table->notices_, &table->agent_needs_, clock, limits, defaults,
        [raw = table.get()](const std::string& id) {
          raw->EndChildren(raw->catalog_.ChildrenToEnd(id));
        }));
  }
  // The tracker may have stopped between the end of a session and that of its children.
  table->EndChildren(table->catalog_.ChildrenToEnd());
  return table;
}

SessionTable::~SessionTable() {
  // The threads call each other.
  for (const auto& thread : threads_) thread->Stop();
}

void SessionTable::Create(SessionRequest request, Done<SessionMetadata> done) {
  if (const absl::Status checked = Check(request); !checked.ok()) return done(checked);
  const absl::Time now = clock_->Now();
  const std::string id = request.session_id.empty() ? NewSessionId(now) : request.session_id;
  absl::StatusOr<int> depth = 0;
  if (request.parent_session_id.empty()) {
    const absl::Status reserved = catalog_.Reserve(id, request.owner);
    if (!reserved.ok()) return done(reserved);
  } else {
    depth = catalog_.ReserveChild(id, request.owner, request.parent_session_id);
    if (!depth.ok()) return done(depth.status());
  }
  SessionMetadata metadata{.session_id = id,
                           .name = std::move(request.name),
                           .owner = std::move(request.owner),
                           .acp_server = std::move(request.acp_server),
                           .working_dir = std::move(request.working_dir),
                           .created_at = now,
                           .updated_at = now,
                           .parent_session_id = std::move(request.parent_session_id),
                           .depth = *depth,
                           .detached = request.detached,
                           .maker = std::move(request.maker),
                           .only_runner = std::move(request.only_runner)};
  const auto answer = std::make_shared<Done<SessionMetadata>>(std::move(done));
  const bool posted = ThreadOf(id).Create(
      std::move(metadata), [this, id, answer](absl::StatusOr<Session*> session, absl::Time) {
        if (!session.ok()) {
          catalog_.Release(id);
          return (*answer)(session.status());
        }
        const SessionMetadata& created = (*session)->metadata();
        catalog_.Set(created);
        // Its parent may have ended meanwhile.
        EndChildren(catalog_.ChildrenToEnd(created.parent_session_id));
        notices_.Publish({SessionAction::kCreated, created});
        (*answer)(created);
      });
  if (posted) return;
  catalog_.Release(id);
  (*answer)(StorageBusy());
}

void SessionTable::Delete(const std::string& id, std::function<void(absl::Status)> done) {
  if (const absl::Status known = catalog_.Get(id).status(); !known.ok()) return done(known);
  if (!ThreadOf(id).Remove(id, done)) done(StorageBusy());
}

void SessionTable::Run(const std::string& id,
                       std::function<absl::Status(Session&, absl::Time now)> call,
                       std::function<void(absl::Status)> done) {
  With<std::monostate>(
      id,
      [call = std::move(call)](Session& session, absl::Time now) -> absl::StatusOr<std::monostate> {
        RETURN_IF_ERROR(call(session, now));
        return std::monostate();
      },
      [done = std::move(done)](const absl::StatusOr<std::monostate>& result) {
        done(result.status());
      });
}

void SessionTable::EndChildren(const std::vector<std::string>& ids) {
  for (const std::string& id : ids) ThreadOf(id).End(id, "parent_ended");
}

void SessionTable::DeleteOld(const std::string& id, const SessionRetention& retention,
                             absl::Time now) {
  // It may be resumed before its thread gets to this.
  ThreadOf(id).Remove(
      id, [](const absl::Status&) {},
      [retention, now](const SessionMetadata& session) { return IsOld(session, retention, now); });
}

void SessionTable::ApplyRetention(const SessionRetention& retention, absl::Time now) {
  std::string token;
  do {
    const SessionPage page = *List({.with_archived = true}, kMaxSessionPage, token);
    for (const SessionMetadata& session : page.sessions) {
      const bool long_log =
          (retention.max_events > 0 && session.event_count > retention.max_events) ||
          (retention.max_bytes > 0 && session.log_bytes > retention.max_bytes);
      if (IsOld(session, retention, now)) {
        DeleteOld(session.session_id, retention, now);
      } else if (long_log) {
        With<int64_t>(
            session.session_id,
            [retention](Session& live, absl::Time) { return live.Prune(retention); },
            [](const absl::StatusOr<int64_t>&) {});
      }
    }
    token = page.next_page_token;
  } while (!token.empty());
}

SessionThread& SessionTable::ThreadOf(const std::string& id) {
  return *threads_[std::hash<std::string>()(id) % threads_.size()];
}

absl::Status SessionTable::Post(const std::string& id, SessionThread::Call call) {
  RETURN_IF_ERROR(catalog_.Get(id).status());
  return ThreadOf(id).Do(id, std::move(call)) ? absl::OkStatus() : StorageBusy();
}

}  // namespace callslip::tracker
