#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "callslip/tracker/v1/runner_service.pb.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "common/timer_thread.h"
#include "tracker/domain/runner/runner_table.h"
#include "tracker/domain/session/agent_needs.h"
#include "tracker/domain/session/session_caller.h"
#include "tracker/rpc/runner_controls.h"
#include "tracker/rpc/runner_stream.h"
#include "tracker/rpc/session_tokens.h"
#include "tracker/server/async_server.h"
#include "tracker/server/call_context.h"
#include "tracker/server/server_stream.h"

namespace callslip::tracker {

// RunnerService: assigns sessions to runners, from the needs of sessions and the offers of runners.
// The contract is in runner_service.proto. Must outlive the server that it serves on and the calls
// of `sessions`.
class RunnerService final : public AgentNeedsListener {
 public:
  static constexpr char kName[] = "callslip.tracker.v1.RunnerService";

  // Listens to the needs of sessions from now on. Sessions that a runner had before stay reserved
  // for that runner.
  RunnerService(Clock* clock, SessionCaller* sessions, std::shared_ptr<TimerThread> timers);

  // Call after the server was started with the service kName added to it.
  void ServeOn(AsyncServer& server);

  // For the tracker's shutdown: no runner loses a session any more, and waiting calls are ended.
  void Drain();
  // Stops listening to sessions.
  void Stop() { sessions_->table().agent_needs().SetListener(nullptr); }

  std::vector<RunnerInfo> Runners();
  RunnerCounts Count();

  // For code that changes a session. Thread-safe.

  // The session's agent, as maker of other sessions and of messages.
  Maker MakerOf(const SessionMetadata& session);
  // The runner that serves this session, which is about to be created, and no other; empty: none.
  // Once the session is created, it belongs to that runner.
  std::string OnlyRunnerOf(const std::string& session_id, const std::string& owner);
  void Reserve(const SessionMetadata& session);
  // Whether this agent may have the session; a session without an id is new. See
  // RunnerTable::CheckChild().
  absl::Status CheckChild(const Maker& maker, const SessionNeed& session);
  // The same for a session to which it writes. RunnerAway if no runner has the agent's own session.
  // OtherRunner if the session waits for other runners than the agent's.
  absl::Status CheckWrites(const Maker& maker, const SessionNeed& session);
  // Whether a call with this lease may act for the session's runner: see RunnerTable::CheckLease().
  // Call it on the session's thread, so that actions of a new runner come after it.
  absl::Status CheckLease(Session& session, int64_t lease);

  void OnNeeded(const SessionMetadata& session) override;
  void OnEnded(const SessionMetadata& session) override;
  void OnDeleted(const std::string& session_id) override;

 private:
  using RunnerStreamPtr = std::shared_ptr<RunnerStream>;
  // Sessions to announce to runners once the lock is released.
  using ToTell = std::vector<std::pair<RunnerStreamPtr, std::string>>;
  // What happens to the turn of a session that has lost its runner.
  enum class Turn { kGoesOn, kFails };

  StreamMethod<v1::ServeRequest, v1::Assignment> Serve;
  absl::Status Connect(const ClientScope& clients, const v1::ServeRequest& request,
                       const RunnerStreamPtr& stream);
  void Left(const std::string& runner_id, const std::weak_ptr<RunnerStream>& stream);

  HeldMethod<v1::SetAgentStateRequest, v1::AgentState> SetState;
  UnaryMethod<v1::ReleaseSessionRequest, v1::ReleaseSessionResponse> Release;
  HeldMethod<v1::IssueSessionTokenRequest, v1::IssueSessionTokenResponse> IssueToken;
  UnaryMethod<v1::FindSessionTokensRequest, v1::FindSessionTokensResponse> FindTokens;
  UnaryMethod<v1::ListRunnersRequest, v1::ListRunnersResponse> List;

  HeldMethod<v1::ControlAgentRequest, v1::AgentState> ControlAgent;
  void BeginControl(const SessionMetadata& session, const v1::AgentControl& control,
                    const Reply<v1::AgentState>& reply);
  // The runner that the session is for and that is not connected; empty: none.
  std::string RunnerAwayFor(const SessionNeed& session);
  HeldMethod<v1::AnswerControlRequest, v1::AnswerControlResponse> AnswerControl;

  // The runner that has the session with that lease. NotAssigned, RunnerAway.
  absl::StatusOr<std::string> RunnerWith(const std::string& session_id, int64_t lease);
  // Assigns a session to a runner if it has none, and adds the announcement to `to_tell`: its
  // stream is null if there is no runner or it is not connected. Sessions that wait for it, since
  // the session's agent created them or wrote to them, can then go to the same runner.
  void AssignLocked(const SessionMetadata& session, ToTell& to_tell)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AssignRelativesLocked(const SessionMetadata& session, ToTell& to_tell)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  RunnerStreamPtr StreamLocked(const std::string& runner_id) ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  static void TellNeeded(const ToTell& to_tell);

  // Looks a session up for its runner.
  void Find(const std::string& runner_id, const std::string& session_id,
            const RunnerStream::Found& found);
  // Records that the session has no runner any more.
  void Forsake(const std::string& session_id, Turn turn, bool again = false);
  // Unassigns the session, and notifies its runner and the calls that wait for it.
  void TakeAway(const std::string& session_id, const char* reason, const absl::Status& why);

  void SetTimerLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnTime();

  Clock* const clock_;
  SessionCaller* const sessions_;
  const std::shared_ptr<TimerThread> timers_;
  RunnerControls controls_;
  SessionTokens tokens_;

  Mutex mutex_;
  RunnerTable table_ ABSL_GUARDED_BY(mutex_);
  // Of the connected runners.
  absl::flat_hash_map<std::string, RunnerStreamPtr> streams_ ABSL_GUARDED_BY(mutex_);
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  TimerThread::TimerId timer_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Time timer_at_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteFuture();
};

}  // namespace callslip::tracker
