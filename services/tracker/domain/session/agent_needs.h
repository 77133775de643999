#pragma once

#include <string>

#include "absl/base/thread_annotations.h"
#include "common/mutex.h"
#include "tracker/domain/session/session_metadata.h"

namespace callslip::tracker {

// Is notified of sessions that need an agent. Called on the session's thread after the change is
// durable and in the catalog; must not block, and may call the session table.
class AgentNeedsListener {
 public:
  virtual ~AgentNeedsListener() = default;

  // The session now needs its agent: see SessionMetadata::needs_agent. `session` has the details of
  // its agent.
  virtual void OnNeeded(const SessionMetadata& session) = 0;
  // It no longer accepts events.
  virtual void OnEnded(const SessionMetadata& session) = 0;
  virtual void OnDeleted(const std::string& session_id) = 0;
};

// Passes the needs of sessions on to the listener, if there is one. Thread-safe.
class AgentNeeds {
 public:
  // Null: none. After this returns, the previous listener is not called any more. Must not be
  // called by a listener.
  void SetListener(AgentNeedsListener* listener) {
    MutexLock lock(&mutex_);
    listener_ = listener;
  }
  void Needed(const SessionMetadata& session) {
    MutexLock lock(&mutex_);
    if (listener_ != nullptr) listener_->OnNeeded(session);
  }
  void Ended(const SessionMetadata& session) {
    MutexLock lock(&mutex_);
    if (listener_ != nullptr) listener_->OnEnded(session);
  }
  void Deleted(const std::string& session_id) {
    MutexLock lock(&mutex_);
    if (listener_ != nullptr) listener_->OnDeleted(session_id);
  }

 private:
  Mutex mutex_;
  AgentNeedsListener* listener_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace callslip::tracker
