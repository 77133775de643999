#ifndef CALLSLIP_TRACKER_DOMAIN_RUNNER_RUNNER_TABLE_H_
#define CALLSLIP_TRACKER_DOMAIN_RUNNER_RUNNER_TABLE_H_

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tracker/domain/runner/runner.h"
#include "tracker/domain/session/agent_state.h"

namespace callslip::tracker {

// Which runners there are, and which sessions are whose: of one at a time. A runner is connected
// while its Serve call is there; once that has gone it keeps its sessions for kRunnerLease. Each
// time that a session is given to a process this has a number, its lease, which no other time has:
// by that a process knows, and is known, to have it still. Not thread-safe.
class RunnerTable {
 public:
  // The runner has called. `held` are the sessions that it believes are its. InvalidField,
  // TooManyRunners; RunnerNameTaken while another process of that name is connected, or had its
  // connection cut while this one waited for the name and still has sessions, unless that serves
  // one client and this one all; or has sessions of clients that this one does not serve.
  struct Connected {
    std::vector<HeldSession> others;  // Of `held`, which are not its.
    // Of its name, which it does not hold, though their agents ran: they are given to it anew, and
    // what was there of them is lost.
    std::vector<std::string> lost;
  };
  absl::StatusOr<Connected> Connect(RunnerOffer offer, const std::vector<HeldSession>& held,
                                    absl::Time now);
  // Its call has gone.
  void Disconnect(const std::string& runner_id, absl::Time now);

  // At the start: a session that was a runner's before is kept for it, as if its call had gone now.
  // Its lease is the one that the runner says it has.
  void Keep(const SessionNeed& session, const std::string& runner_id, absl::Time now);

  // Who serves that session of that client's and no other; empty: nobody.
  std::string OnlyRunnerOf(const std::string& session_id, const std::string& owner) const;
  // A session that is made for one runner is its from the start.
  void Reserve(const SessionNeed& session, absl::Time now);

  // Gives a session that is nobody's to the runner that suits best. Returns whose it is then;
  // empty: nobody's, since there is none or no room. One that has given it up gets it again once it
  // has called anew, or `anyway`.
  std::string Assign(const SessionNeed& session, bool anyway = false);
  // It is nobody's from now on. Returns whose it was.
  std::string Unassign(const std::string& session_id);
  // The same where that lease is its runner's, which does not want it. False where it is not.
  bool GiveUp(const std::string& session_id, int64_t lease);
  // Whose it is; empty: nobody's.
  std::string RunnerOf(const std::string& session_id) const;
  // 0: nobody's, or not known since the start.
  int64_t LeaseOf(const std::string& session_id) const;
  // Whether a call with this lease acts for the runner that has the session; 0 does where nobody
  // has it. NotAssigned; RunnerAway while its lease is not known.
  absl::Status CheckLease(const std::string& session_id, int64_t lease) const;
  // How the agent of a session that is somebody's is.
  void SetStatus(const std::string& session_id, AgentStatus status);

  // The sessions that were a runner's whose lease is over, and are nobody's now. Forgets runners.
  std::vector<std::string> Expire(absl::Time now);
  // When to call Expire() next; InfiniteFuture where it has nothing to do.
  absl::Time NextTime() const;

  // Whether the session's maker may have it where it is: its runner (IsForMaker()) has it so.
  // Errors as of CheckChild() in runner.h; RunnerAway where that one is not connected, OtherRunner
  // where another one has the session.
  absl::Status CheckChild(const SessionNeed& session) const;

  // Whether the rules of the agent that has made the session, if one has, are this runner's: it has
  // that agent's session, or had it then. Another one may be laxer.
  bool IsForMaker(const SessionNeed& session, const std::string& runner_id) const;

  bool IsConnected(const std::string& runner_id) const;
  std::set<std::string> SessionsOf(const std::string& runner_id) const;
  // Those that have called, by their id.
  std::vector<RunnerInfo> List() const;
  RunnerCounts CountRunners() const;

 private:
  struct Runner {
    // None where it has not called since the start.
    std::optional<RunnerOffer> offer;
    absl::Time known_since;
    bool connected = false;
    absl::Time gone_since;  // Where it is not connected.
    // Processes that wanted its name while it was there: they get it no sooner than others get its
    // sessions. One that was started in its place is none of them. The last kMaxTwins.
    std::deque<std::string> twins;
    std::set<std::string> sessions;
    int running = 0;  // Of these.
    int waiting = 0;
  };
  struct Assigned {
    std::string runner_id;
    std::string owner;  // Of the session.
    int64_t lease = 0;  // Not known.
    AgentStatus status = AgentStatus::kNone;
  };

  // Counts a session's agent, or `by` -1 no longer.
  static void Count(Runner& runner, AgentStatus status, int by);
  // Whether another call, of this offer, may take the place of the one before.
  bool MayReplace(const Runner& runner, const RunnerOffer& by, absl::Time now) const;
  // For one more of these clients: where there are too many, of them or of all, forgets the one
  // that has been gone for longest and has no session. TooManyRunners where none has.
  absl::Status MakeRoomFor(const ClientScope& clients);
  bool Give(const std::string& session_id, Assigned assigned);

  std::map<std::string, Runner> runners_;
  absl::flat_hash_map<std::string, Assigned> sessions_;
  // Who has given up a session that is nobody's. No more than there may be sessions.
  absl::flat_hash_map<std::string, std::string> given_up_;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_RUNNER_RUNNER_TABLE_H_
