#pragma once

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "runner/acp/agent_update.h"
#include "runner/agent/agent_restarts.h"

namespace callslip::runner {

// The phases of a session's agent:
//
//   ASLEEP ──need──▶ PAUSING ──due──▶ WAITING ──begin──▶ STARTING ──ready──▶ RUNNING
//      ▲ ▲               │               │                   │                  │
//      │ └──────stop─────┴───────────────┘                   └───────stop───────┴──▶ STOPPING
//      └──end────────────────────────────────────────────────────────────────────────────┘
//
// An agent that ends by itself leads from RUNNING to ASLEEP and from STARTING to PAUSING, or from
// either to FAILED if no other agent is tried. A restart leads to RESTARTING, and from there to
// PAUSING. Only the table in agent_life.cc defines the transitions.
enum class AgentPhase : uint8_t {
  kAsleep,      // No agent until one is needed.
  kFailed,      // No agent until one is requested: the last ones failed.
  kPausing,     // The next agent starts some time after the last failure.
  kWaiting,     // The runner has no room for the agent yet.
  kStarting,    // The agent does not accept prompts yet.
  kRunning,     // The agent accepts prompts.
  kStopping,    // The agent was told to end.
  kRestarting,  // The same; the next agent starts after that.
};

enum class LifeEvent : uint8_t {
  kNeed,     // There is work for an agent.
  kDue,      // The pause is over.
  kBegin,    // The runner has room and starts the agent.
  kReady,    // The agent accepts prompts.
  kStop,     // The agent must end, and no other must start.
  kYield,    // The agent must end, because the runner needs the room or has no use for the agent.
  kRestart,  // The agent must end, and the next one must start.
  kEnd,      // Nothing is left of the agent.
  kGiveUp,   // The same, and no other agent is tried.
};

inline constexpr int kAgentPhaseCount = 8;
inline constexpr int kLifeEventCount = 9;

// The phase after `event` in `phase`; nullopt if the event has no effect.
std::optional<AgentPhase> NextPhase(AgentPhase phase, LifeEvent event);

// The life of a session's agents, one after the other: the phase, when the next agent can start,
// and why the last one ended. Pure logic: times are arguments.
class AgentLife {
 public:
  AgentPhase phase() const { return phase_; }
  // No agent, and none is about to start.
  bool is_at_rest() const { return phase_ == AgentPhase::kAsleep || phase_ == AgentPhase::kFailed; }
  // Why the last agent ended without a request; reset when one is ready.
  const AgentError& last_end() const { return last_end_; }
  // When the pause ends.
  absl::Time start_time() const { return start_time_; }
  // A user stopped the agent, and nothing has needed it since.
  bool stays_stopped() const { return stays_stopped_; }
  // Whether recorded ends still affect the next start.
  bool Remembers(absl::Time now) const { return restarts_.Remembers(now); }

  void Need(absl::Time now);
  // At a user's request: without a pause.
  void Start(absl::Time now);
  void Restart(absl::Time now);
  // Call at start_time().
  void PauseIsOver() { Move(LifeEvent::kDue); }
  void Begin() { Move(LifeEvent::kBegin); }
  void Ready();
  // The session has ended or has another runner, or the runner is stopping.
  void Stop() { Move(LifeEvent::kStop); }
  // The runner needs the room, or has no use for the agent.
  void Yield() { Move(LifeEvent::kYield); }
  // At a user's request.
  void StayStopped();
  // Nothing is left of the agent. `why` is the reason if the end was not requested. `chance`: see
  // AgentRestarts.
  void End(const AgentError& why, absl::Time now, double chance);
  // The agent completed a turn.
  void EndedTurn() { restarts_.Clear(); }

 private:
  bool Move(LifeEvent event);
  void MoveWhenDue(LifeEvent event, absl::Time now);

  AgentPhase phase_ = AgentPhase::kAsleep;
  AgentRestarts restarts_;
  AgentError last_end_;
  absl::Time start_time_ = absl::InfinitePast();
  bool stays_stopped_ = false;
};

}  // namespace callslip::runner
