#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "runner/session/agent_details.h"
#include "runner/session/agent_life.h"
#include "runner/session/agent_report.h"
#include "runner/session/recorder.h"
#include "runner/session/session_agent.h"
#include "runner/session/session_host.h"
#include "runner/session/session_plan.h"
#include "runner/session/session_questions.h"
#include "runner/session/session_turns.h"
#include "runner/session/turn_spans.h"
#include "runner/timers.h"

namespace callslip::runner {

// A session of the tracker at its runner: provides an agent when one is needed, reports its state,
// and asks users for permissions. AgentLife decides when there is an agent, SessionAgent is one
// agent, and SessionTurns are the turns. Use on one thread; its coroutines keep it alive.
class SessionRunner : public std::enable_shared_from_this<SessionRunner>,
                      private SessionAgent::Owner,
                      private SessionTurns::Agents {
 public:
  // `host` and `scheduler` must outlive this and its coroutines.
  SessionRunner(SessionHost* host, AgentScheduler* scheduler, SessionPlan plan,
                const v1::Assignment& assignment);

  const std::string& id() const { return name_.session_id; }
  // The lease by which the tracker recognizes that this runner still has the session.
  int64_t lease() const { return name_.lease; }
  bool is_released() const { return released_; }
  // Nothing runs, nothing is due, and nothing must be remembered.
  bool is_asleep() const {
    return life_.is_at_rest() && turns_->is_idle() && !report_->is_telling() &&
           (released_ || !life_.Remembers(host_->timers->Now()));
  }
  bool has_turn() const { return turns_->has_turn(); }

  // There is work for the agent; `known` is the agent's status as the tracker knew it then.
  void Need(v1::AgentStatus known = v1::AGENT_STATUS_UNSPECIFIED);
  // The same, with a turn under way that another process began and lost.
  void NeedAfter(const std::string& turn_id) { turns_->FailLost(turn_id); }
  // The scheduler has made room: starts the agent in this process.
  void Begin(SessionAgent::Process process);
  // The scheduler has no room yet.
  void TellWaiting();
  // The runner is stopping.
  void Stop();
  // The scheduler needs the room, or no agent is needed.
  void Yield();
  // Executes a control and answers it.
  void Control(const v1::AgentControl& control);
  // The tracker may have forgotten the agent's state.
  void TellAgain() { report_->SayAgain(); }
  // The session has another runner: ends the agent and reports nothing more.
  void Release();

 private:
  absl::Time Now() const { return host_->timers->Now(); }
  // Applies an event to the life of the agents, and acts on the result.
  template <typename Happens>
  void Live(Happens happens);
  void Entered(AgentPhase before);
  void TellNextStart(AgentPhase before);

  void OnReady() override;
  void OnOver(const AgentError& why) override;
  void LogEnd(const AgentError& why) const;
  void Choose(const v1::AgentControl& control);

  // Reports to the scheduler whether the agent can be stopped in favor of another one.
  void NoteBusy();
  void NoteIdleLater();

  void OnUpdate(AgentUpdate update) override;
  void OnPermission(PermissionQuestion question,
                    std::function<void(PermissionChoice)> answer) override;
  void OnPermissionOver(int64_t number) override;
  void OnSilence(absl::Duration silent) override;

  std::shared_ptr<SessionAgent> Running() override;
  std::optional<AgentError> AskForOne() override;
  void OnAsked() override;
  void OnAnswered() override { life_.EndedTurn(); }
  void OnTurn() override { NoteBusy(); }
  void OnNoMessages() override { Yield(); }
  Json Usage() const override { return details_.usage(); }

  SessionHost* const host_;
  AgentScheduler* const scheduler_;
  const SessionPlan plan_;
  const SessionName name_;
  const std::shared_ptr<TurnSpans> spans_;
  const std::shared_ptr<Recorder> recorder_;
  const std::shared_ptr<SessionQuestions> questions_;
  const std::shared_ptr<AgentReport> report_;
  const std::shared_ptr<SessionTurns> turns_;

  AgentLife life_;
  std::shared_ptr<SessionAgent> agent_;         // Set from its start to its end.
  std::unique_ptr<Timers::Timer> start_timer_;  // Set during a pause.
  std::unique_ptr<Timers::Timer> idle_timer_;
  // The last agent's id of the session, as the tracker has it; empty for an agent that was never
  // prompted.
  std::string agent_session_id_;
  AgentDetails details_;  // The state that the agent has reported.
  std::string title_;     // Not reported to the tracker yet.
  bool released_ = false;
};

}  // namespace callslip::runner
