#include "tracker/domain/command/command_deadlines.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "tracker/domain/command/command.h"
#include "tracker/domain/command/command_limits.h"
#include "tracker/domain/errors.h"

namespace callslip::tracker {
namespace {

absl::Status CheckNests(absl::string_view inner_name, absl::Duration inner,
                        absl::string_view outer_name, absl::Duration outer) {
  if (inner < outer) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(inner_name, " (", absl::FormatDuration(inner),
                                                 ") must be shorter than ", outer_name, " (",
                                                 absl::FormatDuration(outer), ")"));
}

// If two deadlines pass together, the one that is added later wins, because it is more specific.
void TakeEarlier(CommandDeadline& best, DeadlineKind kind, int64_t at_nanos) {
  if (at_nanos <= best.at_nanos) best = {kind, at_nanos};
}

CommandDeadlines::Nanos NanosOf(const CommandDeadlines& deadlines) {
  const auto nanos = [](absl::Duration duration) { return absl::ToInt64Nanoseconds(duration); };
  return {.schedule_to_start = nanos(deadlines.schedule_to_start),
          .ack_wait = nanos(deadlines.ack_wait),
          .heartbeat_timeout = nanos(deadlines.heartbeat_timeout),
          .start_to_close = nanos(deadlines.start_to_close),
          .start_to_backstop = nanos(deadlines.start_to_close + deadlines.backstop),
          .schedule_to_close = nanos(deadlines.ScheduleToClose()),
          .human_schedule_to_close = nanos(deadlines.human_schedule_to_close),
          .result_retention = nanos(deadlines.result_retention),
          .failed_retention = nanos(deadlines.failed_retention),
          .tombstone_retention = nanos(deadlines.tombstone_retention)};
}

// The command's ready_time(), when its deadlines start.
int64_t ReadyNanos(const CommandSnapshot& command) {
  const int64_t registered = command.FirstNanos(TraceEntry::Stage::kQueued);
  const absl::Time not_before = command.spec->not_before;
  if (not_before == absl::InfinitePast()) return registered;
  return std::max(registered, absl::ToUnixNanos(not_before));
}

// See the header. `ready`: when its deadlines start.
int64_t CloseNanos(const CommandSnapshot& command, int64_t ready) {
  const CommandDeadlines& deadlines = *command.spec->deadlines;
  const int64_t close = ready + deadlines.nanos.schedule_to_close;
  if (command.attempt == 0 || deadlines.overrides.schedule_to_close.has_value()) return close;
  const int64_t latest = ready + deadlines.nanos.schedule_to_start;
  return close + std::max<int64_t>(command.FirstNanos(TraceEntry::Stage::kSent) - latest, 0);
}

absl::Status CheckBounds(absl::string_view name, const std::optional<absl::Duration>& value,
                         absl::Duration min, absl::Duration max) {
  if (!value.has_value() || (*value >= min && *value <= max)) return absl::OkStatus();
  return InvalidField(
      absl::StrCat("deadlines.", name),
      absl::StrCat("must be from ", absl::FormatDuration(min), " to ", absl::FormatDuration(max)));
}

absl::Status CheckBounds(const DeadlineOverrides& wanted) {
  RETURN_IF_ERROR(CheckBounds("schedule_to_start", wanted.schedule_to_start, kMinDeadline,
                              kMaxScheduleToStart));
  RETURN_IF_ERROR(CheckBounds("ack_wait", wanted.ack_wait, kMinDeadline, kMaxAckWait));
  RETURN_IF_ERROR(CheckBounds("heartbeat_timeout", wanted.heartbeat_timeout, kMinDeadline,
                              kMaxHeartbeatTimeout));
  RETURN_IF_ERROR(
      CheckBounds("start_to_close", wanted.start_to_close, kMinDeadline, kMaxStartToClose));
  RETURN_IF_ERROR(CheckBounds("schedule_to_close", wanted.schedule_to_close, kMinDeadline,
                              kMaxScheduleToClose));
  return CheckBounds("result_retention", wanted.result_retention, kMinResultRetention,
                     kMaxResultRetention);
}

absl::Status CheckApplyToPeople(const DeadlineOverrides& wanted) {
  DeadlineOverrides applicable;
  applicable.schedule_to_close = wanted.schedule_to_close;
  applicable.result_retention = wanted.result_retention;
  if (wanted == applicable) return absl::OkStatus();
  return InvalidField("deadlines",
                      "of a command that a person finishes may set schedule_to_close and "
                      "result_retention only");
}

void Override(absl::Duration& setting, const std::optional<absl::Duration>& wanted) {
  if (wanted.has_value()) setting = *wanted;
}

}  // namespace

