#include "tracker/domain/command/command_deadlines.h"

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "tracker/domain/command/command_limits.h"

namespace callslip::tracker {
namespace {

absl::Status CheckNests(absl::string_view inner_name, absl::Duration inner,
                        absl::string_view outer_name, absl::Duration outer) {
  if (inner < outer) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(inner_name, " (", absl::FormatDuration(inner),
                                                 ") must be shorter than ", outer_name, " (",
                                                 absl::FormatDuration(outer), ")"));
}

// Of two clocks that run out together, the one that was named first is meant.
void TakeEarlier(CommandDeadline& best, DeadlineKind kind, absl::Time at) {
  if (at < best.at) best = {kind, at};
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

absl::Duration CommandDeadlines::ScheduleToClose(absl::Duration command_start_to_close) const {
  return schedule_to_start + (kMaxAttempts - 1) * ack_wait + command_start_to_close + backstop;
}

CommandDeadline NextDeadline(const CommandDeadlines& deadlines, const CommandSnapshot& command,
                             absl::Time last_heartbeat) {
  const CommandSpec& spec = *command.spec;
  CommandDeadline next;
  if (command.state == CommandState::kCompleted) {
    return {DeadlineKind::kResultRetention, command.end_time + deadlines.result_retention};
  }
  if (IsTerminal(command.state)) {
    return {DeadlineKind::kFailedRetention, command.end_time + deadlines.failed_retention};
  }
  if (spec.command_class == CommandClass::kHuman) {
    return {DeadlineKind::kUserDidNotFinish,
            spec.register_time + deadlines.human_schedule_to_close};
  }
  const absl::Time start_to_close = command.deliver_time + spec.start_to_close + deadlines.backstop;
  switch (command.state) {
    case CommandState::kQueued:
      // A command that was returned to its queue has been delivered once, so this clock has
      // stopped; the hard stop below still runs.
      if (command.attempt == 0) {
        TakeEarlier(next, DeadlineKind::kNeverDelivered,
                    spec.register_time + deadlines.schedule_to_start);
      }
      break;
    case CommandState::kDelivered:
      TakeEarlier(next, DeadlineKind::kStartToClose, start_to_close);
      TakeEarlier(next, DeadlineKind::kAckWait, command.deliver_time + deadlines.ack_wait);
      break;
    default:
      TakeEarlier(next, DeadlineKind::kStartToClose, start_to_close);
      TakeEarlier(next, DeadlineKind::kHeartbeat, last_heartbeat + deadlines.heartbeat_timeout);
      break;
  }
  TakeEarlier(next, DeadlineKind::kScheduleToClose,
              spec.register_time + deadlines.ScheduleToClose(spec.start_to_close));
  return next;
}

CommandError DeadlineError(DeadlineKind kind, const CommandDeadlines& deadlines,
                           const CommandSnapshot& command) {
  const std::string target = absl::StrCat("target \"", command.spec->target, "\"");
  switch (kind) {
    case DeadlineKind::kNone:
    case DeadlineKind::kFailedRetention:
      break;
    case DeadlineKind::kNeverDelivered:
      return {"never_delivered",
              absl::StrCat("No worker of ", target, " took the command within ",
                           absl::FormatDuration(deadlines.schedule_to_start), "."),
              "Check that the browser is open and its extension is connected, then send the "
              "command again.",
              false};
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
                           absl::FormatDuration(command.spec->start_to_close), "."),
              "Send it again with a longer time-out, or split the work.", true};
    case DeadlineKind::kScheduleToClose:
      return {"schedule_to_close",
              absl::StrCat(
                  "The command did not end within ",
                  absl::FormatDuration(deadlines.ScheduleToClose(command.spec->start_to_close)),
                  " in all."),
              "Look at the page before sending it again.", command.attempt > 0};
    case DeadlineKind::kUserDidNotFinish:
      return {"user_did_not_finish",
              absl::StrCat("The user did not finish within ",
                           absl::FormatDuration(deadlines.human_schedule_to_close), "."),
              "Ask the user, then start again.", false};
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
