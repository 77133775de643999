#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tracker/domain/session/session_limits.h"
#include "tracker/domain/session/session_metadata.h"

namespace callslip::tracker {

struct MessageRequest {
  std::string message;
  std::vector<std::string> image_ids;
  std::string client_id;
  // Makes the call idempotent: while the prompt is queued, the same id returns the same message. It
  // is refused with another text or other images.
  std::string prompt_id;
  // The agent that wrote it; nullopt: a person, or another program.
  std::optional<Maker> by = {};
};

struct QueuedMessage {
  std::string id;  // q-{unix seconds}-{8 hexadecimal digits}
  std::string message;
  std::vector<std::string> image_ids;
  absl::Time queued_at;
  std::string client_id;
  std::string prompt_id;
  // The turn that the message begins, while it is being sent. Empty while it waits.
  std::string turn_id;
  std::optional<Maker> by = {};  // As in the request.

  bool sending() const { return !turn_id.empty(); }
  friend bool operator==(const QueuedMessage&, const QueuedMessage&) = default;
};

// The agents that wrote them, each once.
std::vector<Maker> WritersOf(const std::deque<QueuedMessage>& messages);

// The messages of one session, first in, first out. At most one of them, the first, is being sent.
// Owned by its session and guarded like it. Knows nothing of turns or time; QueueDelivery sends the
// messages.
class MessageQueue {
 public:
  explicit MessageQueue(size_t capacity, std::deque<QueuedMessage> messages = {});

  // InvalidField, EmptyMessage, MessageQueueFull. Returns the message that is already queued under
  // `request.prompt_id`, if there is one; PromptIdReused if its content differs, even by an edit.
  absl::StatusOr<QueuedMessage> Add(MessageRequest request, absl::Time now);
  // As above, but as the first message, and beyond the capacity: there is one such message at a
  // time. A message that is queued under the same prompt_id moves there. Must not be called while a
  // message is being sent.
  absl::StatusOr<QueuedMessage> AddFirst(MessageRequest request, absl::Time now);
  // MessageNotFound.
  absl::StatusOr<QueuedMessage> Get(absl::string_view id) const;
  // Takes the first message that waits; it counts as delivered to the caller. QueueEmpty.
  absl::StatusOr<QueuedMessage> Pop();
  // MessageNotFound, or MessageSending: exactly one of deletion and delivery wins.
  absl::Status Delete(absl::string_view id);
  // Deletes all waiting messages; returns their number.
  size_t Clear();
  // Moves a message to `position` among the waiting ones: 0 is the next one; values beyond the end
  // mean the last. MessageNotFound, MessageSending, InvalidField for a negative position.
  absl::Status Move(absl::string_view id, int position);
  // Replaces text and images. MessageNotFound, MessageSending, and errors of Add().
  absl::StatusOr<QueuedMessage> Edit(absl::string_view id, MessageRequest request);

  const std::deque<QueuedMessage>& messages() const { return messages_; }
  size_t size() const { return messages_.size(); }
  bool empty() const { return messages_.empty(); }

  // For QueueDelivery.

  // The message that is being sent, or null.
  const QueuedMessage* Sending() const;
  // Marks the first message, which must be waiting, as being sent.
  const QueuedMessage& MarkSending(std::string turn_id);
  // The message that is being sent waits again, as the first.
  void ReturnSending();
  // The message that is being sent leaves the queue.
  QueuedMessage TakeSending();
  // Puts a failed message back, as the first, under a new id.
  const QueuedMessage& Requeue(QueuedMessage message, absl::Time now);

 private:
  using Iterator = std::deque<QueuedMessage>::iterator;

  absl::StatusOr<Iterator> FindWaiting(absl::string_view id);
  // The message that is queued under the request's prompt_id; null if there is none.
  // PromptIdReused.
  absl::StatusOr<const QueuedMessage*> FindPrompt(const MessageRequest& request) const;
  QueuedMessage Make(MessageRequest request, absl::Time now) const;
  std::string NewId(absl::Time now) const;
  size_t Bytes() const;

  const size_t capacity_;
  std::deque<QueuedMessage> messages_;
};

}  // namespace callslip::tracker
