#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/limits.h"

namespace callslip::tracker {

struct CommandError;
class CommandSpec;
struct CommandSnapshot;

// Deadlines that one command sets. An absent one means the tracker's setting.
struct DeadlineOverrides {
  std::optional<absl::Duration> schedule_to_start;
  std::optional<absl::Duration> ack_wait;
  std::optional<absl::Duration> heartbeat_timeout;
  std::optional<absl::Duration> start_to_close;
  std::optional<absl::Duration> schedule_to_close;
  std::optional<absl::Duration> result_retention;

  bool operator==(const DeadlineOverrides&) const = default;
};

// The deadlines of the command life cycle, named as in Temporal. The values are those of the
// correlation-id specification unless stated otherwise.
struct CommandDeadlines {
  // Ready → delivered; then EXPIRED `never_delivered`, but not before a suspended worker of its
  // target is expected back: see LatestStart().
  absl::Duration schedule_to_start = absl::Seconds(30);
  // Delivered → acknowledged; then the lease ends: redelivery if the command is idempotent and has
  // an attempt left, else EXPIRED `extension_no_response`. The extension acknowledges within 2 s.
  absl::Duration ack_wait = absl::Seconds(3);
  // Last heartbeat → next one; then FAILED `worker_lost`. Long enough for two lost heartbeats of
  // a worker that sends one every 4 s.
  absl::Duration heartbeat_timeout = absl::Seconds(10);
  // Delivered → ended. The worker enforces it and reports the timeout; `backstop` later the tracker
  // does: TIMED_OUT `execution_timeout`.
  absl::Duration start_to_close = absl::Seconds(10);
  absl::Duration backstop = absl::Seconds(2);
  // Ready → ended, whatever happens in between; then EXPIRED `schedule_to_close`. Nullopt: the sum
  // of all waits that a command can go through, which With() sets here. See CloseNanos().
  std::optional<absl::Duration> schedule_to_close;
  // Ready → ended, for commands that a person finishes; then EXPIRED `user_did_not_finish`.
  absl::Duration human_schedule_to_close = absl::Minutes(10);
  // Completed → removed if the result was read, else EXPIRED `result_expired`.
  absl::Duration result_retention = absl::Seconds(60);
  // Longest time for which a failed command is kept. Its ring is bounded by number; this bounds the
  // memory of clients that don't return.
  absl::Duration failed_retention = absl::Minutes(10);
  // How long a removed id is answered with "removed" instead of "unknown".
  absl::Duration tombstone_retention = absl::Minutes(10);
  // After a restart of the tracker, nothing that was restored ends or is dropped sooner than this,
  // because neither workers nor clients could reach the tracker meanwhile. 1.5 times the silence
  // allowed to a worker, so that its connection is back and it has reported.
  absl::Duration restart_grace = absl::Seconds(15);

  // The command's own, if these are the deadlines of a command.
  DeadlineOverrides overrides;

  // Some of them in nanoseconds, because every change of a command needs them. Set by With().
  struct Nanos {
    int64_t schedule_to_start = 0;
    int64_t ack_wait = 0;
    int64_t heartbeat_timeout = 0;
    int64_t start_to_close = 0;
    int64_t start_to_backstop = 0;  // Both together.
    int64_t schedule_to_close = 0;
    int64_t human_schedule_to_close = 0;
    int64_t result_retention = 0;
    int64_t failed_retention = 0;
    int64_t tombstone_retention = 0;
  };
  Nanos nanos;

  // INVALID_ARGUMENT, naming both, if a deadline is not longer than one that it contains.
  absl::Status Validate() const;

  // These with the overrides of one command. INVALID_ARGUMENT, naming the deadline, if one is out
  // of bounds or they do not nest. `human`: for a command that a person finishes, to which most
  // deadlines do not apply.
  absl::StatusOr<CommandDeadlines> With(const DeadlineOverrides& overrides, bool human) const;

  // The same for a command that was accepted earlier, possibly with other settings.
  CommandDeadlines WithUnchecked(const DeadlineOverrides& overrides, bool human) const;

  // Ready → ended, whatever happens in between.
  absl::Duration ScheduleToClose() const;
};

// Bounds of the deadlines that a command sets: a page can run for two minutes, and nothing holds
// memory for more than a day.
inline constexpr absl::Duration kMinDeadline = absl::Milliseconds(100);
inline constexpr absl::Duration kMaxScheduleToStart = absl::Hours(1);
inline constexpr absl::Duration kMaxAckWait = absl::Minutes(1);
inline constexpr absl::Duration kMaxHeartbeatTimeout = absl::Minutes(10);
inline constexpr absl::Duration kMaxStartToClose = absl::Seconds(120);
inline constexpr absl::Duration kMaxScheduleToClose = absl::Hours(24);
inline constexpr absl::Duration kMinResultRetention = absl::Seconds(1);
inline constexpr absl::Duration kMaxResultRetention = absl::Minutes(9);
inline constexpr absl::Duration kMaxDelay = absl::Hours(24);
inline constexpr absl::Duration kMaxPollWait = absl::Seconds(30);
// Longest time for which a worker can announce that it is suspended: twice the 30 s within which a
// browser extension's alarm wakes it.
inline constexpr absl::Duration kMaxBackWithin = absl::Seconds(60);

// The deadline that passes next for a command, and its meaning.
enum class DeadlineKind {
  kNotBefore,  // It can be delivered from now on.
  kNeverDelivered,
  kAckWait,
  kHeartbeat,
  kStartToClose,
  kScheduleToClose,
  kUserDidNotFinish,
  kResultRetention,
  kFailedRetention,
};

struct CommandDeadline {
  DeadlineKind kind;
  int64_t at_nanos;  // Since 1970.
};

// `heartbeat_nanos`: when its worker last acknowledged it. `delayed`: whether it waits for its
// not_before.
CommandDeadline NextDeadline(const CommandSnapshot& command, int64_t heartbeat_nanos, bool delayed);

// Until when a command that was never delivered can wait if its schedule_to_start has passed and a
// suspended worker is expected back: until its own schedule_to_close, else kMaxBackWithin longer.
absl::Time LatestStart(const CommandSpec& spec);

// When the command's schedule_to_close passes, in nanoseconds since 1970. The default leaves the
// other deadlines their full time: a first delivery after schedule_to_start extends it by the
// difference.
int64_t CloseNanos(const CommandSnapshot& command);

// The error with which a command ends when the deadline `kind` passes at `now`; not for kinds that
// end nothing. `polled`: whether a worker of its target asked for commands since it was registered.
CommandError DeadlineError(DeadlineKind kind, const CommandSnapshot& command, bool polled,
                           absl::Time now);

}  // namespace callslip::tracker
