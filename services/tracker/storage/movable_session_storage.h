#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/mutex.h"
#include "tracker/domain/session/session_storage.h"
#include "tracker/storage/event_json.h"

namespace callslip::tracker {

// Receives one session in its stored form, which is the same text in every storage. Not
// thread-safe: use on one thread at a time. After an error, discard it and what it has received.
class SessionSink {
 public:
  virtual ~SessionSink() = default;
  // The next line of its log, without the newline.
  virtual absl::Status AddLine(const EventHead& head, absl::string_view line) = 0;
  virtual absl::Status AddImage(const Image& image) = 0;
  // Completes the session with its metadata and its queue; empty if it has none. Durable on return.
  virtual absl::Status Finish(absl::string_view metadata, absl::string_view queue) = 0;
};

// What session storages have in common: the creation of sessions, and moving them.
class MovableSessionStorage : public SessionStorage {
 public:
  absl::StatusOr<LoadedSession> Create(const SessionMetadata& metadata) final;

  // Copies a session to `to`. Loads it first, which repairs what a crash has left. SessionNotFound,
  // StorageFailed, and errors of `to`.
  virtual absl::Status Copy(const std::string& id, SessionSink& to) = 0;
  // Receives a session that does not exist yet. `this` must outlive the result.
  virtual absl::StatusOr<std::unique_ptr<SessionSink>> Put(const std::string& id) = 0;

 protected:
  // What List() tells of a session that can't be read. Logs the damage.
  static SessionMetadata Damaged(const std::string& id, const std::optional<SessionMetadata>& known,
                                 absl::string_view damage);

  virtual absl::StatusOr<bool> Exists(const std::string& id) = 0;
  // Creates a session, with its session_start. SessionExists. After any other error it can exist,
  // or appear later.
  virtual absl::Status Make(SessionMetadata metadata) = 0;
  // Ensures that a session whose Make() failed does not exist and will not appear.
  virtual absl::Status Unmake(const SessionMetadata& metadata) = 0;

 private:
  bool IsHalfMade(const std::string& id);
  void SetHalfMade(const std::string& id, bool is_half_made);

  Mutex mutex_;
  // Sessions for which it is unknown whether they were created, or will be.
  std::set<std::string> half_made_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace callslip::tracker
