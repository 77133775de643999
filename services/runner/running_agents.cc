#include "runner/running_agents.h"

#include <algorithm>
#include <set>

#include "absl/algorithm/container.h"

namespace callslip::runner {

// Processes that are stopping; each makes room for one waiting session.
struct RunningAgents::Room {
  std::set<int64_t> leaving;
};

void RunningAgents::Want(const AgentWant& want, absl::Time now) {
  if (const auto found = sessions_.find(want.session); found != sessions_.end()) {
    Session& session = found->second;
    if (session.state != State::kStopping) {
      session.wanted = true;
      session.dropped = false;
      session.used_at = now;
      return;
    }
  }
  if (PlaceOf(want.session) == 0) waiting_.push_back(want);
}

void RunningAgents::Started(const std::string& session, absl::Time now) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end() || found->second.state != State::kStarting) return;
  found->second.state = State::kRunning;
  processes_.at(found->second.process).started = true;
  found->second.used_at = now;
}

void RunningAgents::Busy(const std::string& session, bool busy, absl::Time now) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  found->second.busy = busy;
  found->second.wanted = false;
  found->second.used_at = now;
}

void RunningAgents::Ended(const std::string& session) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  const auto process = processes_.find(found->second.process);
  std::erase(process->second.sessions, session);
  if (process->second.sessions.empty()) processes_.erase(process);
  sessions_.erase(found);
}

void RunningAgents::Drop(const std::string& session) {
  std::erase_if(waiting_, [&](const AgentWant& want) { return want.session == session; });
  const auto found = sessions_.find(session);
  if (found != sessions_.end() && found->second.state != State::kStopping) {
    found->second.dropped = true;
  }
}

std::vector<AgentStep> RunningAgents::Next(absl::Time now) {
  std::vector<AgentStep> steps;
  StopIdle(now, steps);
  Room room;
  for (const auto& [id, process] : processes_) {
    if (IsStopping(process)) room.leaving.insert(id);
  }
  // Only sessions that can start now make room: no agent is stopped for a session that would
  // continue to wait.
  int starts_left = limits_.starting_agents - CountStarting();
  std::map<int64_t, size_t> expected;  // Sessions waiting for a process that is starting.
  const bool may_join = absl::c_any_of(
      processes_, [](const auto& entry) { return entry.second.kind.sessions_per_process > 1; });
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    if (starts_left <= 0 && !may_join) break;
    const AgentWant want = *at;
    if (sessions_.contains(want.session)) {  // Its agent is being stopped.
      ++at;
      continue;
    }
    if (const int64_t id = Joinable(want, expected); id != 0) {
      if (processes_.at(id).started) {
        steps.push_back({AgentStep::Kind::kJoin, want.session, id});
        Enter(want, id, now);
        at = waiting_.erase(at);
      } else {
        ++expected[id];
        ++at;
      }
      continue;
    }
    if (starts_left <= 0) {
      ++at;
      continue;
    }
    const bool workspace_full = CountIn(want.workspace) >= want.max_running;
    const bool all_full = processes_.size() >= static_cast<size_t>(limits_.running_agents);
    if (workspace_full || all_full) {
      const bool made = MakeRoom(want, workspace_full, room, steps);
      if (made) --starts_left;
      // All sessions behind this one must wait, too, unless only this workspace is full.
      if (!made && !workspace_full) starts_left = 0;
      ++at;
      continue;
    }
    --starts_left;
    steps.push_back({AgentStep::Kind::kStart, want.session, ++last_process_});
    processes_[last_process_].kind = want;
    Enter(want, last_process_, now);
    at = waiting_.erase(at);
  }
  return steps;
}

absl::Time RunningAgents::NextTime() const {
  absl::Time next = absl::InfiniteFuture();
  for (const auto& [name, session] : sessions_) {
    if (session.state != State::kRunning || session.busy) continue;
    next = std::min(next, session.used_at + limits_.idle_stop);
  }
  return next;
}

