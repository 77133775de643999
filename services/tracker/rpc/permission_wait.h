#ifndef CALLSLIP_TRACKER_RPC_PERMISSION_WAIT_H_
#define CALLSLIP_TRACKER_RPC_PERMISSION_WAIT_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "callslip/tracker/v1/session.pb.h"
#include "common/mutex.h"
#include "tracker/domain/session/permissions.h"
#include "tracker/rpc/server_stream.h"
#include "tracker/rpc/session_caller.h"
#include "tracker/timer_thread.h"

namespace callslip::tracker {

// One AskPermission call: answered when the question is, or with the open question once the call
// has waited for long enough. The question itself stays. Thread-safe.
class PermissionWait final : public LastingCall,
                             public PermissionAsker,
                             public std::enable_shared_from_this<PermissionWait> {
 public:
  using Reply = HeldReply<v1::Permission>;

  // `place` is its caller's share of the waits: kept for as long as the call lasts.
  PermissionWait(SessionCaller* sessions, const ClientScope& clients, std::string session_id,
                 std::shared_ptr<Reply> reply, std::shared_ptr<void> place)
      : sessions_(sessions),
        clients_(clients),
        session_id_(std::move(session_id)),
        reply_(std::move(reply)),
        place_(std::move(place)) {}

  // Asks, and waits until then at most.
  void Begin(const PermissionRequest& request, absl::Time until);
  // Maybe before the question is stored.
  void OnAnswer(const absl::StatusOr<PermissionAnswer>& answer) override;
  // It has waited for long enough: asks no longer, and looks how the question stands then.
  void OnTime();
  void OnCallerLeft();
  // Answers with how the question stands.
  void End(const absl::Status&) override { OnTime(); }

 private:
  // The question is stored.
  void OnAsked(const absl::StatusOr<PermissionRequest>& request);
  void OnLooked();
  // Answers the call where there is something to answer.
  void Settle();

  SessionCaller* const sessions_;
  const ClientScope clients_;
  const std::string session_id_;
  Mutex mutex_;
  std::shared_ptr<Reply> reply_ ABSL_GUARDED_BY(mutex_);  // Null once the call is over.
  std::shared_ptr<void> place_ ABSL_GUARDED_BY(mutex_);
  TimerThread::TimerId timer_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<PermissionRequest> asked_ ABSL_GUARDED_BY(mutex_);
  std::optional<PermissionAnswer> answer_ ABSL_GUARDED_BY(mutex_);
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
  bool has_looked_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_RPC_PERMISSION_WAIT_H_
