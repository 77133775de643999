#include "runner/session/agent_life.h"

#include "absl/algorithm/container.h"

namespace callslip::runner {
namespace {

struct Transition {
  AgentPhase from;
  LifeEvent event;
  AgentPhase to;
};

constexpr Transition kTransitions[] = {
    {AgentPhase::kAsleep, LifeEvent::kNeed, AgentPhase::kPausing},
    {AgentPhase::kAsleep, LifeEvent::kRestart, AgentPhase::kPausing},

    {AgentPhase::kFailed, LifeEvent::kNeed, AgentPhase::kPausing},
    {AgentPhase::kFailed, LifeEvent::kRestart, AgentPhase::kPausing},

    {AgentPhase::kPausing, LifeEvent::kDue, AgentPhase::kWaiting},
    {AgentPhase::kPausing, LifeEvent::kStop, AgentPhase::kAsleep},

    {AgentPhase::kWaiting, LifeEvent::kBegin, AgentPhase::kStarting},
    {AgentPhase::kWaiting, LifeEvent::kStop, AgentPhase::kAsleep},

    {AgentPhase::kStarting, LifeEvent::kReady, AgentPhase::kRunning},
    {AgentPhase::kStarting, LifeEvent::kStop, AgentPhase::kStopping},
    {AgentPhase::kStarting, LifeEvent::kYield, AgentPhase::kStopping},
    {AgentPhase::kStarting, LifeEvent::kRestart, AgentPhase::kRestarting},
    {AgentPhase::kStarting, LifeEvent::kEnd, AgentPhase::kPausing},
    {AgentPhase::kStarting, LifeEvent::kGiveUp, AgentPhase::kFailed},

    {AgentPhase::kRunning, LifeEvent::kStop, AgentPhase::kStopping},
    {AgentPhase::kRunning, LifeEvent::kYield, AgentPhase::kStopping},
    {AgentPhase::kRunning, LifeEvent::kRestart, AgentPhase::kRestarting},
    {AgentPhase::kRunning, LifeEvent::kEnd, AgentPhase::kAsleep},
    {AgentPhase::kRunning, LifeEvent::kGiveUp, AgentPhase::kFailed},

    {AgentPhase::kStopping, LifeEvent::kNeed, AgentPhase::kRestarting},
    {AgentPhase::kStopping, LifeEvent::kRestart, AgentPhase::kRestarting},
    {AgentPhase::kStopping, LifeEvent::kEnd, AgentPhase::kAsleep},

    {AgentPhase::kRestarting, LifeEvent::kStop, AgentPhase::kStopping},
    {AgentPhase::kRestarting, LifeEvent::kEnd, AgentPhase::kPausing},
};

AgentEnd KindOf(const AgentError& error) {
  if (error.reason == "command_missing") return AgentEnd::kCommandMissing;
  if (error.reason == "not_executable") return AgentEnd::kNotExecutable;
  if (error.reason == "directory_unusable") return AgentEnd::kDirectoryUnusable;
  if (error.reason == "auth_required") return AgentEnd::kLoginNeeded;
  if (error.reason == "initialize_refused") return AgentEnd::kRefused;
  if (error.reason == "unsupported_version") return AgentEnd::kOtherVersion;
  if (error.reason == "cannot_restore") return AgentEnd::kContextLost;
  if (error.reason == "protocol_error") return AgentEnd::kProtocolError;
  return error.reason == "agent_crashed" ? AgentEnd::kCrashed : AgentEnd::kHung;
}

}  // namespace

std::optional<AgentPhase> NextPhase(AgentPhase phase, LifeEvent event) {
  const auto* found = absl::c_find_if(kTransitions, [&](const Transition& each) {
    return each.from == phase && each.event == event;
  });
  if (found == std::end(kTransitions)) return std::nullopt;
  return found->to;
}

bool AgentLife::Move(LifeEvent event) {
  const std::optional<AgentPhase> next = NextPhase(phase_, event);
  phase_ = next.value_or(phase_);
  return next.has_value();
}

void AgentLife::MoveWhenDue(LifeEvent event, absl::Time now) {
  Move(event);
  if (start_time_ <= now) Move(LifeEvent::kDue);
}

void AgentLife::Need(absl::Time now) {
  stays_stopped_ = false;
  // A person has acted since the failure.
  if (phase_ == AgentPhase::kFailed) restarts_.Clear();
  MoveWhenDue(LifeEvent::kNeed, now);
}

void AgentLife::Start(absl::Time now) {
  restarts_.Clear();
  start_time_ = absl::InfinitePast();
  Need(now);
}

void AgentLife::Restart(absl::Time now) {
  Move(LifeEvent::kRestart);
  Start(now);
}

void AgentLife::Ready() {
  if (Move(LifeEvent::kReady)) last_end_ = {};
}

void AgentLife::StayStopped() {
  stays_stopped_ = true;
  Stop();
}

void AgentLife::End(const AgentError& why, absl::Time now, double chance) {
  if (phase_ != AgentPhase::kStarting && phase_ != AgentPhase::kRunning) {
    return MoveWhenDue(LifeEvent::kEnd, now);
  }
  const std::optional<absl::Time> next = restarts_.After(KindOf(why), now, chance);
  last_end_ = why;
  start_time_ = next.value_or(absl::InfinitePast());
  if (!next.has_value()) {
    Move(LifeEvent::kGiveUp);
  } else {
    MoveWhenDue(LifeEvent::kEnd, now);
  }
}

}  // namespace callslip::runner
