#include "tracker/domain/session/session_errors.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/error_details.h"
#include "tracker/domain/errors.h"
#include "tracker/domain/session/session_limits.h"

namespace callslip::tracker {
namespace {

constexpr absl::Duration kRetryHint = absl::Seconds(1);

absl::Status Precondition(absl::string_view message, const char* reason, const char* hint) {
  return ErrorWithDetails(absl::StatusCode::kFailedPrecondition, message,
                          {.reason = reason, .hint = hint});
}

absl::Status NotFound(absl::string_view message, const char* reason, const char* hint) {
  return ErrorWithDetails(absl::StatusCode::kNotFound, message, {.reason = reason, .hint = hint});
}

absl::Status Exhausted(absl::string_view message, const char* reason, const char* hint) {
  return ErrorWithDetails(absl::StatusCode::kResourceExhausted, message,
                          {.reason = reason, .hint = hint, .retry_after = kRetryHint});
}

// Names the limit that is reached.
const char* Whose(bool of_client) { return of_client ? "of this client" : "in all"; }

}  // namespace

absl::Status InvalidSessionId() {
  return ErrorWithDetails(
      absl::StatusCode::kInvalidArgument,
      absl::StrCat("session_id has to be 1 to ", kMaxSessionIdBytes,
                   " letters, digits, \"_\" or \"-\""),
      {.reason = "invalid_argument", .hint = "Correct session_id and send the call again."});
}

absl::Status SessionNotFound(absl::string_view id) {
  return NotFound(absl::StrCat("no session \"", id, "\" is known"), "unknown_session",
                  "Check the id, or list the sessions.");
}

absl::Status SessionExists(absl::string_view id) {
  return ErrorWithDetails(
      absl::StatusCode::kAlreadyExists, absl::StrCat("there is a session \"", id, "\" already"),
      {.reason = "session_exists", .hint = "Choose another id, or leave it empty."});
}

absl::Status SessionEnded(absl::string_view id) {
  return Precondition(absl::StrCat("session \"", id, "\" has ended"), "session_ended",
                      "Resume the session first.");
}

absl::Status SessionNotEnded(absl::string_view id) {
  return Precondition(absl::StrCat("session \"", id, "\" has not ended"), "session_not_ended",
                      "There is nothing to resume; continue.");
}

absl::Status TooManySessions(size_t limit, bool of_client) {
  return Exhausted(absl::StrCat("the tracker holds ", limit, " sessions ", Whose(of_client),
                                ", as many as it may"),
                   "too_many_sessions", "Delete sessions that are no longer needed.");
}

absl::Status TooManyLogBytes(int64_t limit, bool of_client) {
  return Exhausted(absl::StrCat("the logs of sessions have ", limit, " bytes ", Whose(of_client),
                                ", as many as they may; nothing was recorded"),
                   "too_many_log_bytes",
                   "Delete sessions that are no longer needed, or let an operator set "
                   "--keep-ended-sessions or --max-session-mebibytes.");
}

absl::Status EventTooLarge(size_t bytes, size_t limit) {
  return ErrorWithDetails(
      absl::StatusCode::kInvalidArgument,
      absl::StrCat("the event takes ", bytes, " bytes, more than the ", limit, " that fit"),
      {.reason = "event_too_large", .hint = "Shorten it, or store a reference to its content."});
}

absl::Status StorageBusy() {
  return Exhausted("the tracker's storage is behind with its work; nothing was accepted",
                   "storage_busy", "Send the call again.");
}

absl::Status StorageFailed(absl::string_view what) {
  return ErrorWithDetails(
      absl::StatusCode::kUnavailable, absl::StrCat("the tracker's storage failed: ", what),
      {.reason = "storage_failed",
       .hint = "Look at the disk of the tracker. Read the session before sending the call again: "
               "it may have been carried out."});
}

absl::Status DataDirectoryLocked(absl::string_view path) {
  return Precondition(absl::StrCat("another process uses the data directory ", path),
                      "data_dir_locked", "Stop that process, or choose another directory.");
}

absl::Status TooDeep(absl::string_view parent_id) {
  return Precondition(
      absl::StrCat("session \"", parent_id, "\" is a child's child, and can have no children"),
      "too_deep", "Do it in the session itself, or let its parent make the session.");
}

absl::Status TooManyChildren(size_t limit) {
  return Exhausted(absl::StrCat("the session has ", limit, " active children already"),
                   "too_many_children", "End children that are no longer needed.");
}

absl::Status ImageNotFound(absl::string_view id) {
  return NotFound(absl::StrCat("the session has no image \"", id, "\""), "unknown_image",
                  "Check the id, or upload the image again.");
}

absl::Status TooManyImages(size_t limit) {
  return Exhausted(absl::StrCat("the session has ", limit, " images already"), "too_many_images",
                   "Go on in another session.");
}

absl::Status TooManyObservers(size_t limit) {
  return Exhausted(absl::StrCat("there are ", limit, " observers, as many as there may be"),
                   "too_many_observers", "End an observation that is no longer needed.");
}

absl::Status EventsPruned() {
  return ErrorWithDetails(absl::StatusCode::kAborted,
                          "the session's oldest events were removed during its playback",
                          {.reason = "events_pruned", .hint = "Play the session anew."});
}

absl::Status ObserverTooSlow() {
  return ErrorWithDetails(
      absl::StatusCode::kResourceExhausted, "events came faster than this observer read them",
      {.reason = "too_slow", .hint = "Subscribe anew after the last seq that was received."});
}

absl::Status PlayerNotFound(absl::string_view id) {
  return NotFound(absl::StrCat("no player \"", id, "\" is open"), "unknown_player",
                  "Open another one: players that are not used are closed.");
}

absl::Status TooManyPlayers(size_t limit, bool of_client) {
  return Exhausted(
      absl::StrCat("there are ", limit, " players ", Whose(of_client), ", as many as there may be"),
      "too_many_players", "Close players that are no longer needed.");
}

absl::Status InvalidPlayerPosition(int64_t length) {
  return ErrorWithDetails(
      absl::StatusCode::kOutOfRange, absl::StrCat("the position has to be 0 to ", length),
      {.reason = "invalid_position", .hint = "Choose a position within the player's length."});
}

absl::Status TooManyAnswerBytes(size_t limit, bool of_client) {
  return Exhausted(absl::StrCat("answers that have not ended have ", limit, " bytes ",
                                Whose(of_client), ", as many as they may; nothing was accepted"),
                   "too_many_answers", "Send the call again when other answers have ended.");
}

absl::Status TooManyAnswers(size_t limit, bool of_client) {
  return Exhausted(absl::StrCat("the answers of ", limit, " sessions ", Whose(of_client),
                                " are followed already; nothing was accepted"),
                   "too_many_answers", "Send the call again when other agents have ended.");
}

absl::Status AnswerGap(int64_t known, int64_t offset) {
  return ErrorWithDetails(
      absl::StatusCode::kOutOfRange,
      absl::StrCat("the piece begins at byte ", offset, " of the answer, of which ", known,
                   " bytes are known; nothing was accepted"),
      {.reason = "answer_gap",
       .hint = absl::StrCat("Send the answer again from its byte ", known, " on.")});
}

absl::Status EmptyMessage() {
  return ErrorWithDetails(
      absl::StatusCode::kInvalidArgument, "the message is empty",
      {.reason = "empty_message", .hint = "Send a message that has a text or an image."});
}

absl::Status MessageQueueFull(size_t depth) {
  return ErrorWithDetails(
      absl::StatusCode::kResourceExhausted,
      absl::StrCat("the queue holds ", depth, " messages already; nothing was accepted"),
      {.reason = "queue_full",
       .hint = "Wait for earlier messages to be sent, or delete some.",
       .retry_after = kRetryHint,
       .depth = static_cast<int>(depth)});
}

absl::Status QueueEmpty() {
  return Precondition("the queue is empty", "queue_empty", "Add a message first.");
}

absl::Status MessageNotFound(absl::string_view id) {
  return NotFound(absl::StrCat("no message \"", id, "\" is in the queue"), "unknown_message",
                  "It may have been sent or deleted; list the queue, or read the events.");
}

absl::Status MessageSending(absl::string_view id) {
  return Precondition(absl::StrCat("message \"", id, "\" is already being sent"), "message_sending",
                      "Stop the turn that it begins, if it must not happen.");
}

absl::Status QueueNotPaused() {
  return Precondition("the queue is not paused", "queue_not_paused",
                      "There is nothing to resume; continue.");
}

absl::Status NothingToRetry() {
  return Precondition("the queue was not paused by a message that failed", "nothing_to_retry",
                      "Resume the queue.");
}

absl::Status TurnInProgress(absl::string_view turn_id) {
  return Precondition(absl::StrCat("turn \"", turn_id, "\" is under way"), "turn_in_progress",
                      "Finish that turn first, or add a message to the queue.");
}

absl::Status StaleTurn(absl::string_view turn_id) {
  return Precondition(absl::StrCat("turn \"", turn_id, "\" is not the session's present one"),
                      "stale_turn", "Nothing was changed. Take the next message from the queue.");
}

absl::Status DuplicatePrompt(absl::string_view prompt_id) {
  return ErrorWithDetails(
      absl::StatusCode::kAlreadyExists,
      absl::StrCat("prompt \"", prompt_id, "\" has been sent before"),
      {.reason = "duplicate_prompt", .hint = "Nothing to do: the message already had its turn."});
}

absl::Status PromptIdReused(absl::string_view prompt_id) {
  return ErrorWithDetails(
      absl::StatusCode::kAlreadyExists,
      absl::StrCat("prompt id \"", prompt_id, "\" belongs to a prompt with another text or images"),
      {.reason = "prompt_id_reused",
       .hint = "Nothing was changed. Send it under an id of its own."});
}

absl::Status NoRunner() {
  return Precondition("no runner takes this session's messages", "no_runner",
                      "Add the message to the queue: it is sent once a runner is there.");
}

absl::Status ReceiverReplaced() {
  return ErrorWithDetails(absl::StatusCode::kAborted, "another runner has taken over this session",
                          {.reason = "receiver_replaced",
                           .hint = "Leave the session to it: there is one runner at a time."});
}

absl::Status PermissionNotFound(absl::string_view id) {
  return NotFound(absl::StrCat("no permission request \"", id, "\" is open"), "unknown_permission",
                  "Read the session's open requests.");
}

absl::Status PermissionAnswered(absl::string_view id) {
  return Precondition(absl::StrCat("permission request \"", id, "\" has been answered before"),
                      "permission_answered", "The first answer holds; nothing was changed.");
}

absl::Status TooManyPermissions(size_t limit) {
  return Exhausted(absl::StrCat("the session has ", limit, " open permission requests"),
                   "too_many_permissions", "Wait for answers, or cancel requests.");
}

absl::Status TooManyAskers(size_t limit) {
  return Exhausted(absl::StrCat(limit, " calls wait for the answer to this request already"),
                   "too_many_permissions", "Wait with one call for each request.");
}

absl::Status CheckClientId(absl::string_view field, absl::string_view id) {
  return CheckSize(field, id, kMaxClientIdBytes);
}

absl::Status PersonDecides() {
  return Precondition(
      "only a person may allow that", "person_decides",
      "Choose an option of the kind reject_once or reject_always, or wait for a "
      "person. A workspace with parents_allow in runner.yaml leaves it to the parent.");
}

absl::Status NotAChild(absl::string_view session_id) {
  return Precondition(absl::StrCat("session \"", session_id, "\" was not made by the caller's"),
                      "not_a_child",
                      "Stop, answer and end only sessions that you have made yourself.");
}

absl::Status NotRelated(absl::string_view session_id) {
  return Precondition(
      absl::StrCat("session \"", session_id,
                   "\" is neither the caller's nor its parent, and was not made by it"),
      "not_related",
      "Write to your own session, to the one that has made it, and to those that you have made.");
}

absl::Status NotAssigned(absl::string_view session_id) {
  return Precondition(
      absl::StrCat("session \"", session_id, "\" belongs to another runner, or to none"),
      "not_assigned",
      "Leave it alone: what a runner is to do comes over its Serve call, with the lease to name.");
}

}  // namespace callslip::tracker
