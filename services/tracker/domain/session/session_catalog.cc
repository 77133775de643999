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

// Bytes that count in the share of its owner.
int64_t BytesOf(const SessionMetadata& session) { return session.log_bytes + session.image_bytes; }

}  // namespace

absl::Status SessionCatalog::Reserve(const std::string& id, const std::string& owner) {
  MutexLock lock(&mutex_);
  return ReserveLocked(id, owner);
}

absl::StatusOr<int> SessionCatalog::ReserveChild(const std::string& id, const std::string& owner,
                                                 const std::string& parent_id) {
  MutexLock lock(&mutex_);
  const auto parent = sessions_.find(parent_id);
  if (parent == sessions_.end()) return SessionNotFound(parent_id);
  if (parent->second.state != SessionState::kActive) return SessionEnded(parent_id);
  const int depth = parent->second.depth + 1;
  if (depth > kMaxSessionDepth) return TooDeep(parent_id);
  const auto children = children_.find(parent_id);
  if (children != children_.end() && children->second.size() >= kMaxActiveChildren) {
    return TooManyChildren(kMaxActiveChildren);
  }
  RETURN_IF_ERROR(ReserveLocked(id, owner));
  reserved_[id].parent_id = parent_id;
  children_[parent_id].insert(id);
  return depth;
}

absl::Status SessionCatalog::ReserveLocked(const std::string& id, const std::string& owner) {
  // Children that have outlived their parent would become children of the new session.
  if (sessions_.contains(id) || reserved_.contains(id) || children_.contains(id)) {
    return SessionExists(id);
  }
  if (of_all_.sessions >= limits_.sessions) return TooManySessions(limits_.sessions, false);
  if (ShareOfLocked(owner).sessions >= limits_.sessions_of_client) {
    return TooManySessions(limits_.sessions_of_client, true);
  }
  RETURN_IF_ERROR(CheckRoomLocked(owner));
  reserved_.emplace(id, Reserved{.owner = owner});
  CountLocked(owner, 1, 0);
  return absl::OkStatus();
}

void SessionCatalog::Release(const std::string& id) {
  MutexLock lock(&mutex_);
  const auto reserved = reserved_.find(id);
  if (reserved == reserved_.end()) return;
  CountLocked(reserved->second.owner, -1, 0);
  CountChildLocked({.session_id = id,
                    .state = SessionState::kCompleted,
                    .parent_session_id = reserved->second.parent_id},
                   false);
  reserved_.erase(reserved);
}

void SessionCatalog::CountChildLocked(const SessionMetadata& session, bool is_there) {
  if (session.parent_session_id.empty()) return;
  const auto children = children_.try_emplace(session.parent_session_id).first;
  if (is_there && session.state == SessionState::kActive) {
    children->second.insert(session.session_id);
  } else {
    children->second.erase(session.session_id);
  }
  if (children->second.empty()) children_.erase(children);
}

bool SessionCatalog::IsToEndLocked(const SessionMetadata& session) const {
  if (session.parent_session_id.empty() || session.detached || !session.damage.empty() ||
      session.state != SessionState::kActive) {
    return false;
  }
  const auto parent = sessions_.find(session.parent_session_id);
  return parent == sessions_.end() ||
         (parent->second.state != SessionState::kActive && parent->second.damage.empty());
}

std::vector<std::string> SessionCatalog::ChildrenToEnd(const std::string& parent_id) {
  std::vector<std::string> ids;
  MutexLock lock(&mutex_);
  const auto children = children_.find(parent_id);
  if (children == children_.end()) return ids;
  for (const std::string& id : children->second) {
    const auto child = sessions_.find(id);
    if (child != sessions_.end() && IsToEndLocked(child->second)) ids.push_back(id);
  }
  return ids;
}

std::vector<std::string> SessionCatalog::ChildrenToEnd() {
  std::vector<std::string> ids;
  MutexLock lock(&mutex_);
  for (const auto& [id, session] : sessions_) {
    if (IsToEndLocked(session)) ids.push_back(id);
  }
  return ids;
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
    // The number of events of a session that could not be read becomes known, but they are not new.
    if (before->second.damage.empty()) {
      appended_events_ += metadata.max_seq - before->second.max_seq;
    }
    places_.erase(PlaceOf(before->second));
    CountLocked(before->second.owner, -1, -BytesOf(before->second));
  } else if (const auto reserved = reserved_.find(metadata.session_id);
             reserved != reserved_.end()) {
    // Created now, not found at the start.
    appended_events_ += metadata.max_seq;
    CountLocked(reserved->second.owner, -1, 0);
    reserved_.erase(reserved);
  }
  CountLocked(metadata.owner, 1, BytesOf(metadata));
  CountChildLocked(metadata, true);
  places_.insert(PlaceOf(metadata));
  const std::string id = metadata.session_id;
  sessions_.insert_or_assign(id, std::move(metadata));
}

void SessionCatalog::Remove(const std::string& id) {
  MutexLock lock(&mutex_);
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  places_.erase(PlaceOf(found->second));
  CountLocked(found->second.owner, -1, -BytesOf(found->second));
  CountChildLocked(found->second, false);
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

std::vector<SessionMetadata> SessionCatalog::ChildrenThatNeedAgent(const std::string& parent_id) {
  std::vector<SessionMetadata> sessions;
  MutexLock lock(&mutex_);
  const auto children = children_.find(parent_id);
  if (children == children_.end()) return sessions;
  for (const std::string& id : children->second) {
    const auto session = sessions_.find(id);
    if (session != sessions_.end() && session->second.needs_agent) {
      sessions.push_back(session->second);
    }
  }
  return sessions;
}

std::array<int64_t, kAgentStatusCount> SessionCatalog::AgentCounts() {
  std::array<int64_t, kAgentStatusCount> counts = {};
  MutexLock lock(&mutex_);
  for (const auto& [id, session] : sessions_) {
    if (session.state != SessionState::kActive) continue;
    const bool is_run = session.agent.status != AgentStatus::kNone;
    if (!is_run && (!session.needs_agent || session.acp_server.empty())) continue;
    ++counts[static_cast<size_t>(session.agent.status)];
  }
  return counts;
}

size_t SessionCatalog::size() {
  MutexLock lock(&mutex_);
  return sessions_.size();
}

int64_t SessionCatalog::active() {
  MutexLock lock(&mutex_);
  return std::count_if(sessions_.begin(), sessions_.end(),
                       [](const auto& each) { return each.second.state == SessionState::kActive; });
}

int64_t SessionCatalog::appended_events() {
  MutexLock lock(&mutex_);
  return appended_events_;
}

SessionCatalog::Place SessionCatalog::PlaceOf(const SessionMetadata& metadata) {
  return {-absl::ToUnixNanos(metadata.created_at), metadata.session_id};
}

}  // namespace callslip::tracker
