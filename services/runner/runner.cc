#include "runner/runner.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "boost/asio/co_spawn.hpp"
#include "boost/asio/detached.hpp"
#include "boost/asio/post.hpp"
#include "common/error_details.h"
#include "common/log.h"
#include "common/random.h"
#include "runner/tracker/call_with_retry.h"

namespace callslip::runner {

namespace {

// Another process with this name can end at any time.
constexpr absl::Duration kNameTakenPause = absl::Seconds(10);

}  // namespace

Runner::Runner(boost::asio::io_context& context, Timers* timers, TrackerCalls* tracker,
               RunnerSetup setup)
    : context_(context),
      timers_(timers),
      setup_(std::move(setup)),
      instance_(RandomHex128()),
      host_{.executor = context.get_executor(),
            .timers = timers,
            .tracker = tracker,
            .chance = [] { return static_cast<double>(Random64() >> 11) * 0x1p-53; }},
      scheduler_(setup_.limits) {}

void Runner::Start() { boost::asio::co_spawn(context_, Serve(), boost::asio::detached); }

boost::asio::awaitable<void> Runner::Serve() {
  Backoff again;
  while (stopped_ == nullptr) {
    v1::ServeRequest request = setup_.offer;
    request.set_instance(instance_);
    for (const auto& [id, session] : sessions_) {
      const auto later = later_.find(id);
      if (session->is_released() && later == later_.end()) continue;
      v1::HeldSession& held = *request.add_held();
      held.set_session_id(id);
      held.set_lease(later == later_.end() ? session->lease() : later->second.front().lease());
    }
    const auto assignments = host_.tracker->Open(std::move(request));
    absl::StatusOr<std::optional<v1::Assignment>> next = co_await assignments->Next();
    while (stopped_ == nullptr && next.ok() && next->has_value()) {
      again.Reset();
      Take(**next);
      next = co_await assignments->Next();
    }
    if (stopped_ != nullptr) co_return;
    if (!next.ok() && DetailsOf(next.status()).reason == "runner_name_taken") {
      Log(LogLevel::kError, "another runner of this name serves: give each a runner_id of its own",
          {{"runner", setup_.offer.runner_id()},
           {"tried_again_in", absl::FormatDuration(kNameTakenPause)}});
      if (setup_.when_refused != nullptr) setup_.when_refused(next.status());
      // The other runner has this runner's sessions now.
      later_.clear();
      for (const auto& [id, session] : sessions_) session->Release();
      co_await Pause(*timers_, kNameTakenPause);
      continue;
    }
    if (setup_.when_refused != nullptr) setup_.when_refused(next.status());
    Log(LogLevel::kWarning, "the tracker gives nothing to do: trying again",
        {{"error", next.ok() ? "the call has ended" : std::string(next.status().message())}});
    co_await Pause(*timers_, again.Next());
  }
}

void Runner::Take(const v1::Assignment& assignment) {
  if (assignment.has_started()) {
    Log(LogLevel::kInfo, "serves", {{"runner", setup_.offer.runner_id()}});
    for (const auto& [id, session] : sessions_) session->TellAgain();
    if (setup_.when_serving != nullptr) setup_.when_serving();
    return;
  }
  const std::string& id = assignment.session().session_id();
  const auto found = sessions_.find(id);
  if (assignment.has_released()) {
    // The session may have been assigned to this runner again meanwhile.
    const auto later = later_.find(id);
    if (later != later_.end() && later->second.front().lease() == assignment.lease()) {
      later_.erase(later);
    }
    if (found != sessions_.end() && found->second->lease() == assignment.lease()) {
      found->second->Release();
    }
    return Forget();
  }
  if (setup_.when_given != nullptr) setup_.when_given(assignment.lease());
  std::shared_ptr<SessionRunner> session;
  const bool is_new = found == sessions_.end();
  if (!is_new && (found->second->is_released() || found->second->lease() != assignment.lease())) {
    // Another runner had the session meanwhile. What this runner has of it must end first.
    found->second->Release();
    Keep(assignment);
    return Forget();
  }
  if (!is_new) {
    session = found->second;
  } else {
    std::optional<SessionPlan> plan = setup_.plan_of(assignment.session());
    if (!plan.has_value()) {
      Log(LogLevel::kWarning, "a session can't be run here", {{"session", id}});
      boost::asio::co_spawn(context_, GiveUp(assignment), boost::asio::detached);
      return;
    }
    session = std::make_shared<SessionRunner>(&host_, static_cast<AgentScheduler*>(this),
                                              *std::move(plan), assignment);
    sessions_.emplace(id, session);
  }
  if (assignment.has_needed() && is_new && !assignment.session().turn_id().empty()) {
    session->NeedAfter(assignment.session().turn_id());
  } else if (assignment.has_needed()) {
    session->Need(assignment.session().agent().status());
  }
  if (assignment.has_control()) session->Control(assignment.control());
}

// Keeps one need of the newest lease and its controls; the tracker sends few of these.
void Runner::Keep(const v1::Assignment& assignment) {
  std::vector<v1::Assignment>& kept = later_[assignment.session().session_id()];
  std::erase_if(kept, [&](const v1::Assignment& each) {
    return each.lease() != assignment.lease() || (each.has_needed() && assignment.has_needed());
  });
  kept.push_back(assignment);
}

// Another runner can then take the session; it returns to this one when that has changed.
boost::asio::awaitable<void> Runner::GiveUp(v1::Assignment assignment) {
  const SessionName session{assignment.session().client_id(), assignment.session().session_id(),
                            assignment.lease()};
  if (assignment.has_control()) {
    auto answer = RequestAbout<v1::AnswerControlRequest>(session);
    answer.set_control_id(assignment.control().control_id());
    answer.set_error_reason("agent_not_offered");
    answer.set_error_message(
        "the session's runner has no such agent, or no workspace that its folder is in");
    co_await CallWithRetry(*host_.tracker, *timers_, std::move(answer),
                           [this] { return stopped_ != nullptr; });
  }
  auto release = RequestAbout<v1::ReleaseSessionRequest>(session);
  co_await CallWithRetry(*host_.tracker, *timers_, std::move(release),
                         [this] { return stopped_ != nullptr; });
}

void Runner::StepLater() {
  if (std::exchange(stepping_, true)) return;
  boost::asio::post(context_, [this] {
    stepping_ = false;
    Step();
  });
}

void Runner::Step() {
  for (const AgentStep& step : scheduler_.Next(timers_->Now())) {
    const auto found = sessions_.find(step.session);
    if (found == sessions_.end()) {
      scheduler_.Ended(step.session);
      continue;
    }
    const std::shared_ptr<SessionRunner> session = found->second;
    switch (step.kind) {
      case AgentStep::Kind::kJoin:
        if (auto agent = processes_[step.process].lock();
            agent != nullptr && agent->has_sessions()) {
          session->Begin(std::move(agent));
          break;
        }
        // The process is gone or is ending: start another one.
        [[fallthrough]];
      case AgentStep::Kind::kStart:
        session->Begin([this, process = step.process](AgentSettings settings) {
          auto agent = RunningAgent::Start(context_, timers_, setup_.keeper, std::move(settings));
          processes_[process] = agent;
          return agent;
        });
        break;
      case AgentStep::Kind::kStop: session->Yield(); break;
    }
  }
  std::erase_if(processes_, [](const auto& each) { return each.second.expired(); });
  for (const auto& [id, session] : sessions_) {
    if (scheduler_.PlaceOf(id) > 0) session->TellWaiting();
  }
  Forget();
  const absl::Duration left = scheduler_.NextTime() - timers_->Now();
  step_timer_.reset();
  if (left < absl::InfiniteDuration()) {
    step_timer_ = timers_->After(std::max(left, absl::ZeroDuration()), [this] { StepLater(); });
  }
  const bool has_turn = std::any_of(sessions_.begin(), sessions_.end(),
                                    [](const auto& each) { return each.second->has_turn(); });
  if (stopped_ != nullptr && scheduler_.processes() == 0 && !has_turn) {
    // Call `stopped` only once.
    const auto stopped = std::exchange(stopped_, [] {});
    stopped();
  }
}

// The tracker stores the state of sleeping sessions.
void Runner::Forget() {
  std::erase_if(sessions_, [](const auto& each) { return each.second->is_asleep(); });
  std::vector<v1::Assignment> now;
  for (auto each = later_.begin(); each != later_.end();) {
    if (sessions_.contains(each->first)) {
      ++each;
      continue;
    }
    now.insert(now.end(), each->second.begin(), each->second.end());
    each = later_.erase(each);
  }
  for (const v1::Assignment& assignment : now) Take(assignment);
}

void Runner::Stop(std::function<void()> done) {
  stopped_ = std::move(done);
  later_.clear();
  host_.is_stopping = true;
  for (const auto& [id, session] : sessions_) session->Stop();
  StepLater();
}

void Runner::Want(const AgentWant& want) {
  scheduler_.Want(want, timers_->Now());
  StepLater();
}

void Runner::Started(const std::string& session) {
  scheduler_.Started(session, timers_->Now());
  StepLater();
}

void Runner::Busy(const std::string& session, bool busy) {
  scheduler_.Busy(session, busy, timers_->Now());
  StepLater();
}

void Runner::Ended(const std::string& session) {
  scheduler_.Ended(session);
  StepLater();
}

void Runner::Drop(const std::string& session) {
  scheduler_.Drop(session);
  StepLater();
}

}  // namespace callslip::runner
