#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tracker/domain/session/image.h"
#include "tracker/domain/session/message_queue.h"
#include "tracker/domain/session/open_tool_calls.h"
#include "tracker/domain/session/queue_delivery.h"
#include "tracker/domain/session/recorded_answer.h"
#include "tracker/domain/session/session_event.h"
#include "tracker/domain/session/session_metadata.h"

// Storage interface of sessions. storage/ implements it on files, postgres/ in PostgreSQL; the
// domain knows only the interface.
namespace callslip::tracker {

// Events, in order, for Player and playbacks.
class EventSource {
 public:
  virtual ~EventSource() = default;
  // Blocks on the disk. InvalidField, StorageFailed.
  virtual absl::StatusOr<EventPage> Read(const EventQuery& query) = 0;
};

// Stored data of one session. Used by one thread at a time; every call can block on the disk. After
// an error the object is unusable: what was stored is known when the session is loaded again.
class SessionRecord : public EventSource {
 public:
  // Adds events under the next seqs, all or none of them. They are readable at once and durable
  // after SyncLog(). EventTooLarge and InvalidField, after which the record stays usable;
  // StorageFailed.
  virtual absl::StatusOr<std::vector<AppendedEvent>> AppendAll(std::vector<NewEvent> events,
                                                               absl::Time now) = 0;
  virtual absl::Status SyncLog() = 0;
  // Removes the oldest events beyond the limits, except the first and the newest. Their seqs are
  // not used again. Returns the number of removed events.
  virtual absl::StatusOr<int64_t> Prune(const SessionRetention& retention) = 0;

  // Durable on return, completely or not at all.
  virtual absl::Status SaveQueue(const std::deque<QueuedMessage>& messages,
                                 const DeliveryState& delivery, absl::Time now) = 0;
  virtual absl::Status SaveMetadata(const SessionMetadata& metadata) = 0;
  // InvalidField unless `json` is a JSON object, or empty.
  virtual absl::Status CheckObject(absl::string_view field, absl::string_view json) const = 0;

  // Durable on return. TooManyImages if there are `limit` others; StorageFailed.
  virtual absl::StatusOr<ImageRef> PutImage(const std::string& data, const std::string& name,
                                            size_t limit) = 0;
  // ImageNotFound, StorageFailed. `id` must be a valid image id.
  virtual absl::StatusOr<Image> GetImage(const std::string& id) = 0;
  virtual int64_t image_bytes() const = 0;

  // The newest seq ever used.
  virtual int64_t max_seq() const = 0;
  virtual int64_t event_count() const = 0;
  virtual int64_t log_bytes() const = 0;
  // Closes files until they are needed again.
  virtual void CloseFiles() = 0;
};

// Adds a prompt to the remembered ones, the last kRememberedPrompts.
void Remember(int64_t seq, RecordedPrompt prompt, std::deque<RecordedPrompt>& prompts);

struct LoadedSession {
  // Updated from the log.
  SessionMetadata metadata;
  std::deque<QueuedMessage> messages;
  DeliveryState delivery;
  // Oldest first.
  std::deque<RecordedPrompt> prompts;
  RecordedAnswer answer;
  OpenToolCalls open_calls;
  // The last ended turn in the log; its id is empty if there is none.
  EndedTurn last_turn;
  std::unique_ptr<SessionRecord> record;
};

// All sessions. Thread-safe for different sessions.
class SessionStorage {
 public:
  virtual ~SessionStorage() = default;

  // Includes summaries of their queues. Sessions that can't be loaded have their damage.
  // StorageFailed if nothing can be listed.
  virtual absl::StatusOr<std::vector<SessionMetadata>> List() = 0;
  // Creates a session and records its session_start, durably. SessionExists; StorageFailed, after
  // which the session does not exist and can be created again.
  virtual absl::StatusOr<LoadedSession> Create(const SessionMetadata& metadata) = 0;
  // Complete, or an error, after which nothing was lost. SessionNotFound, StorageFailed.
  virtual absl::StatusOr<LoadedSession> Load(const std::string& id) = 0;
  // Durable on return. SessionNotFound, StorageFailed.
  virtual absl::Status Remove(const std::string& id) = 0;
};

}  // namespace callslip::tracker
