#include "tracker/domain/runner/runner_table.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/algorithm/container.h"
#include "common/random.h"
#include "common/status_macros.h"
#include "tracker/domain/runner/runner_errors.h"
#include "tracker/domain/runner/runner_limits.h"
#include "tracker/domain/session/session_errors.h"

namespace callslip::tracker {
namespace {

int64_t NewLease() { return static_cast<int64_t>(Random64() >> 1 | 1); }

bool Runs(AgentStatus status) {
  switch (status) {
    case AgentStatus::kStarting:
    case AgentStatus::kIdle:
    case AgentStatus::kPrompting:
    case AgentStatus::kNeedsPermission:
    case AgentStatus::kStopping: return true;
    case AgentStatus::kNone:
    case AgentStatus::kWaiting:
    case AgentStatus::kStopped:
    case AgentStatus::kFailed: return false;
  }
  return false;
}

}  // namespace

absl::StatusOr<RunnerTable::Connected> RunnerTable::Connect(RunnerOffer offer,
                                                            const std::vector<HeldSession>& held,
                                                            absl::Time now) {
  RETURN_IF_ERROR(CheckOffer(offer));
  const std::string id = offer.runner_id;
  const auto found = runners_.find(id);
  if (found != runners_.end() && !MayReplace(found->second, offer, now)) {
    std::deque<std::string>& twins = found->second.twins;
    if (!absl::c_linear_search(twins, offer.instance)) twins.push_back(offer.instance);
    if (twins.size() > kMaxTwins) twins.pop_front();
    return RunnerNameTaken(id);
  }
  if (found == runners_.end() || !found->second.offer.has_value()) {
    RETURN_IF_ERROR(MakeRoomFor(offer.clients));
    runners_[id].known_since = now;
  }
  absl::erase_if(given_up_, [&](const auto& each) { return each.second == id; });
  Runner& runner = runners_[id];
  std::erase(runner.twins, offer.instance);
  runner.offer = std::move(offer);
  runner.connected = true;
  Connected connected;
  std::set<std::string> still;
  for (const HeldSession& each : held) {
    const auto session = sessions_.find(each.session_id);
    const bool is_its = session != sessions_.end() && session->second.runner_id == id &&
                        each.lease != 0 &&
                        (session->second.lease == each.lease || session->second.lease == 0);
    if (!is_its) {
      connected.others.push_back(each);
      continue;
    }
    session->second.lease = each.lease;
    still.insert(each.session_id);
  }
  for (const std::string& session : runner.sessions) {
    if (still.contains(session)) continue;
    Assigned& assigned = sessions_[session];
    assigned.lease = NewLease();
    if (!Runs(assigned.status) && assigned.status != AgentStatus::kWaiting) continue;
    connected.lost.push_back(session);
    Count(runner, std::exchange(assigned.status, AgentStatus::kNone), -1);
  }
  return connected;
}

bool RunnerTable::MayReplace(const Runner& runner, const RunnerOffer& by, absl::Time now) const {
  const bool is_cut =
      !runner.connected && !runner.sessions.empty() && now < runner.gone_since + kRunnerLease;
  if (is_cut && absl::c_linear_search(runner.twins, by.instance)) return false;
  const bool is_other = runner.connected && (runner.offer->instance != by.instance ||
                                             runner.offer->clients != by.clients);
  // A runner that serves one client only can't reserve a name against a runner that serves all.
  const bool is_taken = is_other && (runner.offer->clients.is_all() || !by.clients.is_all());
  return !is_taken && absl::c_all_of(runner.sessions, [&](const std::string& session_id) {
    return by.clients.Covers(sessions_.at(session_id).owner);
  });
}

absl::Status RunnerTable::MakeRoomFor(const ClientScope& clients) {
  const auto end = runners_.end();
  size_t known = 0;
  size_t of_client = 0;
  auto oldest = end;
  auto oldest_of_client = end;
  const auto note = [end](auto each, auto& first) {
    if (first == end || each->second.gone_since < first->second.gone_since) first = each;
  };
  for (auto each = runners_.begin(); each != end; ++each) {
    const Runner& runner = each->second;
    if (!runner.offer.has_value()) continue;
    const bool is_of_client = runner.offer->clients == clients;
    ++known;
    if (is_of_client) ++of_client;
    if (runner.connected || !runner.sessions.empty()) continue;
    note(each, oldest);
    if (is_of_client) note(each, oldest_of_client);
  }
  const bool client_is_full = of_client >= kMaxRunnersOfClient;
  if (!client_is_full && known < kMaxRunners) return absl::OkStatus();
  const auto gone = client_is_full ? oldest_of_client : oldest;
  if (gone == end) {
    return client_is_full ? TooManyRunnersOfClient(kMaxRunnersOfClient)
                          : TooManyRunners(kMaxRunners);
  }
  runners_.erase(gone);
  return absl::OkStatus();
}

void RunnerTable::Disconnect(const std::string& runner_id, absl::Time now) {
  const auto found = runners_.find(runner_id);
  if (found == runners_.end() || !found->second.connected) return;
  found->second.connected = false;
  found->second.gone_since = now;
}

void RunnerTable::Keep(const SessionNeed& session, const std::string& runner_id, absl::Time now) {
  const auto [runner, is_new] = runners_.try_emplace(runner_id);
  if (is_new) {
    runner->second.known_since = now;
    runner->second.gone_since = now;
  }
  Give(session.session_id, {.runner_id = runner_id, .owner = session.owner});
}

std::string RunnerTable::OnlyRunnerOf(const std::string& session_id,
                                      const std::string& owner) const {
  const auto found = absl::c_find_if(runners_, [&](const auto& each) {
    const std::optional<RunnerOffer>& offer = each.second.offer;
    return offer.has_value() && !session_id.empty() && offer->only_session == session_id &&
           offer->clients.Covers(owner);
  });
  return found == runners_.end() ? "" : found->first;
}

void RunnerTable::Reserve(const SessionNeed& session, absl::Time now) {
  Keep(session, session.only_runner, now);
  if (!IsConnected(session.only_runner)) return;
  if (const auto its = sessions_.find(session.session_id); its != sessions_.end()) {
    its->second.lease = NewLease();
  }
}

std::string RunnerTable::Assign(const SessionNeed& session, bool anyway) {
  const std::string& session_id = session.session_id;
  if (const std::string owner = RunnerOf(session_id); !owner.empty()) return owner;
  if (!session.only_runner.empty()) return "";
  const auto unwilling = given_up_.find(session_id);
  const std::string* best = nullptr;
  Fit best_fit = Fit::kNone;
  int64_t best_load = 0;
  int64_t best_room = 1;
  const auto serves = [&session](const Runner& runner) {
    return runner.connected && runner.offer->clients.Covers(session.owner);
  };
  for (const auto& [id, runner] : runners_) {
    if (!serves(runner)) continue;
    // Its only session was reserved for it.
    if (!runner.offer->only_session.empty()) continue;
    if (!anyway && unwilling != given_up_.end() && unwilling->second == id) continue;
    if (!IsFor(session.makers, id)) continue;
    const Fit fit = FitOf(*runner.offer, session.place, session.makers);
    if (fit == Fit::kNone || fit < best_fit) continue;
    const int64_t load = runner.running + runner.waiting;
    const int64_t room = runner.offer->max_agents;
    // Runners come in the order of their ids: the first of several equal ones stays.
    if (fit == best_fit && load * best_room >= best_load * room) continue;
    best = &id;
    best_fit = fit;
    best_load = load;
    best_room = room;
  }
  if (best == nullptr) return "";
  std::string runner_id = *best;
  // It counts from now on; otherwise many sessions at once would all get the same runner.
  const bool given = Give(session_id, {.runner_id = runner_id,
                                       .owner = session.owner,
                                       .lease = NewLease(),
                                       .status = AgentStatus::kStarting});
  return given ? runner_id : "";
}

bool RunnerTable::IsFor(absl::Span<const Maker> makers, const std::string& runner_id) const {
  return absl::c_all_of(makers, [&](const Maker& maker) {
    return runner_id == maker.runner_id || runner_id == RunnerOf(maker.session_id);
  });
}

absl::Status RunnerTable::CheckChild(const Maker& maker, const SessionNeed& session) const {
  const AgentPlace& child = session.place;
  // The agent's session is unassigned now. What the agent creates waits until it is assigned.
  const bool of_nobodys = maker.runner_id.empty() && RunnerOf(maker.session_id).empty();
  if (const auto its = runners_.find(RunnerOf(session.session_id)); its != runners_.end()) {
    if (!of_nobodys && !IsFor({&maker, 1}, its->first)) return OtherRunner(session.session_id);
    if (!its->second.offer.has_value()) return RunnerAway();
    return tracker::CheckChild(*its->second.offer, maker.place, child);
  }
  absl::Status checked = RunnerAway();
  for (const auto& [id, runner] : runners_) {
    if (!runner.connected || !runner.offer->clients.Covers(session.owner)) continue;
    if (!of_nobodys && !IsFor({&maker, 1}, id)) continue;
    absl::Status by_this = runner.offer->only_session.empty()
                               ? tracker::CheckChild(*runner.offer, maker.place, child)
                               : RunnerServesOne(id);
    if (by_this.ok()) return by_this;
    // The answer of a runner that knows the place is more helpful than that of one that does not.
    if (absl::IsUnavailable(checked) || FitOf(*runner.offer, child) != Fit::kNone) {
      checked = std::move(by_this);
    }
  }
  return checked;
}

bool RunnerTable::Give(const std::string& session_id, Assigned assigned) {
  if (sessions_.contains(session_id) || sessions_.size() >= kMaxRunnerSessions) return false;
  given_up_.erase(session_id);
  Runner& runner = runners_[assigned.runner_id];
  runner.sessions.insert(session_id);
  Count(runner, assigned.status, 1);
  sessions_[session_id] = std::move(assigned);
  return true;
}

std::string RunnerTable::Unassign(const std::string& session_id) {
  given_up_.erase(session_id);
  const auto found = sessions_.find(session_id);
  if (found == sessions_.end()) return "";
  const std::string runner_id = found->second.runner_id;
  Runner& runner = runners_[runner_id];
  runner.sessions.erase(session_id);
  Count(runner, found->second.status, -1);
  sessions_.erase(found);
  return runner_id;
}

bool RunnerTable::GiveUp(const std::string& session_id, int64_t lease) {
  if (lease == 0 || LeaseOf(session_id) != lease) return false;
  const std::string runner_id = Unassign(session_id);
  if (given_up_.size() < kMaxRunnerSessions) given_up_[session_id] = runner_id;
  return true;
}

std::string RunnerTable::RunnerOf(const std::string& session_id) const {
  const auto found = sessions_.find(session_id);
  return found == sessions_.end() ? "" : found->second.runner_id;
}

int64_t RunnerTable::LeaseOf(const std::string& session_id) const {
  const auto found = sessions_.find(session_id);
  return found == sessions_.end() ? 0 : found->second.lease;
}

absl::Status RunnerTable::CheckLease(const std::string& session_id, int64_t lease) const {
  const auto found = sessions_.find(session_id);
  if (found == sessions_.end()) {
    return lease == 0 ? absl::OkStatus() : NotAssigned(session_id);
  }
  if (lease == 0 || (found->second.lease != 0 && found->second.lease != lease)) {
    return NotAssigned(session_id);
  }
  return found->second.lease == 0 ? RunnerAway() : absl::OkStatus();
}

void RunnerTable::SetStatus(const std::string& session_id, AgentStatus status) {
  const auto found = sessions_.find(session_id);
  if (found == sessions_.end()) return;
  Runner& runner = runners_[found->second.runner_id];
  Count(runner, std::exchange(found->second.status, status), -1);
  Count(runner, status, 1);
}

std::vector<std::string> RunnerTable::Expire(absl::Time now) {
  std::vector<std::string> lost;
  for (auto each = runners_.begin(); each != runners_.end();) {
    Runner& runner = each->second;
    if (!runner.connected && now >= runner.gone_since + kRunnerLease) {
      for (const std::string& session : runner.sessions) {
        lost.push_back(session);
        sessions_.erase(session);
      }
      runner.sessions.clear();
      runner.running = runner.waiting = 0;
      if (!runner.offer.has_value() || now >= runner.gone_since + kForgetRunnerAfter) {
        each = runners_.erase(each);
        continue;
      }
    }
    ++each;
  }
  return lost;
}

absl::Time RunnerTable::NextTime() const {
  absl::Time next = absl::InfiniteFuture();
  for (const auto& [id, runner] : runners_) {
    if (runner.connected) continue;
    const bool has_lease = !runner.sessions.empty() || !runner.offer.has_value();
    next = std::min(next, runner.gone_since + (has_lease ? kRunnerLease : kForgetRunnerAfter));
  }
  return next;
}

bool RunnerTable::IsConnected(const std::string& runner_id) const {
  const auto found = runners_.find(runner_id);
  return found != runners_.end() && found->second.connected;
}

std::set<std::string> RunnerTable::SessionsOf(const std::string& runner_id) const {
  const auto found = runners_.find(runner_id);
  return found == runners_.end() ? std::set<std::string>() : found->second.sessions;
}

void RunnerTable::Count(Runner& runner, AgentStatus status, int by) {
  if (Runs(status)) runner.running += by;
  if (status == AgentStatus::kWaiting) runner.waiting += by;
}

RunnerCounts RunnerTable::CountRunners() const {
  RunnerCounts counts;
  for (const auto& [id, runner] : runners_) {
    if (!runner.offer.has_value()) continue;
    ++counts.known;
    if (runner.connected) ++counts.connected;
  }
  return counts;
}

std::vector<RunnerInfo> RunnerTable::List() const {
  std::vector<RunnerInfo> runners;
  for (const auto& [id, runner] : runners_) {
    if (!runner.offer.has_value()) continue;
    runners.push_back({.offer = *runner.offer,
                       .running_agents = runner.running,
                       .waiting_agents = runner.waiting,
                       .sessions = static_cast<int>(runner.sessions.size()),
                       .known_since = runner.known_since,
                       .connected = runner.connected});
  }
  return runners;
}

}  // namespace callslip::tracker
