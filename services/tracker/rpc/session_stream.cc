#include "tracker/rpc/session_stream.h"

#include <algorithm>

#include "tracker/rpc/session_convert.h"

namespace callslip::tracker {

bool WatchSessionStream::TakeExtra(v1::SessionUpdate& message) {
  if (!catch_up_to_.has_value() || seen_ < *catch_up_to_) return false;
  message.mutable_caught_up()->set_max_seq(*catch_up_to_);
  catch_up_to_.reset();
  return true;
}

bool WatchSessionStream::FillIn(const SessionUpdate& update, v1::SessionUpdate& message) {
  if (const auto* snapshot = std::get_if<SessionSnapshot>(&update.what)) {
    catch_up_to_ = snapshot->metadata.max_seq;
  } else if (const auto* event = std::get_if<EventPtr>(&update.what)) {
    seen_ = (*event)->seq;
  }
  Fill(update, message);
  return true;
}

void WatchSessionsStream::Begin() {
  begun_ = true;
  stream_.Wake();
}

std::optional<Outgoing<v1::SessionNotice>> WatchSessionsStream::Next() {
  if (!begun_) return std::nullopt;
  Outgoing<v1::SessionNotice> next;
  if (!std::exchange(started_, true)) {
    next.message.set_action("started");
    return next;
  }
  const absl::StatusOr<NoticePtr> notice = Take();
  if (!notice.ok()) stream_.Finish(notice.status());
  if (!notice.ok() || *notice == nullptr) return std::nullopt;
  Fill(**notice, next.message);
  return next;
}

bool PlayStream::FillIn(const SessionUpdate& update, v1::SessionEvent& message) {
  const auto* event = std::get_if<EventPtr>(&update.what);
  if (event == nullptr) return false;
  if (!progress_(**event)) {
    End(absl::OkStatus());
    return false;
  }
  Fill(**event, message);
  return true;
}

void ReceiveStream::OnMessage(const std::string& turn_id, const QueuedMessage& message) {
  {
    MutexLock lock(&mutex_);
    if (skipped_.erase(turn_id) > 0) return;
  }
  v1::ReceivedMessage received;
  received.set_turn_id(turn_id);
  Fill(message, *received.mutable_message());
  Put(std::move(received));
}

void ReceiveStream::OnStop(const std::string& turn_id) {
  v1::ReceivedMessage stop;
  stop.set_turn_id(turn_id);
  stop.set_stop(true);
  Put(std::move(stop));
}

void ReceiveStream::Skip(const std::string& turn_id) {
  MutexLock lock(&mutex_);
  skipped_.insert(turn_id);
}

void ReceiveStream::Put(v1::ReceivedMessage message) {
  {
    MutexLock lock(&mutex_);
    // Repeated stops of the same turn add nothing.
    const bool known = std::any_of(waiting_.begin(), waiting_.end(), [&](const auto& other) {
      return other.turn_id() == message.turn_id() && other.stop() == message.stop();
    });
    if (known) return;
    waiting_.push_back(std::move(message));
  }
  stream_.Wake();
}

std::optional<Outgoing<v1::ReceivedMessage>> ReceiveStream::Next() {
  MutexLock lock(&mutex_);
  if (waiting_.empty()) return std::nullopt;
  Outgoing<v1::ReceivedMessage> next{std::move(waiting_.front()), nullptr};
  waiting_.pop_front();
  return next;
}

}  // namespace callslip::tracker
