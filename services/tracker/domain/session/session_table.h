#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "tracker/domain/session/agent_needs.h"
#include "tracker/domain/session/session.h"
#include "tracker/domain/session/session_catalog.h"
#include "tracker/domain/session/session_limits.h"
#include "tracker/domain/session/session_metadata.h"
#include "tracker/domain/session/session_notices.h"
#include "tracker/domain/session/session_storage.h"
#include "tracker/domain/session/session_thread.h"

namespace callslip::tracker {

// All sessions of a tracker. Finds the thread that a session belongs to and makes the calls there
// (see SessionThread), so that no caller ever waits for a disk.
//
// Thread-safe; no call blocks. A callback is called once, with the result when it is durable, or
// with an error: on the session's thread, or at once on the caller's if that thread is not needed.
// It must not block. StorageBusy if too many calls wait; SessionNotFound; StorageFailed, after
// which it is not known what was stored; Draining while the table is being destroyed.
class SessionTable {
 public:
  template <typename T>
  using Done = std::function<void(absl::StatusOr<T>)>;

  // Reads the list of sessions. `storage` and `clock` must outlive the table. StorageFailed.
  static absl::StatusOr<std::unique_ptr<SessionTable>> Open(SessionStorage* storage, Clock* clock,
                                                            const SessionLimits& limits = {},
                                                            const QueueDefaults& defaults = {},
                                                            int threads = kSessionThreads);

  ~SessionTable();

  // Records its session_start. InvalidField, SessionExists, TooManySessions, TooManyLogBytes; for a
  // child also SessionNotFound and SessionEnded of its parent, TooDeep, TooManyChildren.
  void Create(SessionRequest request, Done<SessionMetadata> done);
  // The stored metadata, from memory. SessionNotFound.
  absl::StatusOr<SessionMetadata> Get(const std::string& id) { return catalog_.Get(id); }
  // Whether its owner may record more. SessionNotFound, TooManyLogBytes.
  absl::Status CheckRoom(const std::string& id) { return catalog_.CheckRoom(id); }
  // Newest first. `page_size` 0 means the default. InvalidPageToken.
  absl::StatusOr<SessionPage> List(const SessionFilter& filter, int page_size,
                                   const std::string& page_token) {
    return catalog_.List(filter, page_size, page_token);
  }
  // Removes the session with all of its data, and notifies its followers.
  void Delete(const std::string& id, std::function<void(absl::Status)> done);

  // Everything else: makes `call`, which is any of Session's methods or several of them as one
  // step, on the session's thread. For example:
  //
  //   table.With<QueuedMessage>(
  //       id, [](Session& session, absl::Time now) { return session.PopMessage(); }, done);
  template <typename T>
  void With(const std::string& id, std::function<absl::StatusOr<T>(Session&, absl::Time now)> call,
            Done<T> done);
  // As above, for calls that return no value.
  void Run(const std::string& id, std::function<absl::Status(Session&, absl::Time now)> call,
           std::function<void(absl::Status)> done);

  // Begins to delete the sessions and to shorten the logs that are beyond `retention`. Call now and
  // then.
  void ApplyRetention(const SessionRetention& retention, absl::Time now);

  size_t sessions() { return catalog_.size(); }
  // Sessions that have not ended.
  int64_t active_sessions() { return catalog_.active(); }
  // See SessionCatalog::AgentCounts().
  std::array<int64_t, kAgentStatusCount> AgentCounts() { return catalog_.AgentCounts(); }
  // Events that were added to the logs since the start.
  int64_t appended_events() { return catalog_.appended_events(); }

  // Notices of all sessions of an owner: their changes, but not their events.
  SessionNotices& notices() { return notices_; }

  // Notifies which sessions need their agent from now on; the others return those that need it now,
  // newest first and without the details of their agents.
  AgentNeeds& agent_needs() { return agent_needs_; }
  std::vector<SessionMetadata> ThatNeedAgent() { return catalog_.ThatNeedAgent(); }
  std::vector<SessionMetadata> ChildrenThatNeedAgent(const std::string& parent_id) {
    return catalog_.ChildrenThatNeedAgent(parent_id);
  }

 private:
  SessionTable(Clock* clock, const SessionLimits& limits)
      : clock_(clock), catalog_(limits), notices_(limits) {}

  SessionThread& ThreadOf(const std::string& id);
  // Deletes it, unless it is too young when its thread gets to it.
  void DeleteOld(const std::string& id, const SessionRetention& retention, absl::Time now);
  // Ends the children of a session that has ended or was removed, unless they are detached.
  void EndChildren(const std::vector<std::string>& ids);
  // SessionNotFound, or why the call won't be made; OK if it will.
  absl::Status Post(const std::string& id, SessionThread::Call call);

  Clock* const clock_;
  SessionCatalog catalog_;
  SessionNotices notices_;
  AgentNeeds agent_needs_;
  std::vector<std::unique_ptr<SessionThread>> threads_;
};

template <typename T>
void SessionTable::With(const std::string& id,
                        std::function<absl::StatusOr<T>(Session&, absl::Time now)> call,
                        Done<T> done) {
  // Shared by the two paths below.
  const auto answer = std::make_shared<Done<T>>(std::move(done));
  const absl::Status posted =
      Post(id, [call = std::move(call), answer](absl::StatusOr<Session*> session, absl::Time now) {
        if (!session.ok()) return (*answer)(session.status());
        absl::StatusOr<T> result = call(**session, now);
        (*session)->AfterCommit(
            [answer, result = std::move(result)](const absl::Status& committed) mutable {
              (*answer)(committed.ok() || !result.ok() ? std::move(result) : committed);
            });
      });
  if (!posted.ok()) (*answer)(posted);
}

}  // namespace callslip::tracker
