#pragma once

#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "tracker/domain/session/agent_needs.h"
#include "tracker/domain/session/session.h"
#include "tracker/domain/session/session_catalog.h"
#include "tracker/domain/session/session_limits.h"
#include "tracker/domain/session/session_notices.h"
#include "tracker/domain/session/session_storage.h"

namespace callslip::tracker {

// One thread and the sessions that belong to it. It works in rounds: takes the waiting calls, makes
// them one after the other, then lets each called session commit, which answers the calls. So the
// appends of one round share one sync of their log (group commit), and the calls of one session
// need no lock.
//
// Sessions are loaded when they are called, and unloaded when they have no followers and others
// were called since. A session whose storage fails is dropped, as if the process had been
// restarted: its observers must subscribe again, and the next call loads what is really stored.
class SessionThread {
 public:
  // On the thread. `session` is an error if it could not be loaded.
  using Call = std::function<void(absl::StatusOr<Session*> session, absl::Time now)>;

  // Called for a session that has ended or was removed, possibly repeatedly.
  using Gone = std::function<void(const std::string& id)>;

  SessionThread(SessionStorage* storage, SessionCatalog* catalog, SessionNotices* notices,
                AgentNeeds* needs, Clock* clock, const SessionLimits& limits,
                const QueueDefaults& defaults, Gone gone);
  // As Stop().
  ~SessionThread() { Stop(); }
  // Makes the waiting calls, then ends everything in progress with Draining. Later calls are
  // refused.
  void Stop();

  // Any thread; never block. Return false, and drop the call, if too many wait.
  bool Do(std::string session_id, Call call);
  // Creates the session and then makes the call.
  bool Create(SessionMetadata metadata, Call call);
  // Ends the session, however many calls wait.
  void End(std::string session_id, std::string reason);
  // Ends everything in progress in the session and removes it, if `condition` holds then; null:
  // always.
  using Condition = std::function<bool(const SessionMetadata& session)>;
  bool Remove(std::string session_id, std::function<void(absl::Status)> done,
              Condition condition = nullptr);

 private:
  struct Loaded {
    std::unique_ptr<Session> session;
    bool touched = false;  // In this round.
    absl::Time timer = absl::InfiniteFuture();
    std::list<std::string>::iterator use;
  };
  using Task = std::function<void(absl::Time now)>;
  // The waiting calls. Objects that outlive the thread, such as a feed, hold no more of it than
  // this.
  struct Mailbox {
    explicit Mailbox(Clock* clock) : sleeper(clock->NewSleeper()) {}
    // Returns false if `limit` tasks wait already, or the thread is stopping.
    bool Post(Task task, size_t limit);

    const std::unique_ptr<Sleeper> sleeper;
    Mutex mutex;
    std::deque<Task> tasks ABSL_GUARDED_BY(mutex);
    bool stop ABSL_GUARDED_BY(mutex) = false;
  };
  // Appends that share a sync, and the delay that one session can cause for others.
  static constexpr size_t kCallsOfRound = 512;

  bool Post(Task task) { return mailbox_->Post(std::move(task), limits_.waiting_calls); }
  std::vector<Task> TakeTasks();
  void Run();
  void FireTimers(absl::Time now);
  void EndRound(absl::Time now);
  absl::StatusOr<Session*> Find(const std::string& id, absl::Time now);
  Session* Keep(LoadedSession loaded, absl::Time now);
  void Touch(const std::string& id, Loaded& loaded);
  void SetTimer(const std::string& id, Loaded& loaded, absl::Time time);
  void Drop(const std::string& id, const absl::Status& status);
  // Closes files and unloads idle sessions, of those that others have pushed beyond the limits in
  // this round.
  void UnloadIdle(size_t pushed);
  absl::Status DoRemove(const std::string& id, const Condition& condition, absl::Time now);
  // Removes it from all lists, and notifies the followers of its owner's sessions.
  void Forget(const std::string& id);

  SessionStorage* const storage_;
  SessionCatalog* const catalog_;
  SessionNotices* const notices_;
  AgentNeeds* const needs_;
  Clock* const clock_;
  const SessionLimits limits_;
  const QueueDefaults defaults_;
  const Gone gone_;
  const std::shared_ptr<Mailbox> mailbox_;

  // Used only on the thread.
  AgentAnswers answers_;
  absl::flat_hash_map<std::string, Loaded> sessions_;
  std::list<std::string> uses_;  // Of `sessions_`, most recently called first.
  std::set<std::pair<absl::Time, std::string>> timers_;
  std::vector<std::string> touched_;

  std::thread thread_;
};

}  // namespace callslip::tracker
