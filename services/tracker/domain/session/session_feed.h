#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "common/mutex.h"
#include "tracker/domain/session/permissions.h"
#include "tracker/domain/session/queue_delivery.h"
#include "tracker/domain/session/session_event.h"
#include "tracker/domain/session/session_limits.h"
#include "tracker/domain/session/session_metadata.h"

namespace callslip::tracker {

struct QueueStatus {
  size_t length = 0;
  bool enabled = true;
  absl::Duration delay;
  QueueSettings settings;  // The settings that this session overrides.
  std::string sending_id;  // Empty if no message is being sent.
  std::optional<QueuePause> pause;
  std::optional<absl::Time> send_at;  // The end of the delay.
};

// A piece of an answer that streams in; not stored.
struct StreamedText {
  int64_t iteration = 0;
  int64_t offset = 0;  // Bytes of the answer before it.
  std::string text;
  friend bool operator==(const StreamedText&, const StreamedText&) = default;
};

// Everything of a session except its events, at one moment.
struct SessionSnapshot {
  SessionMetadata metadata;
  QueueStatus queue;
  std::optional<Turn> turn;
  std::vector<PermissionRequest> permissions;
  bool has_runner = false;
  // For observers, while an answer streams in: up to kMaxStreamedBytes of its end.
  std::optional<StreamedText> text = {};
};

enum class QueueAction {
  kAdded,
  kRemoved,  // Deleted, popped, skipped or, before kSent, delivered.
  kCleared,
  kMoved,
  kEdited,
  kSending,
  kSent,
  kReturned,  // Was being sent, and waits again.
  kPaused,
  kResumed,
  kConfigured,
};

struct QueueChange {
  QueueAction action = QueueAction::kAdded;
  std::string message_id;  // Empty for a change of the whole queue.
  size_t queue_length = 0;
  std::string pause_reason;  // For kPaused.
};

struct TurnChange {
  std::string turn_id;
  std::string queue_id;  // Of the message that began it.
  // Nullopt if the turn has begun.
  std::optional<TurnOutcome> outcome;
};

struct PermissionChange {
  PermissionRequest request;
  std::optional<PermissionAnswer> answer;  // Nullopt if it has been asked.
};

// Nothing follows it. OK: the playback is over. Otherwise the reason: too_slow, unknown_session,
// storage_failed, draining; after all but unknown_session, subscribe again.
struct FeedEnd {
  absl::Status status;
};

struct SessionUpdate {
  // The newest event of the session when this happened: orders notices among the events.
  int64_t max_seq = 0;
  std::variant<SessionSnapshot, EventPtr, QueueChange, TurnChange, PermissionChange,
               SessionMetadata, AgentState, StreamedText, FeedEnd>
      what;
};

// Updates of a session that one observer has not read yet: first a snapshot, then every event after
// the seq that it named, in order and without a gap, along with notices of changes meanwhile; then
// new updates. Events from before the subscription are read from the log at the observer's pace.
// Live updates wait here; an observer that leaves too many unread is cut off, and delays no other.
//
// Created by the reader; held by it and by its session. Thread-safe.
class SessionFeed {
 public:
  virtual ~SessionFeed() = default;

  // Called when an update waits and none waited before, without any lock held, on the session's
  // thread. Must not block.
  virtual void OnReady() = 0;

  // Returns up to `max_updates` and about `max_bytes` of events, oldest first, at least one waiting
  // update; empty if none waits.
  std::vector<SessionUpdate> Take(size_t max_updates, size_t max_bytes);

 private:
  friend class Session;

  // `refill` asks the session for more of the log.
  void Begin(const SessionLimits& limits, std::function<void()> refill);
  // Ends the feed if it holds too much. Updates from the log never cause that: they fit into the
  // room, or are one event.
  void Push(SessionUpdate update, bool from_log = false);
  void End(absl::Status status);
  // While it is behind, a reader that has room for more asks for it.
  void SetBehind(bool behind);
  // How much can be read from the log for it; nothing if the buffer is half full or the feed is
  // over.
  struct Room {
    size_t bytes = 0;
    size_t updates = 0;
  };
  Room RoomForLog();
  bool over();

  struct Waiting {
    SessionUpdate update;
    size_t bytes;
  };

  Room RoomLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void EndLocked(absl::Status status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Mutex mutex_;
  std::deque<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t max_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t max_updates_ ABSL_GUARDED_BY(mutex_) = 0;
  bool over_ ABSL_GUARDED_BY(mutex_) = false;
  bool behind_ ABSL_GUARDED_BY(mutex_) = false;
  bool refill_asked_ ABSL_GUARDED_BY(mutex_) = false;
  std::function<void()> refill_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace callslip::tracker