absl::Status CommandDeadlines::Validate() const {
  RETURN_IF_ERROR(
      CheckNests("the extension's acknowledgement after", absl::Seconds(2), "ack_wait", ack_wait));
  RETURN_IF_ERROR(CheckNests("ack_wait", ack_wait, "schedule_to_start", schedule_to_start));
  RETURN_IF_ERROR(CheckNests("ack_wait", ack_wait, "heartbeat_timeout", heartbeat_timeout));
  RETURN_IF_ERROR(CheckNests("zero", absl::ZeroDuration(), "backstop", backstop));
  RETURN_IF_ERROR(CheckNests("the longest wait", kMaxWait, "result_retention", result_retention));
  RETURN_IF_ERROR(
      CheckNests("the longest wait", kMaxWait, "human_schedule_to_close", human_schedule_to_close));
  RETURN_IF_ERROR(
      CheckNests("result_retention", result_retention, "tombstone_retention", tombstone_retention));
  RETURN_IF_ERROR(
      CheckNests("result_retention", result_retention, "failed_retention", failed_retention));
  return absl::OkStatus();
}

absl::StatusOr<CommandDeadlines> CommandDeadlines::With(const DeadlineOverrides& wanted,
                                                        bool human) const {
  if (human) RETURN_IF_ERROR(CheckApplyToPeople(wanted));
  RETURN_IF_ERROR(CheckBounds(wanted));
  CommandDeadlines own = WithUnchecked(wanted, human);
  if (human) return own;
  const absl::Duration close = own.ScheduleToClose();
  for (const absl::Status& nests :
       {CheckNests("ack_wait", own.ack_wait, "schedule_to_start", own.schedule_to_start),
        CheckNests("ack_wait", own.ack_wait, "heartbeat_timeout", own.heartbeat_timeout),
        CheckNests("schedule_to_start", own.schedule_to_start, "schedule_to_close", close),
        CheckNests("start_to_close", own.start_to_close, "schedule_to_close", close)}) {
    if (!nests.ok())
      return InvalidField("deadlines", absl::StrCat("do not nest: ", nests.message()));
  }
  return own;
}

CommandDeadlines CommandDeadlines::WithUnchecked(const DeadlineOverrides& wanted,
                                                 bool human) const {
  CommandDeadlines own = *this;
  own.overrides = wanted;
  Override(own.result_retention, wanted.result_retention);
  if (human) {
    Override(own.human_schedule_to_close, wanted.schedule_to_close);
  } else {
    Override(own.schedule_to_start, wanted.schedule_to_start);
    Override(own.ack_wait, wanted.ack_wait);
    Override(own.heartbeat_timeout, wanted.heartbeat_timeout);
    Override(own.start_to_close, wanted.start_to_close);
    own.schedule_to_close = wanted.schedule_to_close;
    own.schedule_to_close = own.ScheduleToClose();
  }
  own.nanos = NanosOf(own);
  return own;
}

absl::Duration CommandDeadlines::ScheduleToClose() const {
  if (schedule_to_close.has_value()) return *schedule_to_close;
  return schedule_to_start + (kMaxAttempts - 1) * ack_wait + start_to_close + backstop;
}

