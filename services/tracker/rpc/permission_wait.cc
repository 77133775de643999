#include "tracker/rpc/permission_wait.h"

#include <utility>

#include "tracker/rpc/session_convert.h"

namespace callslip::tracker {

void PermissionWait::Begin(absl::Time until) {
  const auto timer = timers_->At(until, [self = shared_from_this()] { self->OnTime(); });
  bool over = false;
  {
    MutexLock lock(&mutex_);
    timer_ = timer;
    over = reply_ == nullptr;
  }
  if (over) timers_->Cancel(timer);
}

void PermissionWait::OnAsked(const absl::StatusOr<PermissionRequest>& request) {
  {
    MutexLock lock(&mutex_);
    if (request.ok()) {
      asked_ = *request;
    } else {
      error_ = request.status();
    }
  }
  Settle();
}

void PermissionWait::OnAnswer(const absl::StatusOr<PermissionAnswer>& answer) {
  {
    MutexLock lock(&mutex_);
    if (answer.ok()) {
      answer_ = *answer;
    } else {
      error_ = answer.status();
    }
  }
  Settle();
}

void PermissionWait::OnTime() {
  {
    MutexLock lock(&mutex_);
    is_time_ = true;
  }
  Settle();
}

void PermissionWait::OnCallerLeft() {
  TimerThread::TimerId timer = 0;
  {
    MutexLock lock(&mutex_);
    reply_ = nullptr;
    timer = timer_;
  }
  timers_->Cancel(timer);
}

void PermissionWait::Settle() {
  std::shared_ptr<Reply> reply;
  TimerThread::TimerId timer = 0;
  v1::Permission permission;
  absl::Status error;
  {
    MutexLock lock(&mutex_);
    const bool ready = asked_.has_value() && (answer_.has_value() || is_time_);
    if (!ready && error_.ok()) return;
    reply = std::exchange(reply_, nullptr);
    timer = timer_;
    error = error_;
    if (error.ok()) Fill(*asked_, permission);
    if (error.ok() && answer_.has_value()) Fill(*answer_, permission);
  }
  if (reply == nullptr) return;
  timers_->Cancel(timer);
  if (error.ok()) {
    reply->Finish(std::move(permission), [] {});
  } else {
    reply->Fail(error);
  }
}

}  // namespace callslip::tracker