size_t RunningAgents::PlaceOf(const std::string& session) const {
  const auto found =
      absl::c_find_if(waiting_, [&](const AgentWant& want) { return want.session == session; });
  return found == waiting_.end() ? 0 : static_cast<size_t>(found - waiting_.begin()) + 1;
}

bool RunningAgents::IsStarting(const Process& process) const {
  return !process.started && !IsStopping(process);
}

bool RunningAgents::IsStopping(const Process& process) const {
  return absl::c_all_of(process.sessions, [&](const std::string& session) {
    return sessions_.at(session).state == State::kStopping;
  });
}

bool RunningAgents::IsIdle(const Process& process) const {
  return !IsStopping(process) && absl::c_all_of(process.sessions, [&](const std::string& name) {
    const Session& session = sessions_.at(name);
    return session.state == State::kStopping ||
           (session.state == State::kRunning && !session.busy && !session.wanted);
  });
}

absl::Time RunningAgents::UsedAt(const Process& process) const {
  absl::Time used_at = absl::InfinitePast();
  for (const std::string& session : process.sessions) {
    used_at = std::max(used_at, sessions_.at(session).used_at);
  }
  return used_at;
}

int RunningAgents::CountStarting() const {
  return static_cast<int>(
      absl::c_count_if(processes_, [&](const auto& entry) { return IsStarting(entry.second); }));
}

int RunningAgents::CountIn(const std::string& workspace) const {
  return static_cast<int>(absl::c_count_if(
      processes_, [&](const auto& entry) { return entry.second.kind.workspace == workspace; }));
}

int64_t RunningAgents::Joinable(const AgentWant& want,
                                const std::map<int64_t, size_t>& expected) const {
  int64_t starting = 0;
  for (const auto& [id, process] : processes_) {
    const AgentWant& kind = process.kind;
    const auto more = expected.find(id);
    const size_t taken = process.sessions.size() + (more == expected.end() ? 0 : more->second);
    if (kind.agent != want.agent || kind.workspace != want.workspace || IsStopping(process) ||
        taken >= static_cast<size_t>(kind.sessions_per_process)) {
      continue;
    }
    if (process.started) return id;
    if (starting == 0) starting = id;
  }
  return starting;
}

void RunningAgents::StopIdle(absl::Time now, std::vector<AgentStep>& steps) {
  for (auto& [name, session] : sessions_) {
    const bool unused = session.state == State::kRunning && !session.busy &&
                        session.used_at + limits_.idle_stop <= now;
    if (session.state == State::kStopping || (!unused && !session.dropped)) continue;
    session.state = State::kStopping;
    steps.push_back({AgentStep::Kind::kStop, name, session.process});
  }
}

void RunningAgents::Stop(int64_t process, std::vector<AgentStep>& steps) {
  for (const std::string& name : processes_.at(process).sessions) {
    Session& session = sessions_.at(name);
    if (session.state == State::kStopping) continue;
    session.state = State::kStopping;
    steps.push_back({AgentStep::Kind::kStop, name, process});
  }
}

// Returns true if a process is stopping whose place goes to this session; each process makes room
// for one session.
bool RunningAgents::MakeRoom(const AgentWant& want, bool in_workspace, Room& room,
                             std::vector<AgentStep>& steps) {
  const auto suits = [&](const Process& process) {
    return !in_workspace || process.kind.workspace == want.workspace;
  };
  const auto leaving =
      absl::c_find_if(room.leaving, [&](int64_t process) { return suits(processes_.at(process)); });
  if (leaving != room.leaving.end()) {
    room.leaving.erase(leaving);
    return true;
  }
  int64_t oldest = 0;
  for (const auto& [id, process] : processes_) {
    if (!suits(process) || !IsIdle(process)) continue;
    if (oldest == 0 || UsedAt(process) < UsedAt(processes_.at(oldest))) oldest = id;
  }
  if (oldest == 0) return false;
  Stop(oldest, steps);
  return true;
}

void RunningAgents::Enter(const AgentWant& want, int64_t process, absl::Time now) {
  processes_.at(process).sessions.push_back(want.session);
  sessions_[want.session] = {.process = process, .wanted = true, .used_at = now};
}

}  // namespace callslip::runner
