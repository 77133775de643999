#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tracker/domain/session/message_queue.h"

namespace callslip::tracker {

// Whether and how fast messages are sent automatically, if a session differs from the default.
struct QueueSettings {
  std::optional<bool> enabled;
  std::optional<absl::Duration> delay;
  friend bool operator==(const QueueSettings&, const QueueSettings&) = default;
};

// Defaults of sessions that set nothing ("conversations.queue", seed).
struct QueueDefaults {
  bool enabled = true;
  absl::Duration delay = absl::ZeroDuration();
};

// One prompt and everything that the agent does for it.
struct Turn {
  std::string id;  // turn-{16 hexadecimal digits}
  // The message that began it.
  QueuedMessage prompt;
  absl::Time started_at;
  friend bool operator==(const Turn&, const Turn&) = default;
};

enum class TurnEnd { kCompleted, kFailed, kCancelled };

struct TurnOutcome {
  TurnEnd end = TurnEnd::kCompleted;
  // If the turn was not completed, for programs: "rate_limited", "agent_crashed", …
  std::string reason;
  std::string message;  // The same for people.
  // Why the agent ended it, in its own words; and its usage, a JSON object.
  std::string stop_reason = {};
  std::string usage = {};
};

struct EndedTurn {
  std::string turn_id;
  TurnOutcome outcome;
};

// Why nothing is sent until the queue is resumed.
struct QueuePause {
  std::string reason;
  std::string message;
  absl::Time at;
  // The message whose turn failed, for Retry(). Nullopt if a person paused the queue, or if the
  // turn never began: its message is the queue's first then.
  std::optional<QueuedMessage> failed;
  friend bool operator==(const QueuePause&, const QueuePause&) = default;
};

// The part of a delivery that survives a restart.
struct DeliveryState {
  QueueSettings settings;
  std::optional<Turn> turn;
  std::optional<QueuePause> pause;
  // When the next message can be sent: the end of the delay. Set only if one will be sent.
  std::optional<absl::Time> send_at;
  // The turn that ended last, so that ending it again is harmless.
  std::string last_turn_id;
  friend bool operator==(const DeliveryState&, const DeliveryState&) = default;
};

// Sends a session's messages one at a time, each when the agent is idle:
//
//   waiting ─Send─▶ sending ─Start─▶ (user_prompt recorded, message gone) turn ─Finish─▶ idle
//      ▲               │                                                    └ failed ─▶ paused
//      └───────────────┴─ the runner left, declined or did not respond in time
//
// The agent is idle when there is no turn and nothing is being sent. There is one turn at most. All
// steps only change state: the session makes them durable before any caller or observer is
// notified. Owned by its session and guarded like it.
class QueueDelivery {
 public:
  QueueDelivery(MessageQueue* queue, const QueueDefaults& defaults, DeliveryState state = {});

  // Updates the delivery. Call after every change of it or of the queue, and when NextTime() has
  // come. Begins or drops the delay before the next message. If the delay is over and there is a
  // runner, marks the first message as being sent and returns it.
  struct Sent {
    std::string turn_id;
    QueuedMessage message;
  };
  std::optional<Sent> Poll(bool has_runner, absl::Time now);
  // InfiniteFuture if there is nothing to wait for.
  absl::Time NextTime(bool has_runner) const;

  // The message that is being sent begins its turn, and leaves the queue. Starting the same turn
  // again is harmless: `began` is false then. StaleTurn.
  struct Started {
    Turn turn;
    bool began = false;
  };
  absl::StatusOr<Started> Start(absl::string_view turn_id, absl::Time now);
  // Puts a message before all others and sends it at once, even if the queue is paused, disabled or
  // in its delay. Errors as in MessageQueue::Add(), and TurnInProgress unless the agent is idle.
  absl::StatusOr<Sent> SendNow(MessageRequest request, absl::Time now);
  // Ends the turn, and pauses the queue unless the turn was completed. For a message that is being
  // sent, it means that its turn won't begin: the message waits again, and the queue is paused.
  // StaleTurn unless it is the present turn; ending the last turn again is harmless.
  struct Finished {
    bool ended = false;        // A turn or a delivery has ended.
    std::optional<Turn> turn;  // The turn, if it had begun.
  };
  absl::StatusOr<Finished> Finish(absl::string_view turn_id, const TurnOutcome& outcome,
                                  absl::Time now);
  // The runner is gone: a message that is being sent waits again. A turn continues, because its
  // runner may return. Returns whether anything was changed.
  bool RunnerLeft();

  // Pausing again changes the reason, not the failed message.
  void Pause(std::string reason, std::string message, absl::Time now);
  // Continues with the next message. QueueNotPaused.
  absl::Status Resume();
  // Sends the failed message again, as the next message and under a new id. QueueNotPaused,
  // NothingToRetry.
  absl::StatusOr<QueuedMessage> Retry(absl::Time now);
  // Continues without the failed message, or without the first message if its turn never began.
  // Returns the message that was dropped. QueueNotPaused, QueueEmpty.
  absl::StatusOr<QueuedMessage> Skip();
  // InvalidField for a delay below zero or above kMaxQueueDelay.
  absl::Status Configure(const QueueSettings& settings);

  // After a restart: a delay that began when the clock was ahead ends no later than one that begins
  // now.
  void LimitDelay(absl::Time now);
  // After a restart. `recorded`: the log contains the user_prompt of the message that was being
  // sent, so its turn has begun. Otherwise the message waits again.
  void Reconcile(bool recorded, absl::Time now);

  bool enabled() const { return state_.settings.enabled.value_or(defaults_.enabled); }
  absl::Duration delay() const { return state_.settings.delay.value_or(defaults_.delay); }
  const DeliveryState& state() const { return state_; }

 private:
  bool MaySend() const;
  void BeginTurn(Turn turn);
  void EndSending();
  Sent SendFirst(absl::Time now);

  MessageQueue* const queue_;
  const QueueDefaults defaults_;
  DeliveryState state_;
  // When a runner that received a message must have begun its turn.
  absl::Time start_by_ = absl::InfiniteFuture();
};

}  // namespace callslip::tracker
