#include "tracker/domain/session/queue_delivery.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/random.h"
#include "common/status_macros.h"
#include "tracker/domain/errors.h"
#include "tracker/domain/session/session_errors.h"
#include "tracker/domain/session/session_limits.h"

namespace callslip::tracker {
namespace {

std::string NewTurnId() { return absl::StrFormat("turn-%016x", Random64()); }

}  // namespace

QueueDelivery::QueueDelivery(MessageQueue* queue, const QueueDefaults& defaults,
                             DeliveryState state)
    : queue_(queue), defaults_(defaults), state_(std::move(state)) {}

bool QueueDelivery::MaySend() const {
  return enabled() && !state_.pause.has_value() && !state_.turn.has_value() &&
         queue_->Sending() == nullptr && !queue_->empty();
}

std::optional<QueueDelivery::Sent> QueueDelivery::Poll(bool has_runner, absl::Time now) {
  if (queue_->Sending() != nullptr && now >= start_by_) {
    EndSending();
    Pause("runner_silent", "the session's runner did not begin the turn that it was handed", now);
  }
  if (!MaySend()) {
    state_.send_at.reset();
    return std::nullopt;
  }
  if (!state_.send_at.has_value()) state_.send_at = now + delay();
  if (!has_runner || now < *state_.send_at) return std::nullopt;
  return SendFirst(now);
}

QueueDelivery::Sent QueueDelivery::SendFirst(absl::Time now) {
  state_.send_at.reset();
  start_by_ = now + kStartTimeout;
  const QueuedMessage& message = queue_->MarkSending(NewTurnId());
  return {message.turn_id, message};
}

absl::Time QueueDelivery::NextTime(bool has_runner) const {
  if (queue_->Sending() != nullptr) return start_by_;
  if (has_runner && state_.send_at.has_value()) return *state_.send_at;
  return absl::InfiniteFuture();
}

absl::StatusOr<QueueDelivery::Started> QueueDelivery::Start(absl::string_view turn_id,
                                                            absl::Time now) {
  if (state_.turn.has_value() && state_.turn->id == turn_id) return Started{*state_.turn, false};
  const QueuedMessage* sending = queue_->Sending();
  if (sending == nullptr || sending->turn_id != turn_id) return StaleTurn(turn_id);
  BeginTurn({.id = std::string(turn_id), .prompt = queue_->TakeSending(), .started_at = now});
  return Started{*state_.turn, true};
}

absl::StatusOr<QueueDelivery::Sent> QueueDelivery::SendNow(MessageRequest request, absl::Time now) {
  if (state_.turn.has_value()) return TurnInProgress(state_.turn->id);
  if (const QueuedMessage* sending = queue_->Sending(); sending != nullptr) {
    return TurnInProgress(sending->turn_id);
  }
  RETURN_IF_ERROR(queue_->AddFirst(std::move(request), now).status());
  return SendFirst(now);
}

absl::StatusOr<QueueDelivery::Finished> QueueDelivery::Finish(absl::string_view turn_id,
                                                              const TurnOutcome& outcome,
                                                              absl::Time now) {
  const std::string reason = !outcome.reason.empty()              ? outcome.reason
                             : outcome.end == TurnEnd::kCancelled ? "cancelled"
                                                                  : "failed";
  if (state_.turn.has_value() && state_.turn->id == turn_id) {
    Turn turn = *std::exchange(state_.turn, std::nullopt);
    state_.last_turn_id = turn.id;
    if (outcome.end != TurnEnd::kCompleted) {
      Pause(reason, outcome.message, now);
      state_.pause->failed = turn.prompt;
    }
    return Finished{.ended = true, .turn = std::move(turn)};
  }
  if (const QueuedMessage* sending = queue_->Sending();
      sending != nullptr && sending->turn_id == turn_id) {
    EndSending();
    Pause(outcome.end == TurnEnd::kCompleted ? "not_begun" : reason, outcome.message, now);
    state_.last_turn_id = std::string(turn_id);
    return Finished{.ended = true};
  }
  if (!turn_id.empty() && turn_id == state_.last_turn_id) return Finished{};
  return StaleTurn(turn_id);
}

bool QueueDelivery::RunnerLeft() {
  if (queue_->Sending() == nullptr) return false;
  EndSending();
  return true;
}

void QueueDelivery::Pause(std::string reason, std::string message, absl::Time now) {
  if (!state_.pause.has_value()) state_.pause.emplace();
  state_.pause->reason = std::move(reason);
  state_.pause->message = std::move(message);
  state_.pause->at = now;
  state_.send_at.reset();
}

absl::Status QueueDelivery::Resume() {
  if (!state_.pause.has_value()) return QueueNotPaused();
  state_.pause.reset();
  return absl::OkStatus();
}

absl::StatusOr<QueuedMessage> QueueDelivery::Retry(absl::Time now) {
  if (!state_.pause.has_value()) return QueueNotPaused();
  if (!state_.pause->failed.has_value()) return NothingToRetry();
  QueuedMessage failed = *std::move(state_.pause->failed);
  state_.pause.reset();
  return queue_->Requeue(std::move(failed), now);
}

absl::StatusOr<QueuedMessage> QueueDelivery::Skip() {
  if (!state_.pause.has_value()) return QueueNotPaused();
  if (state_.pause->failed.has_value()) {
    QueuedMessage failed = *std::move(state_.pause->failed);
    state_.pause.reset();
    return failed;
  }
  ASSIGN_OR_RETURN(QueuedMessage first, queue_->Pop());
  state_.pause.reset();
  return first;
}

absl::Status QueueDelivery::Configure(const QueueSettings& settings) {
  if (settings.delay.has_value() &&
      (*settings.delay < absl::ZeroDuration() || *settings.delay > kMaxQueueDelay)) {
    return InvalidField("delay_seconds",
                        absl::StrCat("has to be 0 to ", absl::ToInt64Seconds(kMaxQueueDelay)));
  }
  state_.settings = settings;
  // A delay that has begun is that of the old settings.
  state_.send_at.reset();
  return absl::OkStatus();
}

void QueueDelivery::LimitDelay(absl::Time now) {
  if (state_.send_at.has_value()) state_.send_at = std::min(*state_.send_at, now + delay());
}

void QueueDelivery::Reconcile(bool recorded, absl::Time now) {
  const QueuedMessage* sending = queue_->Sending();
  if (sending == nullptr) return;
  if (!recorded) return EndSending();
  std::string turn_id = sending->turn_id;
  BeginTurn({.id = std::move(turn_id), .prompt = queue_->TakeSending(), .started_at = now});
}

void QueueDelivery::BeginTurn(Turn turn) {
  state_.turn = std::move(turn);
  state_.send_at.reset();
  start_by_ = absl::InfiniteFuture();
}

void QueueDelivery::EndSending() {
  queue_->ReturnSending();
  start_by_ = absl::InfiniteFuture();
}

}  // namespace callslip::tracker
