#ifndef CALLSLIP_TRACKER_DOMAIN_COMMAND_COMMAND_DEADLINES_H_
#define CALLSLIP_TRACKER_DOMAIN_COMMAND_COMMAND_DEADLINES_H_

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "tracker/domain/command/command.h"

namespace callslip::tracker {

// The clocks of the command life cycle. The names are Temporal's; the numbers are those of the
// correlation-id specification unless said otherwise.
struct CommandDeadlines {
  // Registered → delivered; then EXPIRED `never_delivered`.
  absl::Duration schedule_to_start = absl::Seconds(30);
  // Delivered → acknowledged; then the lease ends: redelivery where the command is idempotent and
  // has an attempt left, else EXPIRED `extension_no_response`. The extension acknowledges within
  // 2 s.
  absl::Duration ack_wait = absl::Seconds(3);
  // Last heartbeat → next one; then FAILED `worker_lost`. Long enough for two lost heartbeats of
  // a worker that sends one every 4 s.
  absl::Duration heartbeat_timeout = absl::Seconds(10);
  // Delivered → ended, unless the command brings its own. The worker keeps it and reports a
  // time-out itself; `backstop` later the tracker does: TIMED_OUT `execution_timeout`.
  absl::Duration start_to_close = absl::Seconds(10);
  absl::Duration backstop = absl::Seconds(2);
  // Registered → ended, for commands that a person finishes; then EXPIRED `user_did_not_finish`.
  absl::Duration human_schedule_to_close = absl::Minutes(10);
  // Completed → removed where the result was read, else EXPIRED `result_expired`.
  absl::Duration result_retention = absl::Seconds(60);
  // How long a failed command is kept at most: its ring is bounded by number, this bounds the
  // memory of clients that don't come back.
  absl::Duration failed_retention = absl::Minutes(10);
  // How long a removed id still answers "removed" instead of "unknown".
  absl::Duration tombstone_retention = absl::Minutes(10);

  // INVALID_ARGUMENT, naming the two clocks, where one that contains another is not longer.
  absl::Status Validate() const;

  // Registered → ended, whatever happens between: the sum of all waits that a command of this
  // start_to_close can go through. EXPIRED `schedule_to_close`.
  absl::Duration ScheduleToClose(absl::Duration command_start_to_close) const;
};

// What a command may ask for as its own start_to_close. The longest lets a page run two minutes
// while every other clock stays as it is.
inline constexpr absl::Duration kMinStartToClose = absl::Milliseconds(100);
inline constexpr absl::Duration kMaxStartToClose = absl::Seconds(120);
// The longest single wait and the longest held poll. Below the 60 s at which most MCP clients and
// HTTP intermediaries give up.
inline constexpr absl::Duration kMaxWait = absl::Seconds(55);
inline constexpr absl::Duration kMaxPollWait = absl::Seconds(30);

// The clock that runs out next for a command, and what its running out means.
enum class DeadlineKind {
  kNone,
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
  DeadlineKind kind = DeadlineKind::kNone;
  absl::Time at = absl::InfiniteFuture();
};

// `last_heartbeat` is when its worker last acknowledged it.
CommandDeadline NextDeadline(const CommandDeadlines& deadlines, const CommandSnapshot& command,
                             absl::Time last_heartbeat);

// What a command ends with when the deadline `kind` passes. Not for kAckWait of a command that is
// returned to its queue, and not for kNone and kFailedRetention, which end nothing.
CommandError DeadlineError(DeadlineKind kind, const CommandDeadlines& deadlines,
                           const CommandSnapshot& command);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_COMMAND_COMMAND_DEADLINES_H_
