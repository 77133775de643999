#include "tracker/domain/session/session_feed.h"

#include "tracker/domain/session/session_errors.h"

namespace callslip::tracker {
namespace {

// Size of a notice in the buffer.
constexpr size_t kNoticeBytes = 256;

size_t BytesOf(const SessionUpdate& update) {
  const auto* event = std::get_if<EventPtr>(&update.what);
  if (event != nullptr) return kNoticeBytes + (*event)->bytes;
  if (const auto* text = std::get_if<StreamedText>(&update.what)) {
    return kNoticeBytes + text->text.size();
  }
  if (const auto* snapshot = std::get_if<SessionSnapshot>(&update.what)) {
    return kNoticeBytes + (snapshot->text.has_value() ? snapshot->text->text.size() : 0);
  }
  const auto* agent = std::get_if<AgentState>(&update.what);
  return kNoticeBytes + (agent == nullptr ? 0 : agent->details.size());
}

}  // namespace

std::vector<SessionUpdate> SessionFeed::Take(size_t max_updates, size_t max_bytes) {
  std::vector<SessionUpdate> taken;
  std::function<void()> refill;
  {
    MutexLock lock(&mutex_);
    size_t bytes = 0;
    while (!waiting_.empty() && taken.size() < max_updates) {
      bytes += waiting_.front().bytes;
      if (bytes > max_bytes && !taken.empty()) break;
      bytes_ -= waiting_.front().bytes;
      taken.push_back(std::move(waiting_.front().update));
      waiting_.pop_front();
    }
    if (behind_ && !refill_asked_ && RoomLocked().bytes > 0) {
      refill_asked_ = true;
      refill = refill_;
    }
  }
  if (refill) refill();
  return taken;
}

void SessionFeed::Begin(const SessionLimits& limits, std::function<void()> refill) {
  MutexLock lock(&mutex_);
  max_bytes_ = limits.observer_bytes;
  max_updates_ = limits.observer_updates;
  refill_ = std::move(refill);
}

void SessionFeed::Push(SessionUpdate update, bool from_log) {
  bool was_empty = false;
  {
    MutexLock lock(&mutex_);
    if (over_) return;
    was_empty = waiting_.empty();
    const size_t bytes = BytesOf(update);
    const bool fits = bytes_ + bytes <= max_bytes_ && waiting_.size() < max_updates_;
    if (fits || was_empty || from_log) {
      waiting_.push_back({std::move(update), bytes});
      bytes_ += bytes;
    } else {
      EndLocked(ObserverTooSlow());
    }
  }
  if (was_empty) OnReady();
}

void SessionFeed::End(absl::Status status) {
  bool was_empty = false;
  {
    MutexLock lock(&mutex_);
    if (over_) return;
    was_empty = waiting_.empty();
    EndLocked(std::move(status));
  }
  if (was_empty) OnReady();
}

void SessionFeed::SetBehind(bool behind) {
  std::function<void()> refill;
  {
    MutexLock lock(&mutex_);
    if (over_) return;
    behind_ = behind;
    // A reader that has taken everything meanwhile does not ask again by itself.
    refill_asked_ = behind && waiting_.empty();
    if (refill_asked_) refill = refill_;
  }
  if (refill) refill();
}

SessionFeed::Room SessionFeed::RoomForLog() {
  MutexLock lock(&mutex_);
  return RoomLocked();
}

bool SessionFeed::over() {
  MutexLock lock(&mutex_);
  return over_;
}

SessionFeed::Room SessionFeed::RoomLocked() const {
  const size_t bytes = max_bytes_ / 2;
  const size_t updates = max_updates_ / 2;
  if (over_ || bytes_ >= bytes || waiting_.size() >= updates) return {};
  return {bytes - bytes_, updates - waiting_.size()};
}

void SessionFeed::EndLocked(absl::Status status) {
  waiting_.push_back({{.what = FeedEnd{std::move(status)}}, 0});
  over_ = true;
  behind_ = false;
  refill_ = nullptr;
}

}  // namespace callslip::tracker
