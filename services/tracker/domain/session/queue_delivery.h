#ifndef CALLSLIP_TRACKER_DOMAIN_SESSION_QUEUE_DELIVERY_H_
#define CALLSLIP_TRACKER_DOMAIN_SESSION_QUEUE_DELIVERY_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tracker/domain/session/message_queue.h"

namespace callslip::tracker {

// Whether and how fast messages are sent by themselves, where a session differs from the default.
struct QueueSettings {
  std::optional<bool> enabled;
  std::optional<absl::Duration> delay;
  friend bool operator==(const QueueSettings&, const QueueSettings&) = default;
};

// What holds where a session says nothing ("conversations.queue", seed).
struct QueueDefaults {
  bool enabled = true;
  absl::Duration delay = absl::ZeroDuration();
};

// One prompt and all that the agent does about it.
struct Turn {
  std::string id;  // turn-{16 hexadecimal digits}
  // What began it.
  QueuedMessage prompt;
  absl::Time started_at;
  friend bool operator==(const Turn&, const Turn&) = default;
};

enum class TurnEnd { kCompleted, kFailed, kCancelled };

struct TurnOutcome {
  TurnEnd end = TurnEnd::kCompleted;
  // Of a turn that was not completed, for programs: "rate_limited", "agent_crashed", …
  std::string reason;
  std::string message;  // The same for people.
  // Why the agent has ended it, in its own words; and what it has used: a JSON object.
  std::string stop_reason = {};
  std::string usage = {};
};

struct EndedTurn {
  std::string turn_id;
  TurnOutcome outcome;
};

// Why nothing is sent until someone decides otherwise.
struct QueuePause {
  std::string reason;
  std::string message;
  absl::Time at;
  // What had its turn and failed, for Retry(). None where a person has paused the queue, and where
  // the turn never began: its message is the queue's first then.
  std::optional<QueuedMessage> failed;
  friend bool operator==(const QueuePause&, const QueuePause&) = default;
};

// All of a delivery that survives a restart.
struct DeliveryState {
  QueueSettings settings;
  std::optional<Turn> turn;
  std::optional<QueuePause> pause;
  // When the next message may be sent: the end of the delay. Set where one is to be sent at all.
  std::optional<absl::Time> send_at;
  // The turn that ended last, so that a repeated end of it is harmless.
  std::string last_turn_id;
  friend bool operator==(const DeliveryState&, const DeliveryState&) = default;
};

// Sends a session's messages one at a time, each when the agent is idle:
//
//   waiting ─Send─▶ sending ─Start─▶ (user_prompt recorded, message gone) turn ─Finish─▶ idle
//      ▲               │                                                    └ failed ─▶ paused
//      └───────────────┴─ the runner left, declined or said nothing in time
//
// The agent is idle when there is no turn and nothing is being sent. There is one turn at most. All
// steps are plain changes of state: the session makes them durable before anyone hears of them.
// Owned by its session and guarded as that is.
class QueueDelivery {
 public:
  QueueDelivery(MessageQueue* queue, const QueueDefaults& defaults, DeliveryState state = {});

  // Brings the delivery up to date: to be called after every change of it or of the queue, and when
  // NextTime() has come. Begins or drops the delay before the next message; and where that is over
  // and a runner is there to take it, marks the first message as being sent and returns it.
  struct Sent {
    std::string turn_id;
    QueuedMessage message;
  };
  std::optional<Sent> Poll(bool has_runner, absl::Time now);
  // InfiniteFuture where there is nothing to wait for.
  absl::Time NextTime(bool has_runner) const;

  // The message that is being sent begins its turn, and leaves the queue. The same turn again is
  // harmless: `began` is false then. StaleTurn.
  struct Started {
    Turn turn;
    bool began = false;
  };
  absl::StatusOr<Started> Start(absl::string_view turn_id, absl::Time now);
  // Puts a message before all others and sends it at once, be the queue paused, disabled or in its
  // delay. As MessageQueue::Add(), and TurnInProgress unless the agent is idle.
  absl::StatusOr<Sent> SendNow(MessageRequest request, absl::Time now);
  // Ends the turn; the queue is paused unless it was completed. Of a message that is being sent it
  // means that its turn won't begin: the message waits again, and the queue is paused.
  // StaleTurn where that is not the present turn; the one that ended last is harmless.
  struct Finished {
    bool ended = false;        // A turn has ended, or a delivery.
    std::optional<Turn> turn;  // The turn, where it had begun.
  };
  absl::StatusOr<Finished> Finish(absl::string_view turn_id, const TurnOutcome& outcome,
                                  absl::Time now);
  // The runner is gone: what is being sent waits again. A turn goes on: its runner may come back.
  // Returns whether anything was changed.
  bool RunnerLeft();

  // Pausing again changes the reason, not what has failed.
  void Pause(std::string reason, std::string message, absl::Time now);
  // Goes on with the next message. QueueNotPaused.
  absl::Status Resume();
  // Sends what has failed once more, as the next message and under a new id. QueueNotPaused,
  // NothingToRetry.
  absl::StatusOr<QueuedMessage> Retry(absl::Time now);
  // Goes on without what has failed, or without the first message where that never began.
  // Returns the message that was dropped. QueueNotPaused, QueueEmpty.
  absl::StatusOr<QueuedMessage> Skip();
  // InvalidField for a delay below zero or above kMaxQueueDelay.
  absl::Status Configure(const QueueSettings& settings);

  // After a restart: a delay that began when the clock was ahead ends as one that begins now.
  void LimitDelay(absl::Time now);
  // After a restart. `recorded`: the user_prompt of the message that was being sent is in the log,
  // so that its turn has begun. Otherwise it waits again.
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
  // When a runner that was handed a message should have begun its turn.
  absl::Time start_by_ = absl::InfiniteFuture();
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_SESSION_QUEUE_DELIVERY_H_
