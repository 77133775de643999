#ifndef CALLSLIP_TRACKER_DOMAIN_COMMAND_COMMAND_DEADLINES_H_
#define CALLSLIP_TRACKER_DOMAIN_COMMAND_COMMAND_DEADLINES_H_

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

// The clocks that one command brings along. What is absent is the tracker's setting.
struct DeadlineOverrides {
  std::optional<absl::Duration> schedule_to_start;
  std::optional<absl::Duration> ack_wait;
  std::optional<absl::Duration> heartbeat_timeout;
  std::optional<absl::Duration> start_to_close;
  std::optional<absl::Duration> schedule_to_close;
  std::optional<absl::Duration> result_retention;

  bool operator==(const DeadlineOverrides&) const = default;
};

// The clocks of the command life cycle. The names are Temporal's; the numbers are those of the
// correlation-id specification unless said otherwise.
struct CommandDeadlines {
  // Ready → delivered; then EXPIRED `never_delivered`, but not before a suspended worker of its
  // target is expected back: see LatestStart().
  absl::Duration schedule_to_start = absl::Seconds(30);
  // Delivered → acknowledged; then the lease ends: redelivery where the command is idempotent and
  // has an attempt left, else EXPIRED `extension_no_response`. The extension acknowledges within
  // 2 s.
  absl::Duration ack_wait = absl::Seconds(3);
  // Last heartbeat → next one; then FAILED `worker_lost`. Long enough for two lost heartbeats of
  // a worker that sends one every 4 s.
  absl::Duration heartbeat_timeout = absl::Seconds(10);
  // Delivered → ended. The worker keeps it and reports a time-out itself; `backstop` later the
  // tracker does: TIMED_OUT `execution_timeout`.
  absl::Duration start_to_close = absl::Seconds(10);
  absl::Duration backstop = absl::Seconds(2);
  // Ready → ended, whatever happens between; then EXPIRED `schedule_to_close`. Nullopt: the sum of
  // all waits that a command can go through; With() puts that here. See CloseNanos().
  std::optional<absl::Duration> schedule_to_close;
  // Ready → ended, for commands that a person finishes; then EXPIRED `user_did_not_finish`.
  absl::Duration human_schedule_to_close = absl::Minutes(10);
  // Completed → removed where the result was read, else EXPIRED `result_expired`.
  absl::Duration result_retention = absl::Seconds(60);
  // How long a failed command is kept at most: its ring is bounded by number, this bounds the
  // memory of clients that don't come back.
  absl::Duration failed_retention = absl::Minutes(10);
  // How long a removed id still answers "removed" instead of "unknown".
  absl::Duration tombstone_retention = absl::Minutes(10);
  // After a restart of the tracker nothing that it has restored ends or is dropped sooner than
  // this: neither workers nor clients could reach it meanwhile. Half more than the silence that is
  // allowed to a worker, so that its connection is back and it has reported.
  absl::Duration restart_grace = absl::Seconds(15);

  // Those of a command's own, where these belong to one.
  DeadlineOverrides overrides;

  // Some of them in nanoseconds, as every change of a command needs them. With() sets these.
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

  // INVALID_ARGUMENT, naming the two clocks, where one that contains another is not longer.
  absl::Status Validate() const;

  // These with the overrides of one command, which must be within their bounds and nest.
  // INVALID_ARGUMENT naming the clock otherwise. `human`: of a command that a person finishes,
  // to which most clocks do not apply.
  absl::StatusOr<CommandDeadlines> With(const DeadlineOverrides& overrides, bool human) const;

  // The same for what was accepted before, be it with other settings.
  CommandDeadlines WithUnchecked(const DeadlineOverrides& overrides, bool human) const;

  // Ready → ended, whatever happens between.
  absl::Duration ScheduleToClose() const;
};

// What a command may ask for. A page may run for two minutes; a quick command may not be slow; and
// nothing holds memory for more than a day.
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
// For how long a worker may say that it is suspended: twice the 30 s after which the alarm of a
// browser extension wakes it at the latest.
inline constexpr absl::Duration kMaxBackWithin = absl::Seconds(60);

// The clock that runs out next for a command, and what its running out means.
enum class DeadlineKind {
  kNotBefore,  // It may be delivered from now on.
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

// `heartbeat_nanos` is when its worker last acknowledged it; `delayed`, that it waits for its
// not_before.
CommandDeadline NextDeadline(const CommandSnapshot& command, int64_t heartbeat_nanos, bool delayed);

// Until when a command that was never delivered may wait where its schedule_to_start has passed and
// a suspended worker is expected back: to its own schedule_to_close, else for kMaxBackWithin.
absl::Time LatestStart(const CommandSpec& spec);

// When the command's schedule_to_close runs out, in nanoseconds since 1970. The default one leaves
// the other clocks their time: a first delivery that came after schedule_to_start moves it by as
// much.
int64_t CloseNanos(const CommandSnapshot& command);

// What a command ends with at `now`, when the deadline `kind` passes; not for those that end
// nothing. `polled`: whether a worker has asked for commands of its target since it was registered.
CommandError DeadlineError(DeadlineKind kind, const CommandSnapshot& command, bool polled,
                           absl::Time now);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_COMMAND_COMMAND_DEADLINES_H_
