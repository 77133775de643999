#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/mutex.h"
#include "common/timer_thread.h"
#include "tracker/domain/session/permissions.h"
#include "tracker/domain/session/session_caller.h"

namespace callslip::tracker {

// State of a permission request.
struct PermissionStanding {
  PermissionRequest request;
  std::optional<PermissionAnswer> answer;  // Nullopt while it is open.
};

// One asker of a permission request: notified when it is answered, or when it has waited long
// enough. The request itself stays. Thread-safe.
class PermissionWait final : public LastingCall,
                             public PermissionAsker,
                             public std::enable_shared_from_this<PermissionWait> {
 public:
  // Called at most once, from any thread.
  using Done = std::function<void(const absl::StatusOr<PermissionStanding>&)>;

  // `place`: its caller's share of the waits, kept as long as the call lasts.
  PermissionWait(SessionCaller* sessions, const ClientScope& clients, std::string session_id,
                 Done done, std::shared_ptr<void> place)
      : sessions_(sessions),
        clients_(clients),
        session_id_(std::move(session_id)),
        done_(std::move(done)),
        place_(std::move(place)) {}

  // Asks if `check` returns OK, and waits until `until` at most.
  using Check = std::function<absl::Status(Session&)>;
  void Begin(const PermissionRequest& request, absl::Time until, Check check);
  // Can be called before the request is stored.
  void OnAnswer(const absl::StatusOr<PermissionAnswer>& answer) override;
  // It has waited long enough: stops asking, and reads the state of the request.
  void OnTime();
  // The caller must not be notified any more.
  void OnCallerLeft();
  void End(const absl::Status&) override { OnTime(); }

 private:
  // The request is stored.
  void OnAsked(const absl::StatusOr<PermissionRequest>& request);
  void OnLooked();
  // Notifies the caller if there is a result.
  void Settle();

  SessionCaller* const sessions_;
  const ClientScope clients_;
  const std::string session_id_;
  Mutex mutex_;
  Done done_ ABSL_GUARDED_BY(mutex_);  // Null after it was called.
  std::shared_ptr<void> place_ ABSL_GUARDED_BY(mutex_);
  TimerThread::TimerId timer_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<PermissionRequest> asked_ ABSL_GUARDED_BY(mutex_);
  std::optional<PermissionAnswer> answer_ ABSL_GUARDED_BY(mutex_);
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
  bool has_looked_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace callslip::tracker
