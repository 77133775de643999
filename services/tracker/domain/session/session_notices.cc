#include "tracker/domain/session/session_notices.h"

#include <utility>

#include "tracker/domain/errors.h"
#include "tracker/domain/session/session_errors.h"

namespace callslip::tracker {

SessionMetadata AsNoticed(const SessionMetadata& session) {
  SessionMetadata noticed;
  noticed.session_id = session.session_id;
  noticed.owner = session.owner;
  noticed.max_seq = session.max_seq;
  noticed.updated_at = session.updated_at;
  noticed.open_permissions = session.open_permissions;
  return noticed;
}

absl::StatusOr<NoticePtr> NoticeFeed::Take() {
  MutexLock lock(&mutex_);
  if (waiting_.empty()) {
    if (!end_.ok()) return end_;
    return nullptr;
  }
  NoticePtr notice = std::move(waiting_.front());
  waiting_.pop_front();
  return notice;
}

bool NoticeFeed::Push(NoticePtr notice, size_t limit) {
  bool was_empty = false;
  {
    MutexLock lock(&mutex_);
    if (!end_.ok()) return false;
    if (waiting_.size() >= limit) {
      end_ = ObserverTooSlow();
      return false;
    }
    was_empty = waiting_.empty();
    waiting_.push_back(std::move(notice));
  }
  if (was_empty) OnReady();
  return true;
}

void NoticeFeed::End(absl::Status status) {
  bool was_empty = false;
  {
    MutexLock lock(&mutex_);
    if (!end_.ok()) return;
    end_ = std::move(status);
    was_empty = waiting_.empty();
  }
  if (was_empty) OnReady();
}

SessionNotices::~SessionNotices() {
  for (const auto& [owner, feeds] : feeds_) {
    for (const auto& feed : feeds) feed->End(Draining());
  }
}

absl::Status SessionNotices::Subscribe(const ClientScope& clients,
                                       std::shared_ptr<NoticeFeed> feed) {
  MutexLock lock(&mutex_);
  Feeds& feeds = feeds_[clients.client_id()];
  if (feeds.size() >= limits_.observers_of_session) {
    return TooManyObservers(limits_.observers_of_session);
  }
  feeds.push_back(std::move(feed));
  return absl::OkStatus();
}

void SessionNotices::Unsubscribe(const ClientScope& clients, const NoticeFeed* feed) {
  MutexLock lock(&mutex_);
  const auto found = feeds_.find(clients.client_id());
  if (found == feeds_.end()) return;
  std::erase_if(found->second, [&](const auto& one) { return one.get() == feed; });
  if (found->second.empty()) feeds_.erase(found);
}

void SessionNotices::Publish(SessionNotice notice) {
  const ClientScope owner = notice.session.owner;
  const auto shared = std::make_shared<const SessionNotice>(std::move(notice));
  for (const ClientScope& clients : {owner, ClientScope::All()}) {
    for (const auto& feed : FeedsOf(clients)) {
      if (!feed->Push(shared, limits_.observer_updates)) Unsubscribe(clients, feed.get());
    }
  }
}

SessionNotices::Feeds SessionNotices::FeedsOf(const ClientScope& clients) {
  MutexLock lock(&mutex_);
  const auto found = feeds_.find(clients.client_id());
  return found == feeds_.end() ? Feeds() : found->second;
}

}  // namespace callslip::tracker
