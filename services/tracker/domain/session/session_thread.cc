#include "tracker/domain/session/session_thread.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "common/status_macros.h"
#include "tracker/domain/errors.h"
#include "tracker/domain/session/session_errors.h"

namespace callslip::tracker {

SessionThread::SessionThread(SessionStorage* storage, SessionCatalog* catalog,
                             SessionNotices* notices, AgentNeeds* needs, Clock* clock,
                             const SessionLimits& limits, const QueueDefaults& defaults, Gone gone)
    : storage_(storage),
      catalog_(catalog),
      notices_(notices),
      needs_(needs),
      clock_(clock),
      limits_(limits),
      defaults_(defaults),
      gone_(std::move(gone)),
      mailbox_(std::make_shared<Mailbox>(clock)),
      answers_(limits) {
  thread_ = std::thread([this] { Run(); });
}

void SessionThread::Stop() {
  if (!thread_.joinable()) return;
  {
    MutexLock lock(&mailbox_->mutex);
    mailbox_->stop = true;
  }
  mailbox_->sleeper->Wake();
  thread_.join();
}

bool SessionThread::Do(std::string session_id, Call call) {
  return Post([this, id = std::move(session_id), call = std::move(call)](absl::Time now) {
    call(Find(id, now), now);
  });
}

void SessionThread::End(std::string session_id, std::string reason) {
  mailbox_->Post(
      [this, id = std::move(session_id), reason = std::move(reason)](absl::Time now) {
        const absl::StatusOr<Session*> session = Find(id, now);
        // A failure here is repaired when the tracker starts.
        if (session.ok()) (*session)->End(reason, now).IgnoreError();
      },
      std::numeric_limits<size_t>::max());
}

bool SessionThread::Create(SessionMetadata metadata, Call call) {
  return Post([this, metadata = std::move(metadata), call = std::move(call)](absl::Time now) {
    absl::StatusOr<LoadedSession> created = storage_->Create(metadata);
    if (!created.ok()) return call(created.status(), now);
    call(Keep(*std::move(created), now), now);
  });
}

bool SessionThread::Remove(std::string session_id, std::function<void(absl::Status)> done,
                           Condition condition) {
  return Post(
      [this, id = std::move(session_id), done = std::move(done),
       condition = std::move(condition)](absl::Time now) { done(DoRemove(id, condition, now)); });
}

absl::Status SessionThread::DoRemove(const std::string& id, const Condition& condition,
                                     absl::Time now) {
  // Earlier calls get their answers first.
  const auto found = sessions_.find(id);
  const absl::Status committed =
      found == sessions_.end() ? absl::OkStatus() : found->second.session->Commit(now);
  if (condition != nullptr && !committed.ok()) {
    Drop(id, committed);
    return committed;
  }
  if (condition != nullptr) {
    ASSIGN_OR_RETURN(const SessionMetadata session, catalog_->Get(id));
    if (!condition(session)) return absl::OkStatus();
  }
  if (found != sessions_.end()) Drop(id, committed.ok() ? SessionNotFound(id) : committed);
  absl::Status removed = storage_->Remove(id);
  if (removed.ok() || absl::IsNotFound(removed)) Forget(id);
  return removed;
}

void SessionThread::Forget(const std::string& id) {
  const absl::StatusOr<SessionMetadata> known = catalog_->Get(id);
  if (!known.ok()) return;
  catalog_->Remove(id);
  answers_.Forget(id);
  SessionNotice notice{.action = SessionAction::kDeleted};
  notice.session.session_id = id;
  notice.session.owner = known->owner;
  notices_->Publish(std::move(notice));
  needs_->Deleted(id);
  gone_(id);
}

bool SessionThread::Mailbox::Post(Task task, size_t limit) {
  {
    MutexLock lock(&mutex);
    if (stop || tasks.size() >= limit) return false;
    tasks.push_back(std::move(task));
    if (tasks.size() > 1) return true;  // The first task has woken the thread.
  }
  sleeper->Wake();
  return true;
}

std::vector<SessionThread::Task> SessionThread::TakeTasks() {
  MutexLock lock(&mailbox_->mutex);
  std::deque<Task>& tasks = mailbox_->tasks;
  const auto end =
      tasks.begin() + static_cast<std::ptrdiff_t>(std::min(tasks.size(), kCallsOfRound));
  std::vector<Task> taken(std::make_move_iterator(tasks.begin()), std::make_move_iterator(end));
  tasks.erase(tasks.begin(), end);
  return taken;
}

void SessionThread::Run() {
  while (true) {
    const std::vector<Task> tasks = TakeTasks();
    const absl::Time now = clock_->Now();
    for (const Task& task : tasks) task(now);
    FireTimers(now);
    EndRound(now);
    if (!tasks.empty()) continue;
    {
      MutexLock lock(&mailbox_->mutex);
      if (!mailbox_->tasks.empty()) continue;
      if (mailbox_->stop) break;
    }
    mailbox_->sleeper->SleepUntil(timers_.empty() ? absl::InfiniteFuture()
                                                  : timers_.begin()->first);
  }
  while (!uses_.empty()) Drop(std::string(uses_.front()), Draining());
}

void SessionThread::FireTimers(absl::Time now) {
  while (!timers_.empty() && timers_.begin()->first <= now) {
    const std::string id = timers_.begin()->second;
    Loaded& loaded = sessions_.at(id);
    SetTimer(id, loaded, absl::InfiniteFuture());
    Touch(id, loaded);
  }
}

void SessionThread::EndRound(absl::Time now) {
  const std::vector<std::string> touched = std::exchange(touched_, {});
  for (const std::string& id : touched) {
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) continue;  // Removed in this round.
    Loaded& loaded = found->second;
    loaded.touched = false;
    loaded.session->Advance(now);
    if (const absl::Status committed = loaded.session->Commit(now); !committed.ok()) {
      Drop(id, committed);
      continue;
    }
    SetTimer(id, loaded, loaded.session->NextTime());
  }
  UnloadIdle(touched.size());
}

