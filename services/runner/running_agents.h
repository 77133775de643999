#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace callslip::runner {

// Limits for running agents. They count processes, not sessions, because they limit memory.
struct AgentLimits {
  int running_agents = 8;   // Processes, including those that are starting or stopping.
  int starting_agents = 2;  // Processes that are starting.
  absl::Duration idle_stop = absl::Minutes(15);
};

// A session that wants an agent.
struct AgentWant {
  std::string session;
  std::string agent;
  std::string workspace;
  int sessions_per_process = 1;  // For this agent.
  int max_running = 1'000'000;   // Processes in this workspace.
};

// An action for a session.
struct AgentStep {
  enum class Kind {
    kStart,  // Start `process` with this session.
    kJoin,   // Create this session in `process`, which is running.
    kStop,   // End this session's agent, and the process if it has no other session.
  };
  Kind kind = Kind::kStart;
  std::string session;
  int64_t process = 0;  // Counts from 1.

  bool operator==(const AgentStep&) const = default;
};

// Decides which sessions have an agent, and which are next. Sessions wait in the order of their
// requests. If there is no room, processes without an active session are stopped, the least
// recently used first; never one with a turn, an open permission request, or a session that has
// just got its agent. Agents unused for `idle_stop` are stopped in any case. Pure logic: the time
// is an argument, and Next() returns the actions.
class RunningAgents {
 public:
  explicit RunningAgents(AgentLimits limits) : limits_(limits) {}

  // The session has work for an agent. No effect if it already waits; if it has an agent, the agent
  // is kept until Busy() is called or `idle_stop` has passed. A session whose agent is being
  // stopped gets another one.
  void Want(const AgentWant& want, absl::Time now);
  // The session is ready for its first turn.
  void Started(const std::string& session, absl::Time now);
  // The session now has a turn or an open permission request, or has neither any more.
  void Busy(const std::string& session, bool busy, absl::Time now);
  // The session's agent has ended, was never started, or has closed the session. When a process
  // ends, call this for each of its sessions. A session that needs another agent must call Want(),
  // unless it did so while it was being stopped.
  void Ended(const std::string& session);
  // The session needs no agent any more: it stops waiting, or the next step stops its agent.
  void Drop(const std::string& session);

  // Returns the actions to take now: call after each of the calls above, and at NextTime(). Each
  // action is returned once and counts as begun. A session that must stop starts no further turn.
  std::vector<AgentStep> Next(absl::Time now);
  // When Next() must be called without a further event; InfiniteFuture() for never.
  absl::Time NextTime() const;

  // The position of a session among those that wait, from 1; 0 if it does not wait.
  size_t PlaceOf(const std::string& session) const;
  size_t processes() const { return processes_.size(); }

 private:
  enum class State { kStarting, kRunning, kStopping };

  struct Session {
    int64_t process = 0;
    State state = State::kStarting;
    bool busy = false;
    bool wanted = false;   // It has an agent for work that has not begun yet.
    bool dropped = false;  // The next step stops it.
    absl::Time used_at;
  };
  struct Process {
    AgentWant kind;  // The session for which it was started.
    bool started = false;
    std::vector<std::string> sessions;
  };
  // Room that stopping processes will free, during one pass over the waiting sessions.
  struct Room;

  bool IsStarting(const Process& process) const;
  bool IsStopping(const Process& process) const;
  bool IsIdle(const Process& process) const;
  absl::Time UsedAt(const Process& process) const;
  int CountStarting() const;
  int CountIn(const std::string& workspace) const;
  // A process with room for the session: preferably a running one, else a starting one; 0 if none.
  // `expected` counts the sessions that already wait for each starting process.
  int64_t Joinable(const AgentWant& want, const std::map<int64_t, size_t>& expected) const;

  void StopIdle(absl::Time now, std::vector<AgentStep>& steps);
  void Stop(int64_t process, std::vector<AgentStep>& steps);
  bool MakeRoom(const AgentWant& want, bool in_workspace, Room& room,
                std::vector<AgentStep>& steps);
  void Enter(const AgentWant& want, int64_t process, absl::Time now);

  const AgentLimits limits_;
  std::deque<AgentWant> waiting_;
  std::map<std::string, Session> sessions_;  // Sessions that have an agent.
  std::map<int64_t, Process> processes_;
  int64_t last_process_ = 0;
};

}  // namespace callslip::runner
