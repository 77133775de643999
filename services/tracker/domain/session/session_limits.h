#ifndef CALLSLIP_TRACKER_DOMAIN_SESSION_SESSION_LIMITS_H_
#define CALLSLIP_TRACKER_DOMAIN_SESSION_SESSION_LIMITS_H_

#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"

namespace callslip::tracker {

// Every bound of sessions and their queues, with its reason.

// Of a session id, which is the name of a folder as well.
inline constexpr size_t kMaxSessionIdBytes = 64;
// A line for a list.
inline constexpr size_t kMaxSessionNameBytes = 256;
// Paths end at 4 KiB on Linux.
inline constexpr size_t kMaxWorkingDirBytes = size_t{4} << 10;
// One line of the log: the output of a tool, a file's worth of text.
inline constexpr size_t kMaxEventBytes = size_t{4} << 20;
// A prompt that someone types or pastes; files go by path.
inline constexpr size_t kMaxMessageBytes = size_t{256} << 10;
// queue.json is written anew at each change.
inline constexpr size_t kMaxQueueBytes = size_t{4} << 20;
inline constexpr size_t kMaxImagesOfMessage = 20;
// Of ids that clients choose.
inline constexpr size_t kMaxClientIdBytes = 128;

// Of why a queue is paused or a turn has failed: a word, and a text for people. They are cut.
inline constexpr size_t kMaxReasonBytes = 64;
inline constexpr size_t kMaxReasonTextBytes = size_t{4} << 10;

// What an agent calls its own session; and what it tells of itself: modes, options, commands.
inline constexpr size_t kMaxAgentSessionIdBytes = size_t{1} << 10;
inline constexpr size_t kMaxAgentDetailsBytes = size_t{64} << 10;

// Of a session's images: what agents take, and more than anybody puts into one conversation.
inline constexpr size_t kMaxImageBytes = size_t{10} << 20;
inline constexpr size_t kMaxImages = 200;

// The sessions that an agent makes: a child may have children, and these none.
inline constexpr int kMaxSessionDepth = 2;
inline constexpr size_t kMaxActiveChildren = 8;

// What a turn has used, as its agent tells it.
inline constexpr size_t kMaxUsageBytes = size_t{4} << 10;

// Rows in one answer.
inline constexpr int kDefaultEventPage = 100;
inline constexpr int kMaxEventPage = 1000;
inline constexpr size_t kMaxPageBytes = size_t{1} << 20;
// What one query by type looks through before it answers with what it has.
inline constexpr size_t kMaxScanBytes = size_t{8} << 20;
inline constexpr int kDefaultSessionPage = 50;
inline constexpr int kMaxSessionPage = 500;

// How often those who follow all sessions are told of one that events are recorded in it: a list
// moves no faster under somebody's eyes. And what they are told of a question: a line.
inline constexpr absl::Duration kActivityInterval = absl::Seconds(1);
inline constexpr size_t kMaxNoticeTitleBytes = 256;

// Of an answer that streams in, what whoever begins to watch is shown of it: its end.
inline constexpr size_t kMaxStreamedBytes = size_t{256} << 10;

// Prompts whose ids are remembered, so that a repeated one makes no second turn.
inline constexpr size_t kRememberedPrompts = 256;
// Of the id of a tool call: those that are open are kept in memory, OpenToolCalls::kMaxOpen of each
// session.
inline constexpr size_t kMaxToolCallIdBytes = 1024;
// Questions that an agent may have open at a time, and answers that are kept for who asks again.
inline constexpr size_t kMaxOpenPermissions = 32;
inline constexpr size_t kRememberedAnswers = 64;
inline constexpr size_t kMaxPermissionOptions = 16;
// What is asked; a change of a file may stand in it, and in its details. All that are open fit into
// one message.
inline constexpr size_t kMaxPermissionTitleBytes = size_t{64} << 10;
inline constexpr size_t kMaxPermissionDetailsBytes = size_t{64} << 10;
// What stands on a button; it may name a command.
inline constexpr size_t kMaxOptionNameBytes = size_t{1} << 10;
// Calls that wait for one answer: a runner's, and those that it has given up without a word.
inline constexpr size_t kMaxAskers = 64;

// A runner that was handed a message has to start its turn within this time; one that lives does so
// at once.
inline constexpr absl::Duration kStartTimeout = absl::Seconds(30);
// The longest delay between two messages of a queue that may be asked for.
inline constexpr absl::Duration kMaxQueueDelay = absl::Hours(24);

// How much there may be of what takes memory or disk. A struct, so that a test can reach each.
struct SessionLimits {
  // Their metadata stay in memory: about a kilobyte each. Of one client: so that others find room.
  size_t sessions = 10'000;
  size_t sessions_of_client = 4'000;
  // What their logs may have on the disk; where there is as much, nothing more is recorded. Years
  // of an agent's work.
  int64_t log_bytes = int64_t{64} << 30;
  int64_t log_bytes_of_client = int64_t{16} << 30;
  size_t queued_messages = 100;
  // Tabs, phones and gateways that follow one session, or all sessions of one client.
  size_t observers_of_session = 64;
  // Of one observer: beyond this it is cut off and has to begin anew. An event that is longer by
  // itself fits into a buffer that is empty.
  size_t observer_bytes = size_t{8} << 20;
  size_t observer_updates = 10'000;
  // Of one thread: sessions that are kept in memory though nobody uses them, and logs whose file is
  // kept open. There are kSessionThreads of them.
  size_t idle_sessions = 32;
  size_t open_files = 32;
  // Of one thread: answers that stream in, each of up to kMaxEventBytes.
  size_t agent_answers = 128;
  size_t agent_answers_of_client = 64;
  // And what of them is kept until they end.
  size_t agent_text_bytes = size_t{32} << 20;
  size_t agent_text_bytes_of_client = size_t{16} << 20;
  // Calls that wait for one thread; beyond that they are refused.
  size_t waiting_calls = 10'000;
};

// A sync of a file blocks its thread for as long as the disk takes; more threads let the disk work
// on several. Measured on ext4: 16 threads sync seven times as many files a second as one.
inline constexpr int kSessionThreads = 16;

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_SESSION_SESSION_LIMITS_H_
