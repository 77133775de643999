// The session's queue and its runner.

#include <algorithm>
#include <utility>

#include "common/shell_commands.h"
#include "common/status_macros.h"
#include "tracker/domain/command/command_validation.h"
#include "tracker/domain/errors.h"
#include "tracker/domain/session/session.h"
#include "tracker/domain/session/session_errors.h"

namespace callslip::tracker {
namespace {

// Reason of the pause after the agent was stopped.
constexpr char kStopped[] = "stopped";

}  // namespace

absl::StatusOr<QueuedMessage> Session::AddMessage(MessageRequest request, absl::Time now) {
  RETURN_IF_ERROR(CheckActive());
  RETURN_IF_ERROR(CheckPrompt(request));
  const size_t before = queue_.size();
  ASSIGN_OR_RETURN(QueuedMessage added, queue_.Add(std::move(request), now));
  if (queue_.size() > before) QueueChanged(QueueAction::kAdded, added.id);
  return added;
}

absl::StatusOr<QueuedMessage> Session::SendNow(MessageRequest request, absl::Time now) {
  RETURN_IF_ERROR(CheckActive());
  RETURN_IF_ERROR(CheckPrompt(request));
  if (receiver_ == nullptr) return NoRunner();
  const size_t before = queue_.size();
  ASSIGN_OR_RETURN(const QueueDelivery::Sent sent, delivery_.SendNow(std::move(request), now));
  if (queue_.size() > before) QueueChanged(QueueAction::kAdded, sent.message.id);
  QueueChanged(QueueAction::kSending, sent.message.id);
  // Only after the commit: the caller may be the runner itself.
  AfterCommit([receiver = receiver_, sent](const absl::Status& status) {
    if (status.ok()) receiver->OnMessage(sent.turn_id, sent.message);
  });
  return sent.message;
}

std::vector<QueuedMessage> Session::ListMessages() const {
  return {queue_.messages().begin(), queue_.messages().end()};
}

absl::StatusOr<QueuedMessage> Session::PopMessage() {
  ASSIGN_OR_RETURN(QueuedMessage popped, queue_.Pop());
  QueueChanged(QueueAction::kRemoved, popped.id);
  return popped;
}

absl::Status Session::DeleteMessage(absl::string_view id) {
  RETURN_IF_ERROR(queue_.Delete(id));
  QueueChanged(QueueAction::kRemoved, std::string(id));
  return absl::OkStatus();
}

size_t Session::ClearQueue() {
  const size_t cleared = queue_.Clear();
  if (cleared > 0) QueueChanged(QueueAction::kCleared);
  return cleared;
}

absl::Status Session::MoveMessage(absl::string_view id, int position) {
  RETURN_IF_ERROR(queue_.Move(id, position));
  QueueChanged(QueueAction::kMoved, std::string(id));
  return absl::OkStatus();
}

absl::StatusOr<QueuedMessage> Session::EditMessage(absl::string_view id, MessageRequest request) {
  ASSIGN_OR_RETURN(QueuedMessage edited, queue_.Edit(id, std::move(request)));
  QueueChanged(QueueAction::kEdited, edited.id);
  return edited;
}

QueueStatus Session::queue_status() const {
  const DeliveryState& state = delivery_.state();
  const QueuedMessage* sending = queue_.Sending();
  return {.length = queue_.size(),
          .enabled = delivery_.enabled(),
          .delay = delivery_.delay(),
          .settings = state.settings,
          .sending_id = sending == nullptr ? "" : sending->id,
          .pause = state.pause,
          .send_at = state.send_at};
}

absl::Status Session::ConfigureQueue(const QueueSettings& settings) {
  RETURN_IF_ERROR(delivery_.Configure(settings));
  QueueChanged(QueueAction::kConfigured);
  return absl::OkStatus();
}

void Session::PauseQueue(std::string reason, std::string message, absl::Time now) {
  Cut(reason, kMaxReasonBytes);
  Cut(message, kMaxReasonTextBytes);
  delivery_.Pause(std::move(reason), std::move(message), now);
  QueueChanged(QueueAction::kPaused);
}

absl::Status Session::ResumeQueue() {
  RETURN_IF_ERROR(delivery_.Resume());
  QueueChanged(QueueAction::kResumed);
  return absl::OkStatus();
}

absl::StatusOr<QueuedMessage> Session::RetryMessage(absl::Time now) {
  RETURN_IF_ERROR(CheckActive());
  ASSIGN_OR_RETURN(QueuedMessage again, delivery_.Retry(now));
  QueueChanged(QueueAction::kAdded, again.id);
  QueueChanged(QueueAction::kResumed);
  return again;
}

absl::StatusOr<QueuedMessage> Session::SkipMessage() {
  ASSIGN_OR_RETURN(QueuedMessage skipped, delivery_.Skip());
  QueueChanged(QueueAction::kRemoved, skipped.id);
  QueueChanged(QueueAction::kResumed);
  return skipped;
}

absl::Status Session::Attach(std::shared_ptr<MessageReceiver> receiver, absl::string_view turn_id,
                             absl::Time now) {
  if (receiver_ != nullptr && receiver_ != receiver) {
    AfterCommit([old = receiver_](const absl::Status&) { old->OnEnd(ReceiverReplaced()); });
  }
  receiver_ = std::move(receiver);
  if (const QueuedMessage* sending = queue_.Sending(); sending != nullptr) {
    if (sending->turn_id == turn_id) {
      // The runner has it, or lost it on the way: the same turn_id shows which.
      AfterCommit([receiver = receiver_, message = *sending](const absl::Status& status) {
        if (status.ok()) receiver->OnMessage(message.turn_id, message);
      });
    } else {
      ReturnSending();
    }
  }
  const auto& turn = delivery_.state().turn;
  if (!turn.has_value()) return absl::OkStatus();
  if (turn->id == turn_id) {
    // It was stopped while no runner was connected.
    const auto& pause = delivery_.state().pause;
    if (pause.has_value() && pause->reason == kStopped) TellStop(turn->id);
    return absl::OkStatus();
  }
  return LoseTurn("the session's runner came back without the turn that it had begun", now);
}

absl::Status Session::LoseTurn(const char* why, absl::Time now) {
  const auto& turn = delivery_.state().turn;
  if (!turn.has_value()) return absl::OkStatus();
  return FinishTurn(std::string(turn->id), {TurnEnd::kFailed, "runner_lost", why}, now);
}

absl::Status Session::LoseRunner(absl::Time now) {
  if (receiver_ != nullptr) {
    AfterCommit([lost = receiver_](const absl::Status&) { lost->OnEnd(ReceiverReplaced()); });
    Detach(receiver_.get());
  }
  RETURN_IF_ERROR(LoseTurn("the session's runner was lost in the middle of the turn", now));
  // No runner waits for their answers any more.
  return CancelPermissions(now).status();
}

void Session::Detach(const MessageReceiver* receiver) {
  if (receiver_ == nullptr || receiver_.get() != receiver) return;
  receiver_ = nullptr;
  ReturnSending();
}

void Session::ReturnSending() {
  const QueuedMessage* sending = queue_.Sending();
  if (sending == nullptr) return;
  const std::string id = sending->id;
  delivery_.RunnerLeft();
  QueueChanged(QueueAction::kReturned, id);
}

absl::StatusOr<Turn> Session::StartTurn(absl::string_view turn_id, absl::Time now) {
  RETURN_IF_ERROR(CheckActive());
  ASSIGN_OR_RETURN(QueueDelivery::Started started, delivery_.Start(turn_id, now));
  if (!started.began) return started.turn;
  const QueuedMessage& prompt = started.turn.prompt;
  UserPrompt event{.message = prompt.message, .prompt_id = prompt.prompt_id, .queue_id = prompt.id};
  for (const std::string& image : prompt.image_ids) event.images.push_back({.id = image});
  RETURN_IF_ERROR(Append(std::move(event), now).status());
  open_calls_.Clear();
  queue_follows_log_ = true;
  TellQueueChanged(QueueAction::kRemoved, prompt.id);
  TellQueueChanged(QueueAction::kSent, prompt.id);
  const TurnChange begun{.turn_id = started.turn.id, .queue_id = prompt.id};
  NotifyAll(begun);
  AnnounceChange(SessionAction::kTurn, begun);
  return started.turn;
}

absl::Status Session::FinishTurn(absl::string_view turn_id, TurnOutcome outcome, absl::Time now) {
  // Truncated, not refused, because the turn has ended anyway.
  Cut(outcome.reason, kMaxReasonBytes);
  Cut(outcome.message, kMaxReasonTextBytes);
  Cut(outcome.stop_reason, kMaxReasonBytes);
  RETURN_IF_ERROR(CheckSize("usage", outcome.usage, kMaxUsageBytes));
  RETURN_IF_ERROR(record_->CheckObject("usage", outcome.usage));
  ASSIGN_OR_RETURN(const QueueDelivery::Finished finished, delivery_.Finish(turn_id, outcome, now));
  if (!finished.ended) return absl::OkStatus();
  if (!finished.turn.has_value()) {
    QueueChanged(QueueAction::kReturned, queue_.messages().front().id);
    QueueChanged(QueueAction::kPaused);
    return absl::OkStatus();
  }
  queue_changed_ = true;
  RETURN_IF_ERROR(CancelPermissions(now).status());
  if (!metadata_.agent.runner_id.empty()) {
    // The turn has ended, even if the end of its calls can't be recorded.
    const absl::Status failed = FailOpenToolCalls(outcome.end, now);
    if (absl::IsUnavailable(failed)) return failed;
  }
  open_calls_.Clear();
  if (outcome.end != TurnEnd::kCompleted) {
    const QueuePause& pause = *delivery_.state().pause;
    RETURN_IF_ERROR(
        Append(ErrorEvent{.message = pause.message.empty() ? pause.reason : pause.message,
                          .code = pause.reason},
               now)
            .status());
  }
  if (outcome.end != TurnEnd::kCompleted) outcome.reason = delivery_.state().pause->reason;
  RETURN_IF_ERROR(Append(EndedTurn{finished.turn->id, outcome}, now).status());
  const TurnChange ended{std::string(turn_id), finished.turn->prompt.id, outcome};
  NotifyAll(ended);
  AnnounceChange(SessionAction::kTurn, ended);
  if (outcome.end != TurnEnd::kCompleted) QueueChanged(QueueAction::kPaused);
  return absl::OkStatus();
}

// No other code reports their ends. After a completed turn the agent reports how its calls ended,
// except for the runner's commands, which end within their turn.
absl::Status Session::FailOpenToolCalls(TurnEnd end, absl::Time now) {
  std::vector<NewEvent> failed;
  for (const std::string& id : open_calls_.ids()) {
    const bool is_command = PlaceOfShellCommand(id).has_value();
    if (end == TurnEnd::kCompleted && !is_command) continue;
    failed.emplace_back(ToolCallUpdate{.tool_call_id = id, .status = "failed"});
  }
  return failed.empty() ? absl::OkStatus() : AppendAll(std::move(failed), now).status();
}

absl::Status Session::StopTurn(absl::Time now) {
  PauseQueue(kStopped, "someone has stopped the agent", now);
  ReturnSending();
  const auto& turn = delivery_.state().turn;
  if (turn.has_value() && receiver_ != nullptr) TellStop(turn->id);
  return CancelPermissions(now).status();
}

void Session::TellStop(const std::string& turn_id) {
  AfterCommit([receiver = receiver_, turn_id](const absl::Status& status) {
    if (status.ok()) receiver->OnStop(turn_id);
  });
}

void Session::PollDelivery(absl::Time now) {
  const std::optional<absl::Time> send_at = delivery_.state().send_at;
  const bool paused = delivery_.state().pause.has_value();
  const std::string sending = queue_status().sending_id;
  const std::optional<QueueDelivery::Sent> sent = delivery_.Poll(receiver_ != nullptr, now);
  if (delivery_.state().send_at != send_at) queue_changed_ = true;
  if (delivery_.state().pause.has_value() && !paused) {
    QueueChanged(QueueAction::kReturned, sending);
    QueueChanged(QueueAction::kPaused);
  }
  if (!sent.has_value()) return;
  QueueChanged(QueueAction::kSending, sent->message.id);
  receiver_->OnMessage(sent->turn_id, sent->message);
}

absl::Status Session::CheckPrompt(const MessageRequest& request) const {
  if (request.prompt_id.empty()) return absl::OkStatus();
  const auto known = std::find_if(
      prompts_.begin(), prompts_.end(),
      [&](const RecordedPrompt& prompt) { return prompt.prompt_id == request.prompt_id; });
  if (known == prompts_.end()) return absl::OkStatus();
  return known->content == ContentOf(request.message, request.image_ids)
             ? DuplicatePrompt(request.prompt_id)
             : PromptIdReused(request.prompt_id);
}

int64_t Session::SeqOfPrompt(absl::string_view message_id) const {
  const auto found =
      std::find_if(prompts_.rbegin(), prompts_.rend(),
                   [&](const RecordedPrompt& prompt) { return prompt.queue_id == message_id; });
  return found == prompts_.rend() ? 0 : found->seq;
}

void Remember(int64_t seq, RecordedPrompt prompt, std::deque<RecordedPrompt>& prompts) {
  prompt.seq = seq;
  // No client can send a longer id again.
  if (prompt.prompt_id.size() > kMaxClientIdBytes) prompt.prompt_id.clear();
  if (prompt.queue_id.size() > kMaxClientIdBytes) prompt.queue_id.clear();
  prompts.push_back(std::move(prompt));
  if (prompts.size() > kRememberedPrompts) prompts.pop_front();
}

void Session::QueueChanged(QueueAction action, std::string message_id) {
  queue_changed_ = true;
  TellQueueChanged(action, std::move(message_id));
}

void Session::TellQueueChanged(QueueAction action, std::string message_id) {
  const auto& pause = delivery_.state().pause;
  const QueueChange change{.action = action,
                           .message_id = std::move(message_id),
                           .queue_length = queue_.size(),
                           .pause_reason = pause.has_value() ? pause->reason : ""};
  NotifyAll(change);
  AnnounceChange(SessionAction::kQueue, change);
}

}  // namespace callslip::tracker
