#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"

namespace callslip::tracker {

// The limits of sessions and their queues, with their reasons.

// A session id, which is also the name of a folder.
inline constexpr size_t kMaxSessionIdBytes = 64;
// A line in a list.
inline constexpr size_t kMaxSessionNameBytes = 256;
// The maximum length of a path on Linux is 4 KiB.
inline constexpr size_t kMaxWorkingDirBytes = size_t{4} << 10;
// One line of the log: the output of a tool, a file's worth of text.
inline constexpr size_t kMaxEventBytes = size_t{4} << 20;
// A prompt that a person types or pastes; files are passed by path.
inline constexpr size_t kMaxMessageBytes = size_t{256} << 10;
// queue.json is rewritten at each change.
inline constexpr size_t kMaxQueueBytes = size_t{4} << 20;
inline constexpr size_t kMaxImagesOfMessage = 20;
// Ids that clients choose.
inline constexpr size_t kMaxClientIdBytes = 128;

// Why a queue is paused or a turn has failed: a word, and a text for people. They are truncated.
inline constexpr size_t kMaxReasonBytes = 64;
inline constexpr size_t kMaxReasonTextBytes = size_t{4} << 10;

// The agent's id of its own session; and its report about itself: modes, options, commands.
inline constexpr size_t kMaxAgentSessionIdBytes = size_t{1} << 10;
inline constexpr size_t kMaxAgentDetailsBytes = size_t{64} << 10;

// A session's images: as large as agents accept, and more than a person puts into one conversation.
inline constexpr size_t kMaxImageBytes = size_t{10} << 20;
inline constexpr size_t kMaxImages = 200;

// Sessions that an agent creates: a child can have children, but these can't.
inline constexpr int kMaxSessionDepth = 2;
inline constexpr size_t kMaxActiveChildren = 8;

// Usage of a turn, as reported by its agent.
inline constexpr size_t kMaxUsageBytes = size_t{4} << 10;

// Rows in one answer.
inline constexpr int kDefaultEventPage = 100;
inline constexpr int kMaxEventPage = 1000;
inline constexpr size_t kMaxPageBytes = size_t{1} << 20;
// Bytes that one query by type searches before it answers with what it has found.
inline constexpr size_t kMaxScanBytes = size_t{8} << 20;
inline constexpr int kDefaultSessionPage = 50;
inline constexpr int kMaxSessionPage = 500;

// How often followers of all sessions are notified that events are recorded in one: a list should
// change no faster while a person reads it. And the title of a permission request in a notice: a
// line.
inline constexpr absl::Duration kActivityInterval = absl::Seconds(1);
inline constexpr size_t kMaxNoticeTitleBytes = 256;

// The end of a streaming answer, as shown to a new observer.
inline constexpr size_t kMaxStreamedBytes = size_t{256} << 10;

// Prompts whose ids are remembered, so that a repeated one begins no second turn.
inline constexpr size_t kRememberedPrompts = 256;
// The id of a tool call: open ones are kept in memory, OpenToolCalls::kMaxOpen of each session.
inline constexpr size_t kMaxToolCallIdBytes = 1024;
// Permission requests that an agent can have open at a time, and answers that are kept for callers
// that ask again.
inline constexpr size_t kMaxOpenPermissions = 32;
inline constexpr size_t kRememberedAnswers = 64;
inline constexpr size_t kMaxPermissionOptions = 16;
// The text of a permission request; it can contain a change of a file, as can its details. All open
// requests fit into one message.
inline constexpr size_t kMaxPermissionTitleBytes = size_t{64} << 10;
inline constexpr size_t kMaxPermissionDetailsBytes = size_t{64} << 10;
// The text of a button; it can name a command.
inline constexpr size_t kMaxOptionNameBytes = size_t{1} << 10;
// Calls that wait for one answer: a runner's, and those that it abandoned silently.
inline constexpr size_t kMaxAskers = 64;

// A runner that received a message must start its turn within this time; a live one does so at
// once.
inline constexpr absl::Duration kStartTimeout = absl::Seconds(30);
// The longest delay between two messages of a queue that can be set.
inline constexpr absl::Duration kMaxQueueDelay = absl::Hours(24);

// Capacity in memory and on disk. A struct, so that tests can set smaller limits.
struct SessionLimits {
  // Their metadata stay in memory: about a kilobyte each. The limit of one client leaves room for
  // others.
  size_t sessions = 10'000;
  size_t sessions_of_client = 4'000;
  // Disk space of the logs; at the limit, nothing more is recorded. Years of an agent's work.
  int64_t log_bytes = int64_t{64} << 30;
  int64_t log_bytes_of_client = int64_t{16} << 30;
  size_t queued_messages = 100;
  // Tabs, phones and gateways that follow one session, or all sessions of one client.
  size_t observers_of_session = 64;
  // For one observer: beyond this it is cut off and must begin again. An event that is longer by
  // itself fits into an empty buffer.
  size_t observer_bytes = size_t{8} << 20;
  size_t observer_updates = 10'000;
  // For one thread: unused sessions that are kept in memory, and logs whose file is kept open.
  // There are kSessionThreads threads.
  size_t idle_sessions = 32;
  size_t open_files = 32;
  // For one thread: streaming answers, each of up to kMaxEventBytes.
  size_t agent_answers = 128;
  size_t agent_answers_of_client = 64;
  // Bytes of them that are kept until they end.
  size_t agent_text_bytes = size_t{32} << 20;
  size_t agent_text_bytes_of_client = size_t{16} << 20;
  // Calls that wait for one thread; more are refused.
  size_t waiting_calls = 10'000;
};

// A sync of a file blocks its thread for as long as the disk takes; more threads let the disk work
// on several. Measured on ext4: 16 threads sync seven times as many files a second as one.
inline constexpr int kSessionThreads = 16;

}  // namespace callslip::tracker
