#ifndef CALLSLIP_RUNNER_SESSION_AGENT_LIFE_H_
#define CALLSLIP_RUNNER_SESSION_AGENT_LIFE_H_

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "runner/acp/agent_update.h"
#include "runner/agent/agent_restarts.h"

namespace callslip::runner {

// How the agent of a session stands:
//
//   ASLEEP ──need──▶ PAUSING ──due──▶ WAITING ──begin──▶ STARTING ──ready──▶ RUNNING
//      ▲ ▲               │               │                   │                  │
//      │ └──────stop─────┴───────────────┘                   └───────stop───────┴──▶ STOPPING
//      └──end────────────────────────────────────────────────────────────────────────────┘
//
// An agent that ends by itself leads from RUNNING to ASLEEP, and from STARTING to PAUSING; either
// to FAILED where no other one is tried. A restart leads to RESTARTING, and that to PAUSING. The
// table in agent_life.cc is the only place that knows it.
enum class AgentPhase : uint8_t {
  kAsleep,      // There is none until one is needed.
  kFailed,      // There is none until somebody asks for one: the last ones have failed.
  kPausing,     // The next one is started a while after the last one has failed.
  kWaiting,     // The runner has no room for it yet.
  kStarting,    // It takes no prompt yet.
  kRunning,     // It takes prompts.
  kStopping,    // It was told to end.
  kRestarting,  // The same, and the next one is started then.
};

enum class LifeEvent : uint8_t {
  kNeed,     // There is something to do for an agent.
  kDue,      // The pause is over.
  kBegin,    // The runner has room, and starts it.
  kReady,    // It takes prompts.
  kStop,     // It is to end, and no other one to be started.
  kYield,    // It is to end, as the runner wants its room, or has no use for it.
  kRestart,  // It is to end, and the next one to be started.
  kEnd,      // Nothing is left of it.
  kGiveUp,   // The same, and no other one is tried.
};

inline constexpr int kAgentPhaseCount = 8;
inline constexpr int kLifeEventCount = 9;

// Where `event` leads from `phase`, or nullopt where it changes nothing.
std::optional<AgentPhase> NextPhase(AgentPhase phase, LifeEvent event);

// The life of a session's agents, one after the other: what stands in the table, when the next one
// may be started, and why the last one has ended. Pure: times are told.
class AgentLife {
 public:
  AgentPhase phase() const { return phase_; }
  // There is none, and none is to be started.
  bool is_at_rest() const { return phase_ == AgentPhase::kAsleep || phase_ == AgentPhase::kFailed; }
  // Why the last agent has ended, where nobody had asked for it; until one is ready.
  const AgentError& last_end() const { return last_end_; }
  // When the pause is over.
  absl::Time start_time() const { return start_time_; }
  // Somebody has stopped it, and nothing has needed it since.
  bool stays_stopped() const { return stays_stopped_; }
  // Of ends that count when the next one is started.
  bool Remembers(absl::Time now) const { return restarts_.Remembers(now); }

  void Need(absl::Time now);
  // Somebody has asked for it: without a pause.
  void Start(absl::Time now);
  void Restart(absl::Time now);
  // At start_time().
  void PauseIsOver() { Move(LifeEvent::kDue); }
  void Begin() { Move(LifeEvent::kBegin); }
  void Ready();
  // The session is no more, or is not the runner's any more; or the runner ends.
  void Stop() { Move(LifeEvent::kStop); }
  // The runner wants its room, or has no use for it.
  void Yield() { Move(LifeEvent::kYield); }
  // Somebody has asked for it.
  void StayStopped();
  // Nothing is left of it. `why`: where nobody had asked for it. `chance`: see AgentRestarts.
  void End(const AgentError& why, absl::Time now, double chance);
  // It has ended a turn as it should.
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

#endif  // CALLSLIP_RUNNER_SESSION_AGENT_LIFE_H_