CommandDeadline NextDeadline(const CommandSnapshot& command, int64_t heartbeat_nanos,
                             bool delayed) {
  const CommandSpec& spec = *command.spec;
  const CommandDeadlines::Nanos& nanos = spec.deadlines->nanos;
  if (IsTerminal(command.state)) {
    // The last time, because dropping a result ends its command again.
    const int64_t ended = command.LastNanos(TraceEntry::Stage::kResolved);
    if (command.state == CommandState::kCompleted) {
      return {DeadlineKind::kResultRetention, ended + nanos.result_retention};
    }
    return {DeadlineKind::kFailedRetention, ended + nanos.failed_retention};
  }
  const int64_t ready = ReadyNanos(command);
  if (delayed) return {DeadlineKind::kNotBefore, ready};
  if (spec.command_class == CommandClass::kHuman) {
    return {DeadlineKind::kUserDidNotFinish, ready + nanos.human_schedule_to_close};
  }

  CommandDeadline next = {DeadlineKind::kScheduleToClose, CloseNanos(command, ready)};
  // schedule_to_start ended with the first delivery, also for a command that returned to its queue.
  // schedule_to_close still applies.
  if (command.state == CommandState::kQueued) {
    if (command.attempt == 0) {
      TakeEarlier(next, DeadlineKind::kNeverDelivered, ready + nanos.schedule_to_start);
    }
    return next;
  }
  const int64_t delivered = command.LastNanos(TraceEntry::Stage::kSent);
  TakeEarlier(next, DeadlineKind::kStartToClose, delivered + nanos.start_to_backstop);
  if (command.state == CommandState::kDelivered) {
    TakeEarlier(next, DeadlineKind::kAckWait, delivered + nanos.ack_wait);
  } else {
    TakeEarlier(next, DeadlineKind::kHeartbeat, heartbeat_nanos + nanos.heartbeat_timeout);
  }
  return next;
}

absl::Time LatestStart(const CommandSpec& spec) {
  const CommandDeadlines& deadlines = *spec.deadlines;
  return spec.ready_time() + deadlines.overrides.schedule_to_close.value_or(
                                 deadlines.schedule_to_start + kMaxBackWithin);
}

int64_t CloseNanos(const CommandSnapshot& command) {
  return CloseNanos(command, ReadyNanos(command));
}

CommandError DeadlineError(DeadlineKind kind, const CommandSnapshot& command, bool polled,
                           absl::Time now) {
  const CommandDeadlines& deadlines = *command.spec->deadlines;
  const std::string target = absl::StrCat("target \"", command.spec->target(), "\"");
  switch (kind) {
    case DeadlineKind::kNotBefore:
    case DeadlineKind::kFailedRetention: break;
    case DeadlineKind::kNeverDelivered: {
      // In whole seconds if it waited longer, for a suspended worker.
      const absl::Duration waited =
          std::max(deadlines.schedule_to_start,
                   absl::Trunc(now - command.spec->ready_time(), absl::Seconds(1)));
      if (polled) {
        return {"never_delivered",
                absl::StrCat("The workers of ", target, " were busy; none took the command within ",
                             absl::FormatDuration(waited), "."),
                "Wait for earlier commands to end, or cancel them, then send it again.", false};
      }
      return {"never_delivered",
              absl::StrCat("No worker of ", target, " asked for commands within ",
                           absl::FormatDuration(waited), "."),
              absl::StrCat("No browser extension, or other worker, is connected to ", target,
                           ". Check that the browser is open and the extension on, then send the "
                           "command again."),
              false};
    }
    case DeadlineKind::kAckWait:
      return {"extension_no_response",
              absl::StrCat("The worker took the command and did not respond within ",
                           absl::FormatDuration(deadlines.ack_wait), "."),
              "The command may have been executed. Look at the page before sending it again.",
              true};
    case DeadlineKind::kHeartbeat:
      return {"worker_lost",
              absl::StrCat("The worker began, then sent no heartbeat for ",
                           absl::FormatDuration(deadlines.heartbeat_timeout), "."),
              "The command may have been executed. Look at the page before sending it again.",
              true};
    case DeadlineKind::kStartToClose:
      return {"execution_timeout",
              absl::StrCat("The execution took longer than ",
                           absl::FormatDuration(deadlines.start_to_close), "."),
              "Send it again with a longer time-out, or split the work.", true};
    case DeadlineKind::kScheduleToClose:
      return {"schedule_to_close",
              absl::StrCat("The command did not end within ",
                           absl::FormatDuration(deadlines.ScheduleToClose()), " in all."),
              "Look at the page before sending it again.", command.attempt > 0};
    case DeadlineKind::kUserDidNotFinish:
      return {"user_did_not_finish",
              absl::StrCat("The user did not finish within ",
                           absl::FormatDuration(deadlines.human_schedule_to_close), "."),
              "Ask the user, then start again.", command.state == CommandState::kRunning};
    case DeadlineKind::kResultRetention:
      return {
          "result_expired",
          absl::StrCat("Result expired after ", absl::FormatDuration(deadlines.result_retention),
                       " (not retrieved in time)."),
          "The command was executed. Collect results sooner, or send it again if repeating it "
          "does no harm.",
          true};
  }
  return {};
}

}  // namespace callslip::tracker
