#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/mutex.h"
#include "tracker/domain/client_scope.h"
#include "tracker/domain/session/session_feed.h"
#include "tracker/domain/session/session_limits.h"
#include "tracker/domain/session/session_metadata.h"

namespace callslip::tracker {

enum class SessionAction {
  kCreated,
  kUpdated,  // Renamed, or moved to or from the archive.
  kEnded,
  kResumed,
  kDeleted,
  kQueue,
  kAgent,  // Its status.
  kTurn,
  kPermission,
  kActivity,  // Events were recorded.
};

// A change of a session, for followers of all sessions of its owner.
struct SessionNotice {
  SessionAction action = SessionAction::kCreated;
  // Its state after the change. If `change` has the rest, and for kDeleted and kActivity, at most
  // the members of AsNoticed().
  SessionMetadata session;
  // For kQueue, kTurn and kPermission; the latter without options and details, with a truncated
  // title.
  std::variant<std::monostate, QueueChange, TurnChange, PermissionChange> change = {};
};

// Id, owner, newest event, its time, and the number of open permission requests.
SessionMetadata AsNoticed(const SessionMetadata& session);

using NoticePtr = std::shared_ptr<const SessionNotice>;

// Notices that one reader has not read yet, oldest first. A reader that leaves too many unread is
// cut off, and delays no other.
//
// Created by the reader; held by it and by SessionNotices. Thread-safe.
class NoticeFeed {
 public:
  virtual ~NoticeFeed() = default;

  // Called when a notice waits and none waited before, without any lock held, on a session's
  // thread. Must not block.
  virtual void OnReady() = 0;

  // Null if none waits. An error is the end: ObserverTooSlow, Draining.
  absl::StatusOr<NoticePtr> Take();

 private:
  friend class SessionNotices;

  // Returns false if the feed is over, or is ended by this.
  bool Push(NoticePtr notice, size_t limit);
  void End(absl::Status status);

  Mutex mutex_;
  std::deque<NoticePtr> waiting_ ABSL_GUARDED_BY(mutex_);
  absl::Status end_ ABSL_GUARDED_BY(mutex_);  // Not OK: nothing follows the waiting ones.
};

// Followers of the sessions of each owner. Thread-safe.
class SessionNotices {
 public:
  explicit SessionNotices(const SessionLimits& limits) : limits_(limits) {}
  // Ends all feeds with Draining.
  ~SessionNotices();

  // From now on the feed gets each notice of the sessions of these owners; those of one session in
  // order. TooManyObservers.
  absl::Status Subscribe(const ClientScope& clients, std::shared_ptr<NoticeFeed> feed);
  // Harmless if it is not subscribed.
  void Unsubscribe(const ClientScope& clients, const NoticeFeed* feed);
  // Call when the change is durable and visible to all.
  void Publish(SessionNotice notice);

 private:
  using Feeds = std::vector<std::shared_ptr<NoticeFeed>>;

  Feeds FeedsOf(const ClientScope& clients);

  const SessionLimits limits_;
  Mutex mutex_;
  absl::flat_hash_map<std::string, Feeds> feeds_ ABSL_GUARDED_BY(mutex_);  // By owner; "": all.
};

}  // namespace callslip::tracker
