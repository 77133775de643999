#ifndef CALLSLIP_RUNNER_RUNNING_AGENTS_H_
#define CALLSLIP_RUNNER_RUNNING_AGENTS_H_

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace callslip::runner {

// How many agents may run. Sessions of one process count once: what is limited is memory.
struct AgentLimits {
  int running_agents = 8;   // Processes, those included that are starting or stopping.
  int starting_agents = 2;  // Processes that are starting.
  absl::Duration idle_stop = absl::Minutes(15);
};

// A session that wants an agent.
struct AgentWant {
  std::string session;
  std::string agent;
  std::string workspace;
  int sessions_per_process = 1;  // Of this agent.
  int max_running = 1'000'000;   // Processes in this workspace.
};

// What is to be done for a session.
struct AgentStep {
  enum class Kind {
    kStart,  // Start `process` with this session in it.
    kJoin,   // `process` runs: this session is to be made in it, too.
    kStop,   // End this session's agent; the process with it where no other session is in it.
  };
  Kind kind = Kind::kStart;
  std::string session;
  int64_t process = 0;  // Counted from 1.

  bool operator==(const AgentStep&) const = default;
};

// Which sessions have an agent, and who is next. They wait in the order in which they came. Where
// there is no room, the processes of which no session does anything are stopped, the one first that
// was used longest ago; none that has a turn, an open permission, or a session that has just got
// its agent. What is not used for `idle_stop` is stopped in any case. Pure: the time is told, and
// what is to be done is said by Next().
class RunningAgents {
 public:
  explicit RunningAgents(AgentLimits limits) : limits_(limits) {}

  // It has work for an agent. Harmless where it waits already, and where it has one: that is kept
  // then until Busy() is told, or `idle_stop` has gone by. One that is being stopped gets another.
  void Want(const AgentWant& want, absl::Time now);
  // The session is ready for its first turn.
  void Started(const std::string& session, absl::Time now);
  // It has a turn or an open permission from now on, or has neither any more.
  void Busy(const std::string& session, bool busy, absl::Time now);
  // Its agent is gone, was never there, or has closed the session. Where a process ends, of each
  // session in it. A session that wants another says so again, unless it did while it was stopped.
  void Ended(const std::string& session);
  // It wants no agent any more: it waits no longer, or is stopped by the next step.
  void Drop(const std::string& session);

  // What is to be done now: to be asked after whatever was told, and at NextTime(). It counts as
  // begun: each step is said once. A session that is to be stopped begins no turn any more.
  std::vector<AgentStep> Next(absl::Time now);
  // When there is something to do even if nothing is told until then; InfiniteFuture() for never.
  absl::Time NextTime() const;

  // The place of a session among those that wait, from 1; 0 where it does not.
  size_t PlaceOf(const std::string& session) const;
  size_t processes() const { return processes_.size(); }

 private:
  enum class State { kStarting, kRunning, kStopping };

  struct Session {
    int64_t process = 0;
    State state = State::kStarting;
    bool busy = false;
    bool wanted = false;   // It has an agent for something that has not begun yet.
    bool dropped = false;  // To be stopped by the next step.
    absl::Time used_at;
  };
  struct Process {
    AgentWant kind;  // That of the session which it was started for.
    bool started = false;
    std::vector<std::string> sessions;
  };
  // What is still to come of the processes that are being stopped, while those who wait are gone
  // through.
  struct Room;

  bool IsStarting(const Process& process) const;
  bool IsStopping(const Process& process) const;
  bool IsIdle(const Process& process) const;
  absl::Time UsedAt(const Process& process) const;
  int CountStarting() const;
  int CountIn(const std::string& workspace) const;
  // One with room for it: that runs, else that starts; 0 for none. `expected` are the sessions that
  // a process which starts has promised room to.
  int64_t Joinable(const AgentWant& want, const std::map<int64_t, size_t>& expected) const;

  void StopIdle(absl::Time now, std::vector<AgentStep>& steps);
  void Stop(int64_t process, std::vector<AgentStep>& steps);
  bool MakeRoom(const AgentWant& want, bool in_workspace, Room& room,
                std::vector<AgentStep>& steps);
  void Enter(const AgentWant& want, int64_t process, absl::Time now);

  const AgentLimits limits_;
  std::deque<AgentWant> waiting_;
  std::map<std::string, Session> sessions_;  // Those that have an agent.
  std::map<int64_t, Process> processes_;
  int64_t last_process_ = 0;
};

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_RUNNING_AGENTS_H_
