#include "tracker/domain/errors.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/error_details.h"

namespace callslip::tracker {
namespace {

// A worker that keeps up frees a place in the queue well within this time, and an absent worker
// would not free one sooner.
constexpr absl::Duration kQueueRetryAfter = absl::Seconds(1);
// Full tables and drains take longer to pass.
constexpr absl::Duration kTableRetryAfter = absl::Seconds(5);

absl::string_view Whose(bool of_client) { return of_client ? "of this client" : "of all clients"; }

}  // namespace

absl::Status InvalidField(absl::string_view field, absl::string_view problem) {
  return ErrorWithDetails(absl::StatusCode::kInvalidArgument, absl::StrCat(field, " ", problem),
                          {.reason = "invalid_argument",
                           .hint = absl::StrCat("Correct ", field, " and send the call again.")});
}

absl::Status CheckSize(absl::string_view field, absl::string_view text, size_t most) {
  if (text.size() <= most) return absl::OkStatus();
  return InvalidField(field, absl::StrCat("is longer than ", most, " bytes"));
}

absl::Status InvalidPageToken() {
  return ErrorWithDetails(absl::StatusCode::kInvalidArgument, "page_token is not valid",
                          {.reason = "invalid_page_token",
                           .hint = "Send next_page_token of the last answer, or leave it empty."});
}

absl::Status ResultTooLarge(size_t bytes, size_t limit) {
  return ErrorWithDetails(
      absl::StatusCode::kInvalidArgument,
      absl::StrCat("the result has ", bytes, " bytes, more than the ", limit, " that fit"),
      {.reason = "result_too_large",
       .hint = "Complete the command with an error that says so, or with a smaller result."});
}

absl::Status DrawingTooLarge(size_t bytes, size_t limit) {
  return ErrorWithDetails(
      absl::StatusCode::kInvalidArgument,
      absl::StrCat("the drawing has ", bytes, " bytes, more than the ", limit, " that fit"),
      {.reason = "drawing_too_large", .hint = "Leave out its images, or make them smaller."});
}

absl::Status CommandNotFound(absl::string_view id) {
  return ErrorWithDetails(
      absl::StatusCode::kNotFound, absl::StrCat("no command \"", id, "\" is known"),
      {.reason = "unknown_command",
       .hint = "Check the id, or list the known commands. A tracker without a data directory "
               "forgets its commands when it ends."});
}

absl::Status CommandRemoved(absl::string_view id, CommandState ended_as) {
  return ErrorWithDetails(
      absl::StatusCode::kNotFound,
      absl::StrCat("command \"", id, "\" ended as ", CommandStateName(ended_as),
                   " and has been removed since"),
      {.reason = "command_removed", .hint = "Look at what it has done before sending it again."});
}

absl::Status CommandAlreadyEnded(absl::string_view id, CommandState state) {
  return ErrorWithDetails(
      absl::StatusCode::kFailedPrecondition,
      absl::StrCat("command \"", id, "\" has already ended as ", CommandStateName(state)),
      {.reason = "already_ended", .hint = "Read the command to see how it ended."});
}

absl::Status WrongLease(absl::string_view id) {
  return ErrorWithDetails(
      absl::StatusCode::kPermissionDenied,
      absl::StrCat("the lease token does not belong to a delivery of command \"", id, "\""),
      {.reason = "wrong_lease",
       .hint = "Quote the lease token that came with the command when it was leased."});
}

absl::Status WorkerTaken(absl::string_view worker_id) {
  return ErrorWithDetails(
      absl::StatusCode::kAlreadyExists,
      absl::StrCat("a worker \"", worker_id,
                   "\" that takes the commands of all clients is connected"),
      {.reason = "worker_taken",
       .hint =
           "Choose another worker_id, or connect over the tracker's unix socket or with a token "
           "that has the role worker."});
}

absl::Status RequestIdReused(absl::string_view request_id) {
  return ErrorWithDetails(
      absl::StatusCode::kAlreadyExists,
      absl::StrCat("request_id \"", request_id, "\" was used before for another command"),
      {.reason = "request_id_reused", .hint = "Use a new request_id for each new command."});
}

absl::Status RequestOfRemoved(absl::string_view request_id, absl::string_view id,
                              CommandState ended_as) {
  return ErrorWithDetails(
      absl::StatusCode::kAlreadyExists,
      absl::StrCat("request_id \"", request_id, "\" has made command \"", id, "\", which ended as ",
                   CommandStateName(ended_as), " and has been removed since"),
      {.reason = "command_removed",
       .hint = "Look at what it has done; use a new request_id to have it done once more."});
}

absl::Status NotADeadLetter(absl::string_view id, CommandState state) {
  return ErrorWithDetails(
      absl::StatusCode::kFailedPrecondition,
      absl::StrCat("command \"", id, "\" is ", CommandStateName(state), " and can't be replayed"),
      {.reason = "not_a_dead_letter",
       .hint =
           "Replay commands that ended as failed, timed_out or expired; register others anew."});
}

absl::Status NotReplayable(absl::string_view id) {
  return ErrorWithDetails(
      absl::StatusCode::kFailedPrecondition,
      absl::StrCat("command \"", id, "\" waited for a drawing, which none that replays it would"),
      {.reason = "not_replayable", .hint = "Request the annotations anew."});
}

absl::Status QueueFull(absl::string_view target, int64_t depth, bool of_client) {
  return ErrorWithDetails(
      absl::StatusCode::kResourceExhausted,
      absl::StrCat("the queue of target \"", target, "\" holds ", depth, " commands ",
                   Whose(of_client), " already; nothing was accepted"),
      {.reason = "queue_full",
       .hint = "Wait for earlier commands to end, then send this one again.",
       .retry_after = kQueueRetryAfter,
       .depth = static_cast<int>(depth)});
}

absl::Status TooManyCommands(int64_t limit, bool of_client) {
  return ErrorWithDetails(
      absl::StatusCode::kResourceExhausted,
      absl::StrCat("the tracker holds ", limit, " commands ", Whose(of_client),
                   ", as many as it may; nothing was accepted"),
      {.reason = "too_many_commands",
       .hint = "Collect the results of earlier commands, then send this one again.",
       .retry_after = kTableRetryAfter});
}

absl::Status TooManyBytes(int64_t limit, bool of_client) {
  return ErrorWithDetails(
      absl::StatusCode::kResourceExhausted,
      absl::StrCat("params and results of commands ", Whose(of_client), " would take more than ",
                   limit, " bytes; nothing was accepted"),
      {.reason = "too_many_bytes",
       .hint = "Collect the results of earlier commands, then send this one again.",
       .retry_after = kTableRetryAfter});
}

absl::Status TooManyWaits(int64_t limit, bool of_client) {
  return ErrorWithDetails(
      absl::StatusCode::kResourceExhausted,
      absl::StrCat("the tracker holds ", limit, " waits ", Whose(of_client), ", as many as it may"),
      {.reason = "too_many_waits",
       .hint = "End a wait that is no longer needed, or poll with GetCommand.",
       .retry_after = kTableRetryAfter});
}

absl::Status TooManyWaiters(int64_t limit, bool of_client) {
  return ErrorWithDetails(absl::StatusCode::kResourceExhausted,
                          absl::StrCat(limit, " requests for annotations ", Whose(of_client),
                                       " wait for a person, as many as may"),
                          {.reason = "too_many_waits",
                           .hint = "Wait for annotations that were asked for, or cancel a request.",
                           .retry_after = kTableRetryAfter});
}

absl::Status TooManyFilters(int64_t limit) {
  return ErrorWithDetails(
      absl::StatusCode::kResourceExhausted,
      absl::StrCat("this client watches with ", limit, " filters, as many as it may"),
      {.reason = "too_many_waits",
       .hint = "Remove a filter that is no longer needed, or watch the commands by their ids.",
       .retry_after = kTableRetryAfter});
}

absl::Status TooSlow() {
  return ErrorWithDetails(absl::StatusCode::kResourceExhausted,
                          "updates of this filter came faster than they were read",
                          {.reason = "too_slow", .hint = "List the commands, then watch anew."});
}

absl::Status StorageUnavailable() {
  return ErrorWithDetails(
      absl::StatusCode::kUnavailable, "the tracker can't write to its data directory at present",
      {.reason = "storage_unavailable",
       .hint = "Send the call again, with the same request_id where it has one. Look into the "
               "tracker's log if this lasts: the disk may be full.",
       .retry_after = kTableRetryAfter});
}

absl::Status Draining() {
  return ErrorWithDetails(
      absl::StatusCode::kUnavailable, "the tracker is shutting down",
      {.reason = "draining", .hint = "Send the call again.", .retry_after = kTableRetryAfter});
}

}  // namespace callslip::tracker
