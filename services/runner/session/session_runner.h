#ifndef CALLSLIP_RUNNER_SESSION_SESSION_RUNNER_H_
#define CALLSLIP_RUNNER_SESSION_SESSION_RUNNER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "boost/asio/awaitable.hpp"
#include "runner/session/agent_details.h"
#include "runner/session/agent_life.h"
#include "runner/session/agent_report.h"
#include "runner/session/recorder.h"
#include "runner/session/session_agent.h"
#include "runner/session/session_host.h"
#include "runner/session/session_plan.h"
#include "runner/session/session_questions.h"
#include "runner/session/session_turns.h"
#include "runner/timers.h"

namespace callslip::runner {

// A session of the tracker at its runner: has an agent where one is needed, says how that is, and
// asks people for what it asks for. AgentLife says when there is one, SessionAgent is one of them,
// and SessionTurns are what they do. Lives on one thread; its coroutines hold it.
class SessionRunner : public std::enable_shared_from_this<SessionRunner>,
                      private SessionAgent::Owner,
                      private SessionTurns::Agents {
 public:
  // `host` and `scheduler` must outlive it and its coroutines.
  SessionRunner(SessionHost* host, AgentScheduler* scheduler, SessionPlan plan,
                const v1::Assignment& assignment);

  const std::string& id() const { return name_.session_id; }
  // By which the tracker knows that it has the session still.
  int64_t lease() const { return name_.lease; }
  bool is_released() const { return released_; }
  // Nothing of it runs, nothing is to, and nothing is to be remembered.
  bool is_asleep() const {
    return life_.is_at_rest() && turns_->is_idle() && !report_->is_telling() &&
           (released_ || (!told_lost_ && !life_.Remembers(host_->timers->Now())));
  }
  bool has_turn() const { return turns_->has_turn(); }

  // There is something to do for its agent, which was `known` to be so when that was told.
  void Need(v1::AgentStatus known = v1::AGENT_STATUS_UNSPECIFIED);
  // The same, where a turn is under way that another process has begun, and that is lost with it.
  void NeedAfter(const std::string& turn_id) { turns_->FailLost(turn_id); }
  // The scheduler has made room: its agent is started in this process.
  void Begin(SessionAgent::Process process);
  // The scheduler has none yet.
  void TellWaiting();
  // The runner ends.
  void Stop();
  // The scheduler wants the room, or nobody needs the agent.
  void Yield();
  // Does what somebody wants of the agent, and answers.
  void Control(const v1::AgentControl& control);
  // The tracker may have forgotten how the agent is.
  void TellAgain() { report_->SayAgain(); }
  // The session is not this runner's any more: ends the agent and tells nobody.
  void Release();

 private:
  absl::Time Now() const { return host_->timers->Now(); }
  // Lets something happen in the life of its agents, and does what that means.
  template <typename Happens>
  void Live(Happens happens);
  void Entered(AgentPhase before);
  void TellNextStart(AgentPhase before);

  void OnReady() override;
  void OnOver(const AgentError& why) override;
  void LogEnd(const AgentError& why) const;
  void Choose(const v1::AgentControl& control);
  void RecordContextLost(const AgentError& why);

  // Tells the scheduler whether the agent may be stopped for another one.
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
  const std::shared_ptr<Recorder> recorder_;
  const std::shared_ptr<SessionQuestions> questions_;
  const std::shared_ptr<AgentReport> report_;
  const std::shared_ptr<SessionTurns> turns_;

  AgentLife life_;
  std::shared_ptr<SessionAgent> agent_;         // From its start to its end.
  std::unique_ptr<Timers::Timer> start_timer_;  // While it pauses.
  std::unique_ptr<Timers::Timer> idle_timer_;
  // Of the session at its last agent, as the tracker has it; of an agent that was never asked
  // anything there is none.
  std::string agent_session_id_;
  AgentDetails details_;    // What it has told of itself.
  std::string title_;       // That the tracker was not told yet.
  bool told_lost_ = false;  // That the context is lost: once until there is another.
  bool released_ = false;
};

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_SESSION_SESSION_RUNNER_H_
