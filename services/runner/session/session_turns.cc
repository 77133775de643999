#include "runner/session/session_turns.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "boost/asio/bind_cancellation_slot.hpp"
#include "boost/asio/cancellation_type.hpp"
#include "boost/asio/co_spawn.hpp"
#include "common/error_details.h"
#include "common/log.h"
#include "common/text_scan.h"
#include "runner/tracker/call_with_retry.h"

namespace callslip::runner {
namespace {

// The protocol's stop reasons other than `end_turn` and `cancelled`.
constexpr absl::string_view kStopReasons[] = {"max_tokens", "max_turn_requests", "refusal"};
// Limits for texts about the end of a turn.
constexpr size_t kReasonBytes = 64;
constexpr size_t kReasonTextBytes = size_t{4} << 10;
// Limit of consecutive answers with commands.
constexpr int kMaxRounds = 50;
// An image has up to 10 MiB, and the network can be slow.
constexpr absl::Duration kImageDeadline = absl::Seconds(30);

// Keeps the agent's own tool call ids distinct from those of shell commands.
void KeepOffShellIds(std::string& id) {
  if (absl::StartsWith(id, kShellCommandIdPrefix)) id = absl::StrCat("agent-", id);
}

void KeepOffShellIds(AgentUpdate& update) {
  if (auto* call = std::get_if<ToolCall>(&update)) KeepOffShellIds(call->id);
  if (auto* change = std::get_if<ToolCallChange>(&update)) KeepOffShellIds(change->id);
}

// Sets how a turn ended; `is_stopped`: a user stopped it.
void SetEnd(const AgentSession::TurnEnd& end, bool is_stopped, v1::FinishTurnRequest& request) {
  if (const auto* error = std::get_if<AgentError>(&end)) {
    request.set_outcome(is_stopped ? v1::FinishTurnRequest::OUTCOME_CANCELLED
                                   : v1::FinishTurnRequest::OUTCOME_FAILED);
    request.set_reason(std::string(CutText(error->reason, kReasonBytes)));
    request.set_message(std::string(CutText(error->message, kReasonTextBytes)));
    return;
  }
  const auto& done = std::get<PromptEnd>(end);
  request.set_stop_reason(std::string(CutText(done.stop_reason, kReasonBytes)));
  if (done.stop_reason == "cancelled") {
    request.set_outcome(v1::FinishTurnRequest::OUTCOME_CANCELLED);
    request.set_reason("cancelled");
  } else if (done.stop_reason == "end_turn") {
    request.set_outcome(v1::FinishTurnRequest::OUTCOME_COMPLETED);
  } else {
    request.set_outcome(v1::FinishTurnRequest::OUTCOME_FAILED);
    const bool is_known = absl::c_linear_search(kStopReasons, done.stop_reason);
    request.set_reason(is_known ? done.stop_reason : "unknown_stop_reason");
    request.set_message(
        absl::StrCat("the agent has ended the turn with \"", request.stop_reason(), "\""));
  }
}

}  // namespace

SessionTurns::SessionTurns(SessionHost* host, Agents* agents, const SessionPlan* plan,
                           SessionName session, std::shared_ptr<Recorder> recorder,
                           std::shared_ptr<TurnSpans> spans)
    : host_(host),
      agents_(agents),
      plan_(plan),
      name_(std::move(session)),
      recorder_(std::move(recorder)),
      spans_(std::move(spans)) {}

template <typename Request>
auto SessionTurns::Retry(Request request, CallOptions options) {
  return CallWithRetry(
      *host_->tracker, *host_->timers, std::move(request),
      [self = shared_from_this()] { return self->is_released_; }, options);
}

void SessionTurns::BeginReceiving() {
  is_to_receive_ = true;
  if (receiving_ != nullptr) return;  // During a turn that the previous agent began.
  receiving_ = std::make_shared<boost::asio::cancellation_signal>();
  boost::asio::co_spawn(host_->executor, Receive(receiving_),
                        boost::asio::bind_cancellation_slot(
                            receiving_->slot(), [self = shared_from_this(), signal = receiving_](
                                                    const std::exception_ptr&) {}));
}

void SessionTurns::EndReceiving() {
  is_to_receive_ = false;
  if (!turn_.has_value()) StopReceiving();
}

void SessionTurns::StopReceiving() {
  const auto receiving = std::exchange(receiving_, nullptr);
  if (receiving != nullptr) receiving->emit(boost::asio::cancellation_type::all);
}

void SessionTurns::Release() {
  is_released_ = true;
  is_to_receive_ = false;
  StopReceiving();
  StopCommands("the session is another runner's");
  AgentsChanged();
}

boost::asio::awaitable<void> SessionTurns::Receive(
    std::shared_ptr<boost::asio::cancellation_signal> signal) {
  const auto is_on = [&] { return receiving_ == signal; };
  Backoff again;
  while (is_on()) {
    auto request = For<v1::ReceiveMessagesRequest>();
    if (turn_.has_value()) request.set_turn_id(turn_->id);
    const auto messages = host_->tracker->Open(std::move(request));
    absl::StatusOr<std::optional<v1::ReceivedMessage>> next = co_await messages->Next();
    while (is_on() && next.ok() && next->has_value()) {
      again.Reset();
      TakeMessage(**next);
      next = co_await messages->Next();
    }
    if (!is_on()) co_return;
    const std::string reason = callslip::DetailsOf(next.status()).reason;
    if (reason == "unknown_session" || reason == "session_ended" || reason == "receiver_replaced" ||
        reason == "not_assigned") {
      receiving_ = nullptr;
      co_return agents_->OnNoMessages();
    }
    co_await Pause(*host_->timers, again.Next());
  }
}

void SessionTurns::TakeMessage(const v1::ReceivedMessage& received) {
  if (received.stop()) {
    if (!turn_.has_value() || turn_->id != received.turn_id()) return;
    turn_->is_stopped = true;
    AgentsChanged();
    if (prompted_ != nullptr) prompted_->session().Cancel();
    StopCommands("the turn was stopped");
    return;
  }
  Turn turn{.id = received.turn_id(), .message = received.message()};
  if (turn_.has_value()) {
    // The same turn arrives again if this call was interrupted meanwhile.
    if (turn.id != turn_->id) next_turn_ = std::move(turn);
    return;
  }
  turn_ = std::move(turn);
  agents_->OnTurn();
  SpawnFor(shared_from_this(), spans_->Traced(host_->executor), Run());
}

boost::asio::awaitable<void> SessionTurns::Run() {
  while (turn_.has_value()) {
    if (turn_->is_begun || co_await StartTurn()) {
      spans_->BeginTurn(turn_->id);
      AgentSession::TurnEnd end = co_await PromptAgent();
      if (std::holds_alternative<PromptEnd>(end) && !turn_->is_stopped) agents_->OnAnswered();
      std::string results = co_await RunCommands(end);
      const bool queue_goes_on = co_await FinishTurn(std::move(end));
      rounds_ = results.empty() ? 0 : rounds_ + 1;
      const bool may_go_on =
          queue_goes_on && rounds_ <= kMaxRounds && !turn_->is_stopped && !next_turn_.has_value();
      if (!results.empty() && may_go_on && !agents_->AskForOne().has_value()) {
        co_await PromptWith(std::move(results));
      } else if (!results.empty()) {
        results_ = std::move(results);
      }
    }
    turn_ = std::exchange(next_turn_, std::nullopt);
  }
  if (!is_to_receive_) StopReceiving();
  agents_->OnTurn();
}

boost::asio::awaitable<std::string> SessionTurns::RunCommands(AgentSession::TurnEnd& end) {
  std::string results;
  const auto* done = std::get_if<PromptEnd>(&end);
  // The commands of a truncated answer may be incomplete.
  const bool is_whole = done != nullptr && done->stop_reason == "end_turn";
  if (commands_.has_value() && is_whole && !turn_->is_stopped && !is_released_) {
    results = co_await commands_->Run();
    if (turn_->is_stopped) {
      end = PromptEnd{.stop_reason = "cancelled", .usage = nullptr};
    } else if (commands_->was_cut_off()) {
      end = AgentError{"agent_stopped", "the commands of its answer were stopped"};
    }
  }
  commands_.reset();
  co_return results;
}

void SessionTurns::FailLost(const std::string& turn_id) {
  is_failing_ = true;
  SpawnFor(shared_from_this(), spans_->Traced(host_->executor), Fail(turn_id));
}

boost::asio::awaitable<void> SessionTurns::Fail(std::string turn_id) {
  auto request = For<v1::FinishTurnRequest>();
  request.set_turn_id(std::move(turn_id));
  request.set_outcome(v1::FinishTurnRequest::OUTCOME_FAILED);
  request.set_reason("runner_lost");
  request.set_message("the session's runner came back without the turn that it had begun");
  const auto failed = co_await Retry(std::move(request));
  is_failing_ = false;
  // If the call is rejected, the turn ended otherwise. If the turn has failed, the queue waits for
  // a person.
  const bool is_lost = callslip::DetailsOf(failed.status()).reason == "not_assigned";
  if (!failed.ok() && !is_released_ && !is_lost) agents_->AskForOne();
  agents_->OnTurn();
}

boost::asio::awaitable<bool> SessionTurns::StartTurn() {
  // A turn that has not begun waits for the next runner, once this one receives no messages any
  // more.
  if (host_->is_stopping) co_return false;
  auto request = For<v1::StartTurnRequest>();
  request.set_turn_id(turn_->id);
  const auto started =
      co_await CallWithRetry(*host_->tracker, *host_->timers, std::move(request),
                             [this] { return is_released_ || host_->is_stopping; });
  if (!started.ok()) co_return false;  // Its message is queued again, or gone.
  recorder_->Passed(started->seq());
  recorder_->Begin();
  turn_->iteration = started->next_iteration();
  co_return true;
}

boost::asio::awaitable<AgentSession::TurnEnd> SessionTurns::PromptAgent() {
  while (true) {
    if (std::optional<AgentSession::TurnEnd> end = co_await AwaitAgent()) co_return *std::move(end);
    const std::shared_ptr<SessionAgent> agent = agents_->Running();
    const Json blocks = co_await PromptBlocks(agent->capabilities());
    if (agents_->Running() != agent || turn_->is_stopped) continue;
    if (!agent->has_context()) {
      agent->WasAsked();
      agents_->OnAsked();
    }
    tool_calls_.emplace();
    if (plan_->shell_commands) {
      commands_.emplace(turn_->iteration, agent->commands(), agent->files(), recorder_,
                        spans_.get());
    }
    const Promise<AgentSession::TurnEnd> ended(host_->executor);
    prompted_ = agent;
    agent->session().Prompt(
        blocks, [ended](AgentSession::TurnEnd end) { ended.Set(std::move(end)); },
        spans_->BeginPrompt());
    AgentSession::TurnEnd end = co_await ended.Get();
    prompted_.reset();
    // The agent has read them.
    if (std::holds_alternative<PromptEnd>(end)) results_.clear();
    tool_calls_.reset();
    spans_->EndPrompt(end);
    const auto* error = std::get_if<AgentError>(&end);
    const bool is_unsent = error != nullptr && error->prompt_unsent &&
                           error->reason != "agent_stopped" && !turn_->is_stopped;
    if (!is_unsent) co_return end;
    // The agent's end is reported after the end of the turn. Then the next agent is prompted.
    while (agents_->Running() == agent) co_await NextChange();
  }
}

boost::asio::awaitable<std::optional<AgentSession::TurnEnd>> SessionTurns::AwaitAgent() {
  while (!turn_->is_stopped) {
    if (agents_->Running() != nullptr) co_return std::nullopt;
    if (const std::optional<AgentError> why = agents_->AskForOne()) co_return *why;
    co_await NextChange();
  }
  co_return PromptEnd{.stop_reason = "cancelled", .usage = nullptr};
}

boost::asio::awaitable<void> SessionTurns::NextChange() {
  const Promise<bool> changed(host_->executor);
  changes_.push_back(changed);
  co_await changed.Get();
}

void SessionTurns::AgentsChanged() {
  for (const Promise<bool>& each : std::exchange(changes_, {})) each.Set(true);
}

boost::asio::awaitable<Json> SessionTurns::PromptBlocks(const acp::Capabilities& capabilities) {
  Json blocks = Json::array();
  if (!results_.empty()) blocks.push_back(acp::TextBlock(results_));
  blocks.push_back(acp::TextBlock(turn_->message.message()));
  for (const std::string& image_id : turn_->message.image_ids()) {
    auto request = For<v1::GetImageRequest>();
    request.set_image_id(image_id);
    const auto image = co_await Retry(std::move(request), {.deadline = kImageDeadline});
    if (image.ok() && capabilities.images) {
      blocks.push_back(
          acp::ImageBlock(image->image().mime_type(), absl::Base64Escape(image->data())));
      continue;
    }
    blocks.push_back(acp::TextBlock(
        absl::StrCat("[image ", image_id,
                     image.ok() ? " was omitted: you do not accept it]" : " no longer exists]")));
    if (turn_->has_told_images) continue;
    const bool has_name = image.ok() && !image->image().name().empty();
    recorder_->Add(ErrorEvent(absl::StrCat(
        "the image ", has_name ? image->image().name() : image_id,
        " was omitted: ", image.ok() ? "the agent does not accept any" : "it no longer exists")));
  }
  // Only once, however often the prompt is sent.
  turn_->has_told_images = true;
  co_return blocks;
}

boost::asio::awaitable<bool> SessionTurns::FinishTurn(AgentSession::TurnEnd end) {
  auto request = For<v1::FinishTurnRequest>();
  request.set_turn_id(turn_->id);
  const absl::Status recorded = co_await recorder_->Flush();
  SetEnd(end, turn_->is_stopped, request);
  if (!recorded.ok() && !turn_->is_stopped) {
    request.set_outcome(v1::FinishTurnRequest::OUTCOME_FAILED);
    request.set_reason("recording_failed");
    request.set_message(std::string(CutText(recorded.message(), kReasonTextBytes)));
  }
  const Json usage = agents_->Usage();
  if (usage.is_object()) {
    const std::string text = Dump(usage);
    if (text.size() <= 4096) request.set_usage(text);
  }
  const v1::FinishTurnRequest told = request;
  const auto finished = co_await Retry(std::move(request));
  const std::string trace = spans_->UnderWay();
  spans_->EndTurn(told);
  if (!finished.ok()) {
    Log(LogLevel::kWarning, "the end of a turn was not taken",
        {{"session", name_.session_id},
         {"turn", turn_->id},
         {"traceparent", trace},
         {"error", std::string(finished.status().message())}});
  }
  co_return finished.ok() && finished->pause_reason().empty();
}

void SessionTurns::Record(AgentUpdate update) {
  if (const auto* call = std::get_if<ToolCall>(&update)) {
    if (tool_calls_.has_value()) tool_calls_->Take(*call);
    spans_->Take(*call);
  }
  if (const auto* change = std::get_if<ToolCallChange>(&update)) {
    if (tool_calls_.has_value()) tool_calls_->Take(*change);
    spans_->Take(*change);
  }
  if (plan_->shell_commands) KeepOffShellIds(update);
  const std::optional<std::string> text = AgentTextOf(update);
  if (commands_.has_value() && text.has_value()) commands_->Read(*text);
  for (NewEvent& event : EventsOf(update)) {
    if (commands_.has_value() && text.has_value()) event.Set("iteration", commands_->iteration());
    // What cannot be recorded must not be done either.
    if (!recorder_->Add(std::move(event)) && prompted_ != nullptr) prompted_->session().Cancel();
  }
}

void SessionTurns::Complete(PermissionQuestion& question) const {
  if (tool_calls_.has_value()) tool_calls_->Complete(question);
  if (plan_->shell_commands) KeepOffShellIds(question.tool_call.id);
}

boost::asio::awaitable<void> SessionTurns::PromptWith(std::string results) {
  auto request = For<v1::StartTurnRequest>();
  request.mutable_prompt()->set_message(results);
  request.mutable_prompt()->set_prompt_id(absl::StrCat("shell-", turn_->iteration, "-", turn_->id));
  const auto started = co_await Retry(std::move(request));
  if (!started.ok()) {
    // If a user's message came first, the agent gets the results with that message.
    if (callslip::DetailsOf(started.status()).reason != "turn_in_progress") {
      recorder_->Add(
          ErrorEvent(absl::StrCat("the results of its commands could not be sent to the agent: ",
                                  started.status().message())));
    }
    results_ = std::move(results);
    co_return;
  }
  Turn turn{.id = started->turn_id(), .message = {}, .iteration = started->next_iteration()};
  turn.message.set_message(results);
  turn.is_begun = true;
  next_turn_ = std::move(turn);
}

void SessionTurns::StopCommands(std::string why) {
  if (commands_.has_value()) commands_->Stop(std::move(why));
}

}  // namespace callslip::runner
