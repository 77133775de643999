#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "tracker/domain/runner/runner.h"
#include "tracker/domain/session/agent_state.h"

namespace callslip::tracker {

// The runners, and the assignments of sessions, each to one runner at a time. A runner is connected
// while its Serve call exists; after that it keeps its sessions for kRunnerLease. Each assignment
// of a session to a process has a unique number, its lease, which proves that the process still
// holds the session. Not thread-safe.
class RunnerTable {
 public:
  // The runner has called. `held`: sessions that it believes it holds. InvalidField,
  // TooManyRunners. RunnerNameTaken while another process of that name is connected, unless that
  // serves one client and this one all. Also while another process of that name is disconnected but
  // still has sessions, if this process already waited for the name; or if the name has sessions of
  // clients that this process does not serve.
  struct Connected {
    std::vector<HeldSession> others;  // Of `held`: sessions that it does not hold.
    // Sessions of its name that it does not hold, although their agents ran: they are assigned to
    // it again, and the state of those agents is lost.
    std::vector<std::string> lost;
  };
  absl::StatusOr<Connected> Connect(RunnerOffer offer, const std::vector<HeldSession>& held,
                                    absl::Time now);
  // The runner's call has ended.
  void Disconnect(const std::string& runner_id, absl::Time now);

  // At the start: keeps a session for the runner that had it before, as if that runner's call had
  // ended now. The lease becomes the one that the runner reports.
  void Keep(const SessionNeed& session, const std::string& runner_id, absl::Time now);

  // The runner that serves this session of this owner and no other; empty: none.
  std::string OnlyRunnerOf(const std::string& session_id, const std::string& owner) const;
  // Assigns a session that is created for one runner to that runner, from the start.
  void Reserve(const SessionNeed& session, absl::Time now);

  // Assigns an unassigned session to the runner that suits best. Returns its runner; empty: still
  // unassigned, because no runner suits or there is no room. A runner that gave it up gets it again
  // only after it has called again, or with `anyway`.
  std::string Assign(const SessionNeed& session, bool anyway = false);
  // Removes the assignment. Returns the runner that had it.
  std::string Unassign(const std::string& session_id);
  // The same if the lease is valid: its runner does not want the session. False if the lease is not
  // valid.
  bool GiveUp(const std::string& session_id, int64_t lease);
  // The session's runner; empty: unassigned.
  std::string RunnerOf(const std::string& session_id) const;
  // 0: unassigned, or not known since the start.
  int64_t LeaseOf(const std::string& session_id) const;
  // Whether a call with this lease acts for the session's runner; 0 is valid if the session is
  // unassigned. NotAssigned; RunnerAway while its lease is not known.
  absl::Status CheckLease(const std::string& session_id, int64_t lease) const;
  // Sets the agent status of an assigned session.
  void SetStatus(const std::string& session_id, AgentStatus status);

  // Unassigns the sessions of runners that were gone for kRunnerLease, and returns them. Forgets
  // runners.
  std::vector<std::string> Expire(absl::Time now);
  // When to call Expire() next; InfiniteFuture if it has nothing to do.
  absl::Time NextTime() const;

  // Whether this agent may have the session in its place, by the rules of the agent's runner
  // (IsFor()). Errors as in CheckChild() in runner.h; RunnerAway if that runner is not connected,
  // OtherRunner if another runner has the session.
  absl::Status CheckChild(const Maker& maker, const SessionNeed& session) const;

  // Whether this runner's rules apply to these agents: it has the session of each, or had it when
  // the agent created or wrote what it did. Another runner may be laxer.
  bool IsFor(absl::Span<const Maker> makers, const std::string& runner_id) const;

  bool IsConnected(const std::string& runner_id) const;
  std::set<std::string> SessionsOf(const std::string& runner_id) const;
  // Runners that have called, by id.
  std::vector<RunnerInfo> List() const;
  RunnerCounts CountRunners() const;

 private:
  struct Runner {
    // Nullopt if it has not called since the start.
    std::optional<RunnerOffer> offer;
    absl::Time known_since;
    bool connected = false;
    absl::Time gone_since;  // If it is not connected.
    // Processes that wanted its name while it was connected: they get it no sooner than others get
    // its sessions. A process that was started to replace it is not one of them. The last
    // kMaxTwins.
    std::deque<std::string> twins;
    std::set<std::string> sessions;
    int running = 0;  // Of these.
    int waiting = 0;
  };
  struct Assigned {
    std::string runner_id;
    std::string owner;  // Of the session.
    int64_t lease = 0;  // 0: not known.
    AgentStatus status = AgentStatus::kNone;
  };

  // Counts a session's agent; `by` -1 removes it.
  static void Count(Runner& runner, AgentStatus status, int by);
  // Whether another call, with this offer, may replace the one before.
  bool MayReplace(const Runner& runner, const RunnerOffer& by, absl::Time now) const;
  // Makes room for one more runner of these clients: if there are too many, of them or of all,
  // forgets the one without sessions that was gone longest. TooManyRunners if there is none.
  absl::Status MakeRoomFor(const ClientScope& clients);
  bool Give(const std::string& session_id, Assigned assigned);

  std::map<std::string, Runner> runners_;
  absl::flat_hash_map<std::string, Assigned> sessions_;
  // Runners that gave up a session that is still unassigned. No more than there can be sessions.
  absl::flat_hash_map<std::string, std::string> given_up_;
};

}  // namespace callslip::tracker
