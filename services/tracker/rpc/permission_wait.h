#ifndef CALLSLIP_TRACKER_RPC_PERMISSION_WAIT_H_
#define CALLSLIP_TRACKER_RPC_PERMISSION_WAIT_H_

#include <memory>
#include <optional>

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
                             public std::enable_shared_from_this<PermissionWait> {
 public:
  using Reply = HeldReply<v1::Permission>;

  PermissionWait(TimerThread* timers, std::shared_ptr<Reply> reply)
      : timers_(timers), reply_(std::move(reply)) {}

  // The call waits until then at most.
  void Begin(absl::Time until);
  // The question is stored.
  void OnAsked(const absl::StatusOr<PermissionRequest>& request);
  // Maybe before OnAsked().
  void OnAnswer(const absl::StatusOr<PermissionAnswer>& answer);
  void OnTime();
  void OnCallerLeft();
  // Answers with how the question stands.
  void End(const absl::Status&) override { OnTime(); }

 private:
  // Answers the call where there is something to answer.
  void Settle();

  TimerThread* const timers_;
  Mutex mutex_;
  std::shared_ptr<Reply> reply_ ABSL_GUARDED_BY(mutex_);  // Null once the call is over.
  TimerThread::TimerId timer_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<PermissionRequest> asked_ ABSL_GUARDED_BY(mutex_);
  std::optional<PermissionAnswer> answer_ ABSL_GUARDED_BY(mutex_);
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
  bool is_time_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_RPC_PERMISSION_WAIT_H_