absl::StatusOr<Session*> SessionThread::Find(const std::string& id, absl::Time now) {
  if (const auto found = sessions_.find(id); found != sessions_.end()) {
    Touch(id, found->second);
    return found->second.session.get();
  }
  absl::StatusOr<LoadedSession> loaded = storage_->Load(id);
  if (absl::IsNotFound(loaded.status())) Forget(id);
  RETURN_IF_ERROR(loaded.status());
  if (const auto known = catalog_->Get(id); known.ok()) KeepUnstored(*known, loaded->metadata);
  Session* const session = Keep(*std::move(loaded), now);
  // It can be read now, even if it could not before.
  catalog_->Set(session->metadata());
  return session;
}

Session* SessionThread::Keep(LoadedSession loaded, absl::Time now) {
  const std::string id = loaded.metadata.session_id;
  const std::weak_ptr<Mailbox> mailbox = mailbox_;
  Session::Later later = [this, mailbox, id](std::function<void(Session&, absl::Time)> call) {
    const std::shared_ptr<Mailbox> thread = mailbox.lock();
    if (thread == nullptr) return;
    // Without a limit, because each observer has one such call at a time.
    thread->Post(
        [this, id, call = std::move(call)](absl::Time then) {
          const auto found = sessions_.find(id);
          if (found == sessions_.end()) return;
          Touch(id, found->second);
          call(*found->second.session, then);
        },
        std::numeric_limits<size_t>::max());
  };
  Loaded& kept = sessions_[id];
  kept.session = std::make_unique<Session>(
      std::move(loaded), limits_, defaults_, std::move(later),
      [this](const SessionMetadata& metadata) {
        catalog_->Set(metadata);
        if (metadata.state != SessionState::kActive) gone_(metadata.session_id);
      },
      notices_, needs_, &answers_, now);
  kept.use = uses_.insert(uses_.begin(), id);
  Touch(id, kept);
  return kept.session.get();
}

void SessionThread::Touch(const std::string& id, Loaded& loaded) {
  uses_.splice(uses_.begin(), uses_, loaded.use);
  if (std::exchange(loaded.touched, true)) return;
  touched_.push_back(id);
}

void SessionThread::SetTimer(const std::string& id, Loaded& loaded, absl::Time time) {
  if (loaded.timer == time) return;
  if (loaded.timer != absl::InfiniteFuture()) timers_.erase({loaded.timer, id});
  loaded.timer = time;
  if (time != absl::InfiniteFuture()) timers_.insert({time, id});
}

void SessionThread::Drop(const std::string& id, const absl::Status& status) {
  const auto found = sessions_.find(id);
  SetTimer(id, found->second, absl::InfiniteFuture());
  uses_.erase(found->second.use);
  const std::unique_ptr<Session> session = std::move(found->second.session);
  sessions_.erase(found);
  if (status.ok() || absl::IsUnavailable(status)) session->SaveCounters();
  session->Abandon(status);
}

void SessionThread::UnloadIdle(size_t pushed) {
  // Each call moves its session to the front, and at most one session beyond a limit.
  const auto is_behind = [&](size_t place, size_t bound) {
    return place >= bound && place < bound + pushed;
  };
  const size_t last = std::max(limits_.open_files, limits_.idle_sessions) + pushed;
  std::vector<std::string> unload;
  size_t place = 0;
  for (auto id = uses_.begin(); id != uses_.end() && place < last; ++id, ++place) {
    Session& session = *sessions_.at(*id).session;
    if (is_behind(place, limits_.open_files)) session.CloseFiles();
    if (is_behind(place, limits_.idle_sessions) && session.idle()) unload.push_back(*id);
  }
  for (const std::string& id : unload) Drop(id, absl::OkStatus());
}

}  // namespace callslip::tracker
