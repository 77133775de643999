#include "tracker/domain/runner/runner_errors.h"

#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "common/error_details.h"
#include "tracker/domain/command/command_validation.h"
#include "tracker/domain/session/session_limits.h"

namespace callslip::tracker {
namespace {

using absl::StatusCode;

bool IsReason(absl::string_view reason) {
  return !reason.empty() && reason.size() <= kMaxReasonBytes && absl::c_all_of(reason, [](char c) {
    return absl::ascii_islower(static_cast<unsigned char>(c)) ||
           absl::ascii_isdigit(static_cast<unsigned char>(c)) || c == '_';
  });
}

absl::Status NoPlaceAs(std::string message) {
  return ErrorWithDetails(
      StatusCode::kResourceExhausted, message,
      {.reason = "too_many_runners",
       .hint = "Give each runner a permanent id; a runner that is gone is forgotten after an hour.",
       .retry_after = absl::Minutes(1)});
}

absl::Status NoRunnerAs(std::string message, std::string hint) {
  return ErrorWithDetails(StatusCode::kFailedPrecondition, message,
                          {.reason = "no_runner", .hint = std::move(hint)});
}

}  // namespace

absl::Status TooManyRunners(size_t limit) {
  return NoPlaceAs(absl::StrCat("there are ", limit, " runners already"));
}

absl::Status TooManyRunnersOfClient(size_t limit) {
  return NoPlaceAs(absl::StrCat("this client has ", limit, " runners already"));
}

absl::Status RunnerReplaced(absl::string_view id) {
  return ErrorWithDetails(
      StatusCode::kAborted, absl::StrCat("another call serves as runner \"", id, "\" now"),
      {.reason = "runner_replaced",
       .hint = "Leave the sessions to it, or give this runner an id of its own."});
}

absl::Status RunnerNameTaken(absl::string_view id) {
  return ErrorWithDetails(
      StatusCode::kAlreadyExists, absl::StrCat("another process serves as runner \"", id, "\""),
      {.reason = "runner_name_taken",
       .hint = "Give each runner a runner_id of its own. One whose machine has gone is let go of "
               "within a minute.",
       .retry_after = absl::Seconds(10)});
}

absl::Status RunnerTooSlow() {
  return ErrorWithDetails(StatusCode::kResourceExhausted,
                          "the runner does not read what it is to do",
                          {.reason = "too_slow",
                           .hint = "Call Serve again, with the sessions that are the runner's.",
                           .retry_after = absl::Seconds(1)});
}

absl::Status AgentNotAllowed(const AgentOffer& parent, absl::string_view child) {
  const std::string others =
      parent.children.empty() ? "" : absl::StrCat(", ", absl::StrJoin(parent.children, ", "));
  return ErrorWithDetails(
      StatusCode::kFailedPrecondition,
      absl::StrCat("the agent \"", parent.name, "\" may have no session with \"", child, "\""),
      {.reason = "agent_not_allowed",
       .hint = absl::StrCat("Name one of these: ", parent.name, others,
                            ". A person decides that by agents.", parent.name,
                            ".children in runner.yaml.")});
}

absl::Status WorkspaceNotAllowed(const Workspace& parent, absl::string_view working_dir,
                                 absl::string_view child) {
  const std::string others =
      parent.children_in.empty()
          ? ""
          : absl::StrCat(" Or name one of these: ", absl::StrJoin(parent.children_in, ", "), ".");
  return ErrorWithDetails(
      StatusCode::kFailedPrecondition,
      absl::StrCat("an agent in \"", working_dir, "\" may make no session in the workspace \"",
                   child, "\" outside of that"),
      {.reason = "workspace_not_allowed",
       .hint = absl::StrCat("Name no workspace: then it works in your directory.", others,
                            " A person decides that by workspaces.", parent.name,
                            ".children_in in runner.yaml.")});
}

absl::Status OtherRunner(absl::string_view session_id) {
  return ErrorWithDetails(
      StatusCode::kFailedPrecondition,
      absl::StrCat("the session \"", session_id,
                   "\" is at another runner than yours, which may allow its agent more"),
      {.reason = "workspace_not_allowed",
       .hint = "Begin a session of your own for it: that is at your runner."});
}

absl::Status RunnerAway() {
  return ErrorWithDetails(
      StatusCode::kUnavailable, "the runner has not connected yet",
      {.reason = "runner_away", .hint = "Send the call again.", .retry_after = absl::Seconds(1)});
}

absl::Status NoRunnerFor(absl::string_view acp_server, absl::string_view working_dir) {
  return NoRunnerAs(acp_server.empty()
                        ? "the session names no agent (acp_server)"
                        : absl::StrCat("no runner has the agent \"", acp_server,
                                       "\" and a workspace with \"", working_dir, "\""),
                    "List the runners, and start one that has this agent and this directory.");
}

absl::Status ItsRunnerAway(absl::string_view runner_id) {
  return NoRunnerAs(absl::StrCat("the session is for the runner \"", runner_id,
                                 "\", by whose rules it was made, and that is not connected"),
                    "Start that runner again, or make another session in place of this one.");
}

absl::Status RunnerServesOne(absl::string_view runner_id) {
  return NoRunnerAs(absl::StrCat("the runner \"", runner_id,
                                 "\" serves one session of callslip-runner prompt, and no other"),
                    "Do the work yourself. Only an agent of a runner that serves on, as "
                    "callslip-runner does without prompt, has others work for it.");
}

absl::Status RunnerGaveUp() {
  return NoRunnerAs("the session's runner has given it up before this was done",
                    "Try again: another runner may take it.");
}

absl::Status RunnerSilent() {
  return ErrorWithDetails(
      StatusCode::kDeadlineExceeded, "the session's runner has not answered; it may be done still",
      {.reason = "runner_silent", .hint = "Look at the state of the agent before trying again."});
}

absl::Status TooManyControls(size_t limit) {
  return ErrorWithDetails(
      StatusCode::kResourceExhausted,
      absl::StrCat(limit, " controls of this session wait for its runner already"),
      {.reason = "too_many_controls",
       .hint = "Wait until one of them was answered.",
       .retry_after = absl::Seconds(1)});
}

absl::Status ControlFailed(absl::string_view reason, absl::string_view message) {
  std::string text = message.empty() ? "the runner could not do it" : std::string(message);
  Cut(text, kMaxReasonTextBytes);
  return ErrorWithDetails(StatusCode::kFailedPrecondition, text,
                          {.reason = IsReason(reason) ? std::string(reason) : "agent_failed",
                           .hint = "Look at the state of the session's agent."});
}

}  // namespace callslip::tracker
