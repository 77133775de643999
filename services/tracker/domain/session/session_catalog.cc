#include "tracker/domain/session/session_catalog.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/status_macros.h"
#include "tracker/domain/errors.h"
#include "tracker/domain/session/session_errors.h"
#include "tracker/domain/session/session_limits.h"

namespace callslip::tracker {
namespace {

bool Matches(const SessionMetadata& session, const SessionFilter& filter) {
  return (filter.with_archived || !session.archived) &&
         (!filter.state.has_value() || *filter.state == session.state) &&
         filter.clients.Covers(session.owner);
}

}  // namespace

absl::Status SessionCatalog::Reserve(const std::string& id, const std::string& owner) {
  MutexLock lock(&mutex_);
  if (sessions_.contains(id) || reserved_.contains(id)) return SessionExists(id);
  if (of_all_.sessions >= limits_.sessions) return TooManySessions(limits_.sessions, false);
  if (ShareOfLocked(owner).sessions >= limits_.sessions_of_client) {
    return TooManySessions(limits_.sessions_of_client, true);
  }
  RETURN_IF_ERROR(CheckRoomLocked(owner));
  reserved_.emplace(id, owner);
  CountLocked(owner, 1, 0);
  return absl::OkStatus();
}

void SessionCatalog::Release(const std::string& id) {
  MutexLock lock(&mutex_);
  const auto reserved = reserved_.find(id);
  if (reserved == reserved_.end()) return;
  CountLocked(reserved->second, -1, 0);
  reserved_.erase(reserved);
}

absl::Status SessionCatalog::CheckRoom(const std::string& id) {
  MutexLock lock(&mutex_);
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return SessionNotFound(id);
  return CheckRoomLocked(found->second.owner);
}

absl::Status SessionCatalog::CheckRoomLocked(const std::string& owner) const {
  if (of_all_.log_bytes >= limits_.log_bytes) return TooManyLogBytes(limits_.log_bytes, false);
  if (ShareOfLocked(owner).log_bytes < limits_.log_bytes_of_client) return absl::OkStatus();
  return TooManyLogBytes(limits_.log_bytes_of_client, true);
}

SessionCatalog::Share SessionCatalog::ShareOfLocked(const std::string& owner) const {
  const auto found = of_owner_.find(owner);
  return found == of_owner_.end() ? Share() : found->second;
}

void SessionCatalog::CountLocked(const std::string& owner, int sessions, int64_t log_bytes) {
  const auto share = of_owner_.try_emplace(owner).first;
  for (Share* each : {&of_all_, &share->second}) {
    each->sessions += static_cast<size_t>(sessions);
    each->log_bytes += log_bytes;
  }
  if (share->second.sessions == 0) of_owner_.erase(share);
}

void SessionCatalog::Set(SessionMetadata metadata) {
  metadata.agent.details = SharedText();
  MutexLock lock(&mutex_);
  const auto before = sessions_.find(metadata.session_id);
  if (before != sessions_.end()) {
    // How many events one has that could not be read is news, but they are none.
    if (before->second.damage.empty()) {
      appended_events_ += metadata.max_seq - before->second.max_seq;
    }
    places_.erase(PlaceOf(before->second));
    CountLocked(before->second.owner, -1, -before->second.log_bytes);
  } else if (const auto reserved = reserved_.find(metadata.session_id);
             reserved != reserved_.end()) {
    // Made now, rather than found at the start.
    appended_events_ += metadata.max_seq;
    CountLocked(reserved->second, -1, 0);
    reserved_.erase(reserved);
  }
  CountLocked(metadata.owner, 1, metadata.log_bytes);
  places_.insert(PlaceOf(metadata));
  const std::string id = metadata.session_id;
  sessions_.insert_or_assign(id, std::move(metadata));
}

void SessionCatalog::Remove(const std::string& id) {
  MutexLock lock(&mutex_);
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  places_.erase(PlaceOf(found->second));
  CountLocked(found->second.owner, -1, -found->second.log_bytes);
  sessions_.erase(found);
}

absl::StatusOr<SessionMetadata> SessionCatalog::Get(const std::string& id) {
  MutexLock lock(&mutex_);
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return SessionNotFound(id);
  return found->second;
}

absl::StatusOr<SessionPage> SessionCatalog::List(const SessionFilter& filter, int page_size,
                                                 const std::string& page_token) {
  if (page_size < 0) return InvalidField("page_size", "is negative");
  if (page_size == 0) page_size = kDefaultSessionPage;
  const auto limit = static_cast<size_t>(std::min(page_size, kMaxSessionPage));
  Place after;
  if (!page_token.empty()) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(page_token, absl::MaxSplits('.', 1));
    if (!absl::SimpleAtoi(parts.first, &after.first)) return InvalidPageToken();
    after.second = parts.second;
  }
  SessionPage page;
  MutexLock lock(&mutex_);
  auto place = page_token.empty() ? places_.begin() : places_.upper_bound(after);
  for (; place != places_.end(); ++place) {
    const auto found = sessions_.find(place->second);
    if (found == sessions_.end() || !Matches(found->second, filter)) continue;
    if (page.sessions.size() == limit) {
      const Place last = PlaceOf(page.sessions.back());
      page.next_page_token = absl::StrCat(last.first, ".", last.second);
      break;
    }
    page.sessions.push_back(found->second);
  }
  return page;
}

std::vector<SessionMetadata> SessionCatalog::ThatNeedAgent() {
  std::vector<SessionMetadata> sessions;
  MutexLock lock(&mutex_);
  for (const auto& [time, id] : places_) {
    const SessionMetadata& session = sessions_.at(id);
    if (session.needs_agent) sessions.push_back(session);
  }
  return sessions;
}

size_t SessionCatalog::size() {
  MutexLock lock(&mutex_);
  return sessions_.size();
}

int64_t SessionCatalog::appended_events() {
  MutexLock lock(&mutex_);
  return appended_events_;
}

SessionCatalog::Place SessionCatalog::PlaceOf(const SessionMetadata& metadata) {
  return {-absl::ToUnixNanos(metadata.created_at), metadata.session_id};
}

}  // namespace callslip::tracker
