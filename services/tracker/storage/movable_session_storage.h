#ifndef CALLSLIP_TRACKER_STORAGE_MOVABLE_SESSION_STORAGE_H_
#define CALLSLIP_TRACKER_STORAGE_MOVABLE_SESSION_STORAGE_H_

#include <memory>
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

// Takes one session as it is kept, which is the same texts everywhere. Used by one thread at a
// time; after an error it is of no more use, and neither is what it has taken.
class SessionSink {
 public:
  virtual ~SessionSink() = default;
  // The next line of its log, without its newline.
  virtual absl::Status AddLine(const EventHead& head, absl::string_view line) = 0;
  virtual absl::Status AddImage(const Image& image) = 0;
  // That was all, but for its metadata and its queue; empty where it has none. Durable on return.
  virtual absl::Status Finish(absl::string_view metadata, absl::string_view queue) = 0;
};

// What storages of sessions have in common: how a session is made, and that one can be moved.
class MovableSessionStorage : public SessionStorage {
 public:
  absl::StatusOr<LoadedSession> Create(const SessionMetadata& metadata) final;

  // Gives a session to `to`, after loading it, so that what a crash has left of it is put right.
  // SessionNotFound, StorageFailed, and errors of `to`.
  virtual absl::Status Copy(const std::string& id, SessionSink& to) = 0;
  // Takes a session that is not there yet. `this` must outlive what is returned.
  virtual absl::StatusOr<std::unique_ptr<SessionSink>> Put(const std::string& id) = 0;

 protected:
  virtual absl::StatusOr<bool> Exists(const std::string& id) = 0;
  // Makes a session, with its session_start. SessionExists; after any other error it may be there,
  // or come later.
  virtual absl::Status Make(SessionMetadata metadata) = 0;
  // Sees to it that there is nothing of it, nor will be: of one that Make() has failed to make.
  virtual absl::Status Unmake(const SessionMetadata& metadata) = 0;

 private:
  bool IsHalfMade(const std::string& id);
  void SetHalfMade(const std::string& id, bool is_half_made);

  Mutex mutex_;
  // Sessions of which it is not known whether they were made, or will be.
  std::set<std::string> half_made_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_STORAGE_MOVABLE_SESSION_STORAGE_H_
