#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/live_set.h"
#include "common/mutex.h"
#include "common/timer_thread.h"
#include "tracker/domain/client_scope.h"
#include "tracker/domain/session/session_table.h"

namespace callslip::tracker {

// A call that lasts until an event, and that the tracker's shutdown ends.
class LastingCall {
 public:
  virtual ~LastingCall() = default;
  // Answers the call with what it has, or with `status`. Any thread.
  virtual void End(const absl::Status& status) = 0;

 private:
  friend class SessionCaller;
  LiveSet<std::weak_ptr<LastingCall>>::Place place_;
};

// Gives callers access to the sessions that they may see. All others are unknown. Thread-safe.
class SessionCaller {
 public:
  template <typename T>
  using Call = std::function<absl::StatusOr<T>(Session&, absl::Time now)>;
  template <typename T>
  using Done = std::function<void(absl::StatusOr<T>)>;

  // `table` must outlive this.
  SessionCaller(SessionTable* table, std::shared_ptr<TimerThread> timers)
      : table_(table), timers_(std::move(timers)) {}
  // Waits for the calls in progress, because their callbacks may use objects that are about to be
  // destroyed.
  ~SessionCaller() { AwaitCalls(); }

  // SessionNotFound unless the session belongs to `clients`.
  absl::StatusOr<SessionMetadata> Get(const ClientScope& clients, const std::string& session_id);

  // The session `by_session_id`, whose agent makes the call; nullopt if the id is empty.
  // SessionNotFound, SessionEnded.
  absl::StatusOr<std::optional<SessionMetadata>> GetActing(const ClientScope& clients,
                                                           const std::string& by_session_id);

  // Whether more can be recorded in a session of `clients`. SessionNotFound, TooManyLogBytes.
  absl::Status CheckRoom(const ClientScope& clients, const std::string& session_id);

  // SessionTable::With() for a session of `clients`.
  template <typename T>
  void With(const ClientScope& clients, const std::string& session_id, Call<T> call, Done<T> done) {
    if (const absl::Status known = CheckKnown(clients, session_id); !known.ok()) return done(known);
    table_->With<T>(
        session_id,
        [clients, call = std::move(call)](Session& session, absl::Time now) -> absl::StatusOr<T> {
          if (!clients.Covers(session.metadata().owner)) return Unknown(session.metadata());
          return call(session, now);
        },
        [under_way = BeginCall(), done = std::move(done)](absl::StatusOr<T> result) {
          done(std::move(result));
        });
  }

  // Makes a call that cleans up after a caller that leaves, for any client and however long the
  // storage is busy.
  void Leave(const std::string& session_id, std::function<void(Session&)> call);

  // Registers a call that EndCalls() must end; if the shutdown has begun, ends it at once and
  // returns false.
  bool Hold(const std::shared_ptr<LastingCall>& call);
  // Ends all of them, now and later.
  void EndCalls(const absl::Status& status);
  // Counts a call as in progress until the returned object is released.
  std::shared_ptr<void> BeginCall();
  void AwaitCalls();

  SessionTable& table() { return *table_; }
  TimerThread& timers() { return *timers_; }

 private:
  static absl::Status Unknown(const SessionMetadata& session);
  // As Get(), but accepts a session whose owner is unknown: its thread checks that.
  absl::Status CheckKnown(const ClientScope& clients, const std::string& session_id);

  SessionTable* const table_;
  const std::shared_ptr<TimerThread> timers_;
  Mutex mutex_;
  CondVar idle_;
  int64_t under_way_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status ended_ ABSL_GUARDED_BY(mutex_);  // Not OK after EndCalls().
  LiveSet<std::weak_ptr<LastingCall>> lasting_;
};

}  // namespace callslip::tracker
