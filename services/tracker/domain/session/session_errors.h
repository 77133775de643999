#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

// Every error of sessions and their queues, by name, followed by its reason (see ErrorDetails),
// which is part of the public API.
namespace callslip::tracker {

absl::Status InvalidSessionId();                     // invalid_argument
absl::Status SessionNotFound(absl::string_view id);  // unknown_session, NOT_FOUND
absl::Status SessionExists(absl::string_view id);    // session_exists, ALREADY_EXISTS
absl::Status SessionEnded(absl::string_view id);     // session_ended
absl::Status SessionNotEnded(absl::string_view id);  // session_not_ended
// `of_client`: the limit of one client, not of all.
absl::Status TooManySessions(size_t limit, bool of_client);  // too_many_sessions
absl::Status TooManyLogBytes(int64_t limit,
                             bool of_client);            // too_many_log_bytes, RESOURCE_EXHAUSTED
absl::Status EventTooLarge(size_t bytes, size_t limit);  // event_too_large, INVALID_ARGUMENT
absl::Status StorageBusy();                              // storage_busy, RESOURCE_EXHAUSTED
// `what` failed on the session's files. It is not known whether a change was stored.
absl::Status StorageFailed(absl::string_view what);        // storage_failed, UNAVAILABLE
absl::Status DataDirectoryLocked(absl::string_view path);  // data_dir_locked

absl::Status TooDeep(absl::string_view parent_id);  // too_deep
absl::Status TooManyChildren(size_t limit);         // too_many_children, RESOURCE_EXHAUSTED
absl::Status ImageNotFound(absl::string_view id);   // unknown_image, NOT_FOUND
absl::Status TooManyImages(size_t limit);           // too_many_images, RESOURCE_EXHAUSTED

absl::Status TooManyObservers(size_t limit);  // too_many_observers
absl::Status EventsPruned();                  // events_pruned, ABORTED
absl::Status ObserverTooSlow();               // too_slow, RESOURCE_EXHAUSTED

absl::Status PlayerNotFound(absl::string_view id);          // unknown_player, NOT_FOUND
absl::Status TooManyPlayers(size_t limit, bool of_client);  // too_many_players, RESOURCE_EXHAUSTED
absl::Status InvalidPlayerPosition(int64_t length);         // invalid_position, OUT_OF_RANGE
absl::Status TooManyAnswers(size_t limit, bool of_client);  // too_many_answers, RESOURCE_EXHAUSTED
absl::Status TooManyAnswerBytes(size_t limit, bool of_client);  // too_many_answers
// `known` bytes of an answer are known, and the piece begins at `offset`.
absl::Status AnswerGap(int64_t known, int64_t offset);  // answer_gap, OUT_OF_RANGE

absl::Status EmptyMessage();                         // empty_message, INVALID_ARGUMENT
absl::Status MessageQueueFull(size_t depth);         // queue_full, RESOURCE_EXHAUSTED
absl::Status QueueEmpty();                           // queue_empty, FAILED_PRECONDITION
absl::Status MessageNotFound(absl::string_view id);  // unknown_message, NOT_FOUND
absl::Status MessageSending(absl::string_view id);   // message_sending
absl::Status QueueNotPaused();                       // queue_not_paused
absl::Status NothingToRetry();                       // nothing_to_retry

absl::Status TurnInProgress(absl::string_view turn_id);     // turn_in_progress
absl::Status StaleTurn(absl::string_view turn_id);          // stale_turn
absl::Status DuplicatePrompt(absl::string_view prompt_id);  // duplicate_prompt, ALREADY_EXISTS
absl::Status PromptIdReused(absl::string_view prompt_id);   // prompt_id_reused, ALREADY_EXISTS
absl::Status NoRunner();                                    // no_runner
absl::Status ReceiverReplaced();                            // receiver_replaced, ABORTED

absl::Status PermissionNotFound(absl::string_view id);  // unknown_permission, NOT_FOUND
absl::Status PermissionAnswered(absl::string_view id);  // permission_answered
absl::Status TooManyPermissions(size_t limit);          // too_many_permissions
absl::Status TooManyAskers(size_t limit);               // too_many_permissions

// An agent chose an option that only a person may choose: person_decides, FAILED_PRECONDITION.
absl::Status PersonDecides();
// The caller is the agent of another session, which has no right to do this; FAILED_PRECONDITION.
absl::Status NotAChild(absl::string_view session_id);   // not_a_child
absl::Status NotRelated(absl::string_view session_id);  // not_related

// The session is assigned to a runner, and the caller is not that one, or no longer: not_assigned,
// FAILED_PRECONDITION.
absl::Status NotAssigned(absl::string_view session_id);

// InvalidField if an id that a client chooses has more than kMaxClientIdBytes.
absl::Status CheckClientId(absl::string_view field, absl::string_view id);

}  // namespace callslip::tracker
