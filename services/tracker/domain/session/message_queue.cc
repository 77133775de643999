#include "tracker/domain/session/message_queue.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/clock.h"
#include "common/random.h"
#include "common/status_macros.h"
#include "tracker/domain/errors.h"
#include "tracker/domain/session/session_errors.h"

namespace callslip::tracker {
namespace {

size_t BytesOf(const std::string& message, const std::vector<std::string>& image_ids) {
  return std::accumulate(image_ids.begin(), image_ids.end(), message.size(),
                         [](size_t sum, const std::string& id) { return sum + id.size(); });
}

absl::Status Check(const MessageRequest& request) {
  if (absl::StripAsciiWhitespace(request.message).empty() && request.image_ids.empty()) {
    return EmptyMessage();
  }
  RETURN_IF_ERROR(CheckSize("message", request.message, kMaxMessageBytes));
  if (request.image_ids.size() > kMaxImagesOfMessage) {
    return InvalidField("image_ids", absl::StrCat("has more than ", kMaxImagesOfMessage));
  }
  for (const std::string& id : request.image_ids) {
    if (id.empty() || id.size() > kMaxClientIdBytes) {
      return InvalidField(
          "image_ids", absl::StrCat("holds an id that has not 1 to ", kMaxClientIdBytes, " bytes"));
    }
  }
  RETURN_IF_ERROR(CheckClientId("client_id", request.client_id));
  return CheckClientId("prompt_id", request.prompt_id);
}

}  // namespace

std::vector<Maker> WritersOf(const std::deque<QueuedMessage>& messages) {
  std::vector<Maker> writers;
  for (const QueuedMessage& message : messages) {
    if (!message.by.has_value() || absl::c_linear_search(writers, *message.by)) continue;
    writers.push_back(*message.by);
  }
  return writers;
}

MessageQueue::MessageQueue(size_t capacity, std::deque<QueuedMessage> messages)
    : capacity_(capacity), messages_(std::move(messages)) {}

absl::StatusOr<QueuedMessage> MessageQueue::Add(MessageRequest request, absl::Time now) {
  RETURN_IF_ERROR(Check(request));
  ASSIGN_OR_RETURN(const QueuedMessage* queued, FindPrompt(request));
  if (queued != nullptr) return *queued;
  if (messages_.size() >= capacity_ ||
      Bytes() + BytesOf(request.message, request.image_ids) > kMaxQueueBytes) {
    return MessageQueueFull(messages_.size());
  }
  return messages_.emplace_back(Make(std::move(request), now));
}

absl::StatusOr<QueuedMessage> MessageQueue::AddFirst(MessageRequest request, absl::Time now) {
  RETURN_IF_ERROR(Check(request));
  ASSIGN_OR_RETURN(const QueuedMessage* queued, FindPrompt(request));
  if (queued != nullptr) {
    RETURN_IF_ERROR(Move(std::string(queued->id), 0));
    return messages_.front();
  }
  return messages_.emplace_front(Make(std::move(request), now));
}

absl::StatusOr<const QueuedMessage*> MessageQueue::FindPrompt(const MessageRequest& request) const {
  for (const QueuedMessage& queued : messages_) {
    if (request.prompt_id.empty() || queued.prompt_id != request.prompt_id) continue;
    if (queued.message != request.message || queued.image_ids != request.image_ids) {
      return PromptIdReused(request.prompt_id);
    }
    return &queued;
  }
  return nullptr;
}

QueuedMessage MessageQueue::Make(MessageRequest request, absl::Time now) const {
  return {.id = NewId(now),
          .message = std::move(request.message),
          .image_ids = std::move(request.image_ids),
          .queued_at = now,
          .client_id = std::move(request.client_id),
          .prompt_id = std::move(request.prompt_id),
          .by = std::move(request.by)};
}

absl::StatusOr<QueuedMessage> MessageQueue::Get(absl::string_view id) const {
  for (const QueuedMessage& message : messages_) {
    if (message.id == id) return message;
  }
  return MessageNotFound(id);
}

absl::StatusOr<QueuedMessage> MessageQueue::Pop() {
  const auto first = std::find_if(messages_.begin(), messages_.end(),
                                  [](const QueuedMessage& m) { return !m.sending(); });
  if (first == messages_.end()) return QueueEmpty();
  QueuedMessage popped = std::move(*first);
  messages_.erase(first);
  return popped;
}

absl::Status MessageQueue::Delete(absl::string_view id) {
  ASSIGN_OR_RETURN(const Iterator found, FindWaiting(id));
  messages_.erase(found);
  return absl::OkStatus();
}

size_t MessageQueue::Clear() {
  return std::erase_if(messages_, [](const QueuedMessage& m) { return !m.sending(); });
}

absl::Status MessageQueue::Move(absl::string_view id, int position) {
  if (position < 0) return InvalidField("position", "is negative");
  ASSIGN_OR_RETURN(const Iterator found, FindWaiting(id));
  QueuedMessage moved = std::move(*found);
  messages_.erase(found);
  const size_t first = Sending() == nullptr ? 0 : 1;
  const size_t to = std::min(first + static_cast<size_t>(position), messages_.size());
  messages_.insert(messages_.begin() + static_cast<std::ptrdiff_t>(to), std::move(moved));
  return absl::OkStatus();
}

absl::StatusOr<QueuedMessage> MessageQueue::Edit(absl::string_view id, MessageRequest request) {
  RETURN_IF_ERROR(Check(request));
  ASSIGN_OR_RETURN(const Iterator found, FindWaiting(id));
  const size_t others = Bytes() - BytesOf(found->message, found->image_ids);
  if (others + BytesOf(request.message, request.image_ids) > kMaxQueueBytes) {
    return MessageQueueFull(messages_.size());
  }
  found->message = std::move(request.message);
  found->image_ids = std::move(request.image_ids);
  return *found;
}

const QueuedMessage* MessageQueue::Sending() const {
  return !messages_.empty() && messages_.front().sending() ? &messages_.front() : nullptr;
}

const QueuedMessage& MessageQueue::MarkSending(std::string turn_id) {
  messages_.front().turn_id = std::move(turn_id);
  return messages_.front();
}

void MessageQueue::ReturnSending() { messages_.front().turn_id.clear(); }

QueuedMessage MessageQueue::TakeSending() {
  QueuedMessage taken = std::move(messages_.front());
  messages_.pop_front();
  taken.turn_id.clear();
  return taken;
}

const QueuedMessage& MessageQueue::Requeue(QueuedMessage message, absl::Time now) {
  message.id = NewId(now);
  message.turn_id.clear();
  // The failed message had its turn; this one is a new prompt.
  message.prompt_id.clear();
  return messages_.emplace_front(std::move(message));
}

absl::StatusOr<MessageQueue::Iterator> MessageQueue::FindWaiting(absl::string_view id) {
  const auto found = std::find_if(messages_.begin(), messages_.end(),
                                  [&](const QueuedMessage& m) { return m.id == id; });
  if (found == messages_.end()) return MessageNotFound(id);
  if (found->sending()) return MessageSending(id);
  return found;
}

std::string MessageQueue::NewId(absl::Time now) const {
  // The format has only 32 bits, so the few ids of one second are checked for duplicates.
  while (true) {
    std::string id = absl::StrCat("q-", absl::ToUnixSeconds(ToWallTime(now)), "-",
                                  absl::StrFormat("%08x", static_cast<uint32_t>(Random64())));
    if (!Get(id).ok()) return id;
  }
}

size_t MessageQueue::Bytes() const {
  size_t sum = 0;
  for (const QueuedMessage& message : messages_) {
    sum += BytesOf(message.message, message.image_ids);
  }
  return sum;
}

}  // namespace callslip::tracker
