#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "runner/agent/agent.h"

namespace callslip::runner {
namespace {

// Whether the update is part of the conversation rather than of the agent's state.
bool IsSaid(const AgentUpdate& update) {
  return std::holds_alternative<MessagePiece>(update) || std::holds_alternative<ToolCall>(update) ||
         std::holds_alternative<ToolCallChange>(update) || std::holds_alternative<Plan>(update);
}

}  // namespace

void AgentSession::Begin(std::string id, const Json& answer) {
  id_ = std::move(id);
  modes_ = MemberOf(answer, "modes");
  config_options_ = MemberOf(answer, "configOptions");
  answer_time_ = agent_->timers_->Now();
}

void AgentSession::Prompt(Json blocks, std::function<void(TurnEnd)> done,
                          absl::string_view traceparent) {
  if (end_.has_value() || agent_->why_.has_value() || is_prompting()) {
    AgentError error{"agent_error", "a turn is under way"};
    if (!is_prompting()) error = end_.has_value() ? *end_ : *agent_->why_;
    error.prompt_unsent = true;
    return done(std::move(error));
  }
  done_ = std::move(done);
  answered_.reset();
  written_ = cancelled_ = false;
  Heard();
  WatchSilence(std::min(agent_->settings_.patience.silence, agent_->settings_.patience.turn_idle));
  agent_->Request(
      "session/prompt", acp::PromptParams(id_, std::move(blocks), traceparent),
      [self = shared_from_this()](RpcAnswer answer) { self->TakeAnswer(std::move(answer)); },
      [self = shared_from_this()](bool whole) { self->written_ = whole; });
}

void AgentSession::Cancel() {
  if (end_.has_value() || !is_prompting() || answered_.has_value()) return;
  if (std::exchange(cancelled_, true)) return;
  agent_->peer_.Notify("session/cancel", {{"sessionId", id_}});
  EndQuestions();
  KillUnlessCancelled();
}

void AgentSession::SetMode(const std::string& mode_id, Done done) {
  if (end_.has_value()) return done(RpcError{.message = end_->message});
  agent_->Request("session/set_mode", {{"sessionId", id_}, {"modeId", mode_id}}, std::move(done));
}

void AgentSession::SetConfigOption(const std::string& id, const std::string& value, Done done) {
  if (end_.has_value()) return done(RpcError{.message = end_->message});
  agent_->Request(
      "session/set_config_option", acp::ConfigOptionParams(id_, id, value, config_options_),
      [self = shared_from_this(), done = std::move(done)](RpcAnswer answer) {
        const auto* result = std::get_if<Json>(&answer);
        const Json options = result == nullptr ? Json() : MemberOf(*result, "configOptions");
        if (options.is_array() && !self->end_.has_value()) {
          self->config_options_ = options;
          self->listener_->OnUpdate(ConfigOptions{options});
        }
        done(std::move(answer));
      });
}

void AgentSession::Hold() {
  if (end_.has_value()) return;
  is_held_ = true;
  agent_->HoldOutput();
}

void AgentSession::GoOn() {
  is_held_ = false;
  if (end_.has_value()) return;
  Heard();
  agent_->HoldOutput();
}

void AgentSession::Close() {
  if (end_.has_value()) return;
  const auto self = shared_from_this();
  end_ = AgentError{"agent_stopped", "the session was closed"};
  agent_->sessions_.erase(id_);
  agent_->HoldOutput();
  const bool works = is_prompting() && !answered_.has_value();
  if (works && !cancelled_) agent_->peer_.Notify("session/cancel", {{"sessionId", id_}});
  if (agent_->capabilities_.close) {
    agent_->Request("session/close", {{"sessionId", id_}}, [](const RpcAnswer&) {});
  }
  EndTurn(answered_.has_value() ? *std::exchange(answered_, std::nullopt)
                                : TurnEnd(PromptEnd{.stop_reason = "cancelled"}));
  // Until the prompt is answered.
  if (works) KillUnlessCancelled();
}

void AgentSession::KillUnlessCancelled() {
  cancel_timer_ = agent_->timers_->After(agent_->settings_.patience.cancel, [this] {
    agent_->KillFor({"cancel_ignored", "the agent went on although it was to stop"}, this);
  });
}

void AgentSession::Heard() {
  heard_time_ = agent_->timers_->Now();
  told_silence_ = false;
}

void AgentSession::TakeUpdate(const Json& update) {
  Heard();
  AgentUpdate parsed = acp::ParseUpdate(update);
  if (const auto* options = std::get_if<ConfigOptions>(&parsed)) config_options_ = options->options;
  if (replayed_ != nullptr) {
    if (!IsSaid(parsed) && held_.size() < Agent::kMaxEarlyUpdates) {
      held_.push_back(std::move(parsed));
    }
    return AwaitReplay(std::exchange(replayed_, nullptr));
  }
  listener_->OnUpdate(std::move(parsed));
  if (answered_.has_value()) AwaitLate();
}

void AgentSession::TakeQuestion(const Json& request, const Json& params, Peer::Respond respond) {
  Heard();
  if (cancelled_) return respond(acp::PermissionAnswer(std::nullopt));
  PermissionQuestion question = acp::ParsePermission(params);
  const int64_t number = question.number = ++last_question_;
  questions_[number] = {request, respond};
  listener_->OnPermission(std::move(question), [weak = weak_from_this(), number,
                                                respond](const PermissionChoice& choice) {
    const auto self = weak.lock();
    if (self == nullptr || self->questions_.erase(number) == 0) return;
    if (!self->end_.has_value()) self->Heard();
    respond(acp::PermissionAnswer(choice));
  });
}

void AgentSession::TakeWithdrawal(const Json& request) {
  const auto found = absl::c_find_if(
      questions_, [&request](const auto& question) { return question.second.request == request; });
  if (found == questions_.end()) return;
  Heard();
  const auto [number, question] = *found;
  questions_.erase(found);
  question.respond(RpcError{kRequestCancelled, "the question was withdrawn", nullptr});
  listener_->OnPermissionOver(number);
}

void AgentSession::EndQuestions() {
  for (const auto& [number, question] : std::exchange(questions_, {})) {
    question.respond(acp::PermissionAnswer(std::nullopt));
    if (!end_.has_value()) listener_->OnPermissionOver(number);
  }
}

void AgentSession::TakeCall(const std::string& method, const Json& params,
                            const Peer::Respond& respond) {
  Heard();
  ++open_calls_;
  listener_->OnClientCall(method, params, [weak = weak_from_this(), respond](RpcAnswer answer) {
    if (const auto self = weak.lock(); self != nullptr && !self->end_.has_value()) {
      --self->open_calls_;
      self->Heard();
    }
    respond(std::move(answer));
  });
}

void AgentSession::TakeAnswer(RpcAnswer answer) {
  if (end_.has_value()) cancel_timer_.reset();
  if (!is_prompting()) return;
  Heard();
  TurnEnd end = PromptEnd{};
  if (const auto* error = std::get_if<RpcError>(&answer)) {
    if (agent_->over_) {
      AgentError why = agent_->WhyOver(this);
      why.prompt_unsent = !written_;
      return EndTurn(std::move(why));
    }
    // Agents answer cancelled prompts with all kinds of errors.
    end = cancelled_ ? TurnEnd(PromptEnd{.stop_reason = "cancelled"})
                     : TurnEnd(agent_->ErrorFrom(*error));
  } else {
    end = acp::ParsePromptEnd(std::get<Json>(answer));
  }
  cancel_timer_.reset();
  silence_timer_.reset();
  answered_ = std::move(end);
  answer_time_ = agent_->timers_->Now();
  AwaitLate();
}

void AgentSession::AwaitLate() {
  const AgentPatience& patience = agent_->settings_.patience;
  const absl::Duration left = answer_time_ + patience.latest - agent_->timers_->Now();
  late_timer_ =
      agent_->timers_->After(std::max(std::min(patience.late, left), absl::ZeroDuration()),
                             [this] { EndTurn(*std::exchange(answered_, std::nullopt)); });
}

void AgentSession::AwaitReplay(std::function<void(std::optional<AgentError>)> replayed) {
  replayed_ = std::move(replayed);
  const AgentPatience& patience = agent_->settings_.patience;
  const absl::Duration left = answer_time_ + patience.restore - agent_->timers_->Now();
  late_timer_ = agent_->timers_->After(
      std::max(std::min(patience.late, left), absl::ZeroDuration()), [this] { OnReplayed(); });
}

void AgentSession::OnReplayed() {
  const auto self = shared_from_this();
  late_timer_.reset();
  std::exchange(replayed_, nullptr)(std::nullopt);
  for (AgentUpdate& update : std::exchange(held_, {})) {
    if (!end_.has_value()) listener_->OnUpdate(std::move(update));
  }
}

void AgentSession::EndTurn(TurnEnd end) {
  cancel_timer_.reset();
  silence_timer_.reset();
  late_timer_.reset();
  EndQuestions();
  const auto done = std::exchange(done_, nullptr);
  if (done != nullptr) done(std::move(end));
}

void AgentSession::WatchSilence(absl::Duration wait) {
  silence_timer_ = agent_->timers_->After(wait, [this] { OnQuiet(); });
}

void AgentSession::OnQuiet() {
  const AgentPatience& patience = agent_->settings_.patience;
  // An agent that waits for this side is not silent.
  if (!questions_.empty() || open_calls_ > 0 || is_held_) heard_time_ = agent_->timers_->Now();
  const absl::Duration silent = agent_->timers_->Now() - heard_time_;
  if (silent >= patience.turn_idle) {
    return agent_->KillFor({"agent_silent", absl::StrCat("nothing was heard of the agent for ",
                                                         absl::FormatDuration(silent))},
                           this);
  }
  if (silent >= patience.silence && !std::exchange(told_silence_, true)) {
    listener_->OnSilence(silent);
    if (end_.has_value() || !is_prompting()) return;
  }
  const absl::Duration next = silent < patience.silence ? patience.silence : 2 * silent;
  WatchSilence(std::min(next, patience.turn_idle) - silent);
}

void AgentSession::End(const AgentError& error) {
  if (end_.has_value()) return;
  end_ = error;
  if (replayed_ != nullptr) {
    late_timer_.reset();
    return std::exchange(replayed_, nullptr)(error);
  }
  if (answered_.has_value()) {
    EndTurn(*std::exchange(answered_, std::nullopt));
  } else if (is_prompting()) {
    AgentError why = error;
    why.prompt_unsent = !written_;
    EndTurn(std::move(why));
  }
  questions_.clear();
  listener_->OnEnd(error);
}

}  // namespace callslip::runner
