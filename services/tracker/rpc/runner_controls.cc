#include "tracker/rpc/runner_controls.h"

#include "common/random.h"
#include "tracker/domain/runner/runner_errors.h"
#include "tracker/domain/runner/runner_limits.h"

namespace callslip::tracker {

absl::Status RunnerControls::Add(const std::string& session_id, v1::AgentControl& control,
                                 const Reply& reply) {
  const std::string id = RandomHex128();
  control.set_control_id(id);
  {
    MutexLock lock(&mutex_);
    if (!ended_.ok()) return ended_;
    size_t& count = of_session_[session_id];
    if (count >= kMaxControlsOfSession) return TooManyControls(kMaxControlsOfSession);
    ++count;
    const TimerThread::TimerId timer = timers_->After(kControlWait, [this, id] {
      if (const Reply silent = RemoveOne(id)) silent->Fail(RunnerSilent());
    });
    waiting_[id] = {session_id, control, reply, timer};
  }
  reply->OnCallerLeft([this, id] { RemoveOne(id); });
  return absl::OkStatus();
}

void RunnerControls::SetSent(const std::string& control_id) {
  MutexLock lock(&mutex_);
  const auto found = waiting_.find(control_id);
  if (found != waiting_.end()) found->second.sent = true;
}

std::vector<v1::AgentControl> RunnerControls::Unsent(const std::string& session_id) {
  std::vector<v1::AgentControl> unsent;
  MutexLock lock(&mutex_);
  if (!of_session_.contains(session_id)) return unsent;
  for (const auto& [id, waiting] : waiting_) {
    if (waiting.session_id == session_id && !waiting.sent) unsent.push_back(waiting.control);
  }
  return unsent;
}

template <typename Choose>
std::vector<RunnerControls::Waiting> RunnerControls::Remove(Choose choose) {
  std::vector<Waiting> removed;
  MutexLock lock(&mutex_);
  for (auto each = waiting_.begin(); each != waiting_.end();) {
    if (!choose(each->first, each->second)) {
      ++each;
      continue;
    }
    const auto count = of_session_.find(each->second.session_id);
    if (--count->second == 0) of_session_.erase(count);
    timers_->Cancel(each->second.timer);
    removed.push_back(std::move(each->second));
    each = waiting_.erase(each);
  }
  return removed;
}

RunnerControls::Reply RunnerControls::RemoveOne(const std::string& control_id) {
  std::vector<Waiting> removed =
      Remove([&](const std::string& id, const Waiting&) { return id == control_id; });
  return removed.empty() ? nullptr : std::move(removed.front().reply);
}

RunnerControls::Reply RunnerControls::Take(const std::string& session_id,
                                           const std::string& control_id) {
  std::vector<Waiting> removed = Remove([&](const std::string& id, const Waiting& waiting) {
    return id == control_id && waiting.session_id == session_id;
  });
  return removed.empty() ? nullptr : std::move(removed.front().reply);
}

void RunnerControls::Fail(const std::string& session_id, const absl::Status& why) {
  const std::vector<Waiting> removed = Remove(
      [&](const std::string&, const Waiting& waiting) { return waiting.session_id == session_id; });
  for (const Waiting& each : removed) each.reply->Fail(why);
}

void RunnerControls::EndAll(const absl::Status& why) {
  {
    MutexLock lock(&mutex_);
    ended_ = why;
  }
  const std::vector<Waiting> removed =
      Remove([](const std::string&, const Waiting&) { return true; });
  for (const Waiting& each : removed) each.reply->Fail(why);
}

}  // namespace callslip::tracker
