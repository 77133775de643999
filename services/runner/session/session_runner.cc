#include "runner/session/session_runner.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "boost/asio/co_spawn.hpp"
#include "common/log.h"
#include "common/random.h"
#include "common/text_scan.h"
#include "runner/tracker/call_with_retry.h"

namespace callslip::runner {
namespace {

// The tracker's limit for a name.
constexpr size_t kNameBytes = 256;
// How long the first message can take to arrive after a start.
constexpr absl::Duration kFirstMessage = absl::Seconds(2);

NewEvent DecidedByPolicy(const PermissionQuestion& question, const std::string& id,
                         const std::string& option) {
  NewEvent event("permission");
  event.Set("title", TitleOf(question))
      .Set("selected_option", IdText(option))
      .Set("outcome", "selected")
      .Set("permission_id", id)
      .SetUnlessEmpty("tool_call_id", IdText(question.tool_call.id))
      .Set("decided_by", "policy");
  return event;
}

NewEvent ContextLost(const AgentError& why) {
  NewEvent event("context_lost");
  event.Set("reason", why.reason).Set("message", why.message);
  return event;
}

}  // namespace

SessionRunner::SessionRunner(SessionHost* host, AgentScheduler* scheduler, SessionPlan plan,
                             const v1::Assignment& assignment)
    : host_(host),
      scheduler_(scheduler),
      plan_(std::move(plan)),
      name_{assignment.session().client_id(), assignment.session().session_id(),
            assignment.lease()},
      spans_(std::make_shared<TurnSpans>(
          plan_.want.agent, name_.session_id,
          absl::FromUnixSeconds(assignment.session().create_time().seconds()))),
      recorder_(std::make_shared<Recorder>(spans_->Traced(host->executor), host->tracker,
                                           host->timers, name_, assignment.session().max_seq())),
      questions_(std::make_shared<SessionQuestions>(spans_->Traced(host->executor), host->tracker,
                                                    host->timers, name_, recorder_)),
      report_(std::make_shared<AgentReport>(
          spans_->Traced(host->executor), host->tracker, host->timers, name_,
          [this](v1::SetAgentStateRequest& state) {
            state.set_agent_session_id(agent_session_id_);
            state.set_details(details_.ToText());
            state.set_title(std::exchange(title_, ""));
          },
          [this] {
            // The session can be forgotten now, and another lease may wait for that.
            if (life_.is_at_rest()) NoteBusy();
          })),
      turns_(std::make_shared<SessionTurns>(host, static_cast<SessionTurns::Agents*>(this), &plan_,
                                            name_, recorder_, spans_)),
      agent_session_id_(assignment.session().agent().agent_session_id()),
      details_(AgentDetails::Parse(assignment.session().agent().details())) {}

template <typename Happens>
void SessionRunner::Live(Happens happens) {
  const AgentPhase before = life_.phase();
  happens();
  if (life_.phase() != before) Entered(before);
  turns_->AgentsChanged();
}

void SessionRunner::Entered(AgentPhase before) {
  start_timer_.reset();
  switch (life_.phase()) {
    case AgentPhase::kAsleep: {
      // After an end by itself, the agent is started again when it is needed.
      const AgentError why = before == AgentPhase::kRunning ? life_.last_end() : AgentError{};
      if (before == AgentPhase::kWaiting) scheduler_->Drop(id());
      report_->ReportStatus(v1::AGENT_STATUS_STOPPED, why);
      return report_->AnswerWaiting(why);
    }
    case AgentPhase::kFailed:
      report_->ReportStatus(v1::AGENT_STATUS_FAILED, life_.last_end());
      // The tracker pauses the queue for this status, until a person acts.
      return report_->AnswerWaiting(life_.last_end());
    case AgentPhase::kPausing:
      TellNextStart(before);
      start_timer_ = host_->timers->After(life_.start_time() - Now(), [this] {
        const auto self = shared_from_this();
        Live([this] { life_.PauseIsOver(); });
      });
      return;
    case AgentPhase::kWaiting: TellNextStart(before); return scheduler_->Want(plan_.want);
    case AgentPhase::kStarting:
      // Why the previous agent ended, until this one is ready.
      return report_->ReportStatus(v1::AGENT_STATUS_STARTING, life_.last_end());
    case AgentPhase::kRunning:
      report_->ReportStatus(v1::AGENT_STATUS_IDLE);
      report_->AnswerWaiting();
      turns_->BeginReceiving();
      scheduler_->Started(id());
      return NoteIdleLater();
    case AgentPhase::kStopping:
    case AgentPhase::kRestarting:
      if (before == AgentPhase::kStopping || before == AgentPhase::kRestarting) return;
      turns_->EndReceiving();
      report_->ReportStatus(v1::AGENT_STATUS_STOPPING);
      // Its process accepts no further session.
      scheduler_->Drop(id());
      return agent_->Stop();
  }
}

// Unless it is the first start: reports why the last agent ended.
void SessionRunner::TellNextStart(AgentPhase before) {
  if (life_.last_end().reason.empty()) return;
  report_->ReportStatus(v1::AGENT_STATUS_STARTING, life_.last_end());
  if (before == AgentPhase::kStarting) report_->AnswerWaiting(life_.last_end());
}

void SessionRunner::Need(v1::AgentStatus known) {
  if (host_->is_stopping) return;
  // The message is older than the report of the failure, which pauses the queue until a person
  // acts.
  if (life_.phase() == AgentPhase::kFailed && known != v1::AGENT_STATUS_FAILED) return;
  Live([this] { life_.Need(Now()); });
}

void SessionRunner::TellWaiting() {
  if (life_.phase() != AgentPhase::kWaiting) return;
  if (report_->status() == v1::AGENT_STATUS_WAITING) return;
  report_->ReportStatus(v1::AGENT_STATUS_WAITING,
                        {"too_many_agents",
                         "as many agents run as may; it starts when another one "
                         "has stopped"});
  report_->AnswerWaiting();
}

void SessionRunner::Begin(SessionAgent::Process process) {
  SessionAgent::Before before{.agent_session_id = details_.fresh_wanted() ? "" : agent_session_id_,
                              .details = details_,
                              .traceparent = spans_->Traceparent()};
  agent_ = std::make_shared<SessionAgent>(host_, static_cast<Owner*>(this), name_, plan_, recorder_,
                                          std::move(before));
  Live([this] { life_.Begin(); });
  agent_->Begin(std::move(process));
}

void SessionRunner::OnReady() {
  const bool is_new = !agent_->has_context();
  if (is_new && !agent_session_id_.empty()) {
    // Not before: what could not be restored once may be restored by a later start.
    recorder_->Add(ContextLost(
        agent_->context_lost().value_or(AgentError{"fresh", "a new context was asked for"})));
  }
  const bool still_wants_fresh = !is_new && details_.fresh_wanted();
  if (is_new) agent_session_id_.clear();
  details_ = agent_->details();
  details_.SetFreshWanted(still_wants_fresh);
  Live([this] { life_.Ready(); });
}

void SessionRunner::OnOver(const AgentError& why) {
  const auto self = shared_from_this();
  if (!why.reason.empty()) LogEnd(why);
  questions_->WithdrawAll();
  agent_.reset();
  turns_->EndReceiving();
  idle_timer_.reset();
  scheduler_->Ended(id());
  Live([&] { life_.End(why, Now(), host_->chance()); });
}

void SessionRunner::LogEnd(const AgentError& why) const {
  Log(LogLevel::kWarning,
      agent_->was_ready() ? "an agent has ended" : "an agent could not be started",
      {{"session", id()},
       {"traceparent", spans_->UnderWay()},
       {"agent", plan_.want.agent},
       {"reason", why.reason},
       {"message", why.message}});
}

void SessionRunner::Stop() {
  turns_->StopCommands("the runner was stopped");
  Live([this] { life_.Stop(); });
}

void SessionRunner::Yield() {
  Live([this] { life_.Yield(); });
}

void SessionRunner::Release() {
  released_ = true;
  report_->Release();
  questions_->Release();
  turns_->Release();
  Live([this] { life_.Stop(); });
}

void SessionRunner::NoteBusy() {
  idle_timer_.reset();
  // An agent that would lose its context is not stopped for another one.
  const bool would_forget = agent_ != nullptr && agent_->would_forget() && !plan_.allow_fresh;
  scheduler_->Busy(id(), turns_->has_turn() || !questions_->empty() || would_forget);
}

// The message for which the agent was started arrives with the tracker's first answer, if at all.
void SessionRunner::NoteIdleLater() {
  idle_timer_ = host_->timers->After(kFirstMessage, [this] { NoteBusy(); });
}

std::shared_ptr<SessionAgent> SessionRunner::Running() {
  return life_.phase() == AgentPhase::kRunning && !released_ ? agent_ : nullptr;
}

std::optional<AgentError> SessionRunner::AskForOne() {
  if (released_) return AgentError{"runner_lost", "the session is another runner's"};
  if (life_.phase() == AgentPhase::kFailed) return life_.last_end();
  if (host_->is_stopping || life_.stays_stopped()) {
    return AgentError{"agent_stopped", "the agent was stopped before it could be asked"};
  }
  // An agent that is ending is followed by another.
  if (life_.phase() == AgentPhase::kAsleep || life_.phase() == AgentPhase::kStopping) Need();
  return std::nullopt;
}

void SessionRunner::OnAsked() {
  agent_session_id_ = agent_->session().id();
  // The tracker must know even if this runner fails: from now on the agent has context of the
  // session.
  report_->SayAgainAtOnce();
}

void SessionRunner::OnUpdate(AgentUpdate update) {
  if (report_->reason() == "agent_silent") report_->ReportStatus(v1::AGENT_STATUS_IDLE);
  if (details_.Take(update)) return TellAgain();
  if (const auto* title = std::get_if<SessionTitle>(&update)) {
    title_ = std::string(CutText(title->title, kNameBytes));
    return TellAgain();
  }
  turns_->Record(std::move(update));
}

void SessionRunner::OnPermission(PermissionQuestion question,
                                 std::function<void(PermissionChoice)> answer) {
  // Unpredictable, so that no client can answer the question before it is asked.
  const std::string permission_id = absl::StrCat("acp-", RandomHex128());
  turns_->Complete(question);
  const std::optional<std::string> decided =
      plan_.permissions.Decide(question.tool_call.kind.value_or(""), question.options);
  if (decided.has_value()) {
    recorder_->Add(DecidedByPolicy(question, permission_id, *decided));
    return answer(decided);
  }
  questions_->Ask(question, permission_id, plan_.parents_allow, spans_->BeginQuestion(),
                  [self = shared_from_this(), answer = std::move(answer)](PermissionChoice choice) {
                    answer(std::move(choice));
                    self->NoteBusy();
                  });
  NoteBusy();
}

void SessionRunner::OnPermissionOver(int64_t number) {
  questions_->Withdraw(number);
  NoteBusy();
}

void SessionRunner::OnSilence(absl::Duration silent) {
  report_->ReportStatus(v1::AGENT_STATUS_IDLE,
                        {"agent_silent", absl::StrCat("nothing was heard of the agent for ",
                                                      absl::FormatDuration(silent))});
}

void SessionRunner::Control(const v1::AgentControl& control) {
  if (control.has_mode_id() || control.has_config_option()) return Choose(control);
  switch (control.action()) {
    case v1::AGENT_ACTION_STOP:
      turns_->StopCommands("the agent was stopped");
      Live([this] { life_.StayStopped(); });
      break;
    case v1::AGENT_ACTION_FRESH:
      details_.SetFreshWanted(true);
      // Even without an earlier report: the next runner of the session must know.
      if (report_->status() == v1::AGENT_STATUS_UNSPECIFIED) {
        report_->ReportStatus(v1::AGENT_STATUS_STOPPED);
      } else {
        report_->SayAgainAtOnce();
      }
      [[fallthrough]];
    case v1::AGENT_ACTION_RESTART:
      if (!host_->is_stopping) Live([this] { life_.Restart(Now()); });
      break;
    default:
      if (host_->is_stopping) break;
      // A person who has fixed the cause of a failure must not get the same error again.
      if (agent_ != nullptr && agent_->has_failed()) {
        Live([this] { life_.Restart(Now()); });
      } else {
        Live([this] { life_.Start(Now()); });
      }
  }
  if (life_.is_at_rest() || life_.phase() == AgentPhase::kRunning) {
    return report_->Answer(control.control_id());
  }
  report_->AnswerLater(control.control_id());
}

void SessionRunner::Choose(const v1::AgentControl& control) {
  const auto answer = [report = report_, id = control.control_id()](const RpcAnswer& set) {
    const auto* error = std::get_if<RpcError>(&set);
    report->Answer(id, error == nullptr ? AgentError{} : AgentError{"agent_error", error->message});
  };
  if (life_.phase() != AgentPhase::kRunning) {
    return report_->Answer(control.control_id(),
                           {"agent_not_running", "the agent does not run: start it first"});
  }
  if (control.has_config_option()) {
    return agent_->session().SetConfigOption(control.config_option().id(),
                                             control.config_option().value(), answer);
  }
  agent_->session().SetMode(control.mode_id(), [self = shared_from_this(), answer,
                                                mode = control.mode_id()](const RpcAnswer& set) {
    if (std::holds_alternative<Json>(set)) self->OnUpdate(CurrentMode{mode});
    answer(set);
  });
}

}  // namespace callslip::runner
