#include "tracker/domain/session/permission_wait.h"

#include <utility>
#include <variant>

#include "common/status_macros.h"

namespace callslip::tracker {

void PermissionWait::Begin(const PermissionRequest& request, absl::Time until, Check check) {
  sessions_->With<PermissionRequest>(
      clients_, session_id_,
      [self = shared_from_this(), request, check = std::move(check)](
          Session& session, absl::Time now) -> absl::StatusOr<PermissionRequest> {
        RETURN_IF_ERROR(check(session));
        return session.AskPermission(request, self, now);
      },
      [self = shared_from_this()](const absl::StatusOr<PermissionRequest>& asked) {
        self->OnAsked(asked);
      });
  const auto timer = sessions_->timers().At(until, [self = shared_from_this()] { self->OnTime(); });
  bool over = false;
  {
    MutexLock lock(&mutex_);
    timer_ = timer;
    over = done_ == nullptr;
  }
  if (over) sessions_->timers().Cancel(timer);
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
  // An answer that was given before this arrives before its result.
  sessions_->With<std::monostate>(
      clients_, session_id_,
      [self = shared_from_this()](Session& session, absl::Time) -> absl::StatusOr<std::monostate> {
        session.StopAsking(self.get());
        return std::monostate();
      },
      [self = shared_from_this()](const absl::StatusOr<std::monostate>&) { self->OnLooked(); });
}

void PermissionWait::OnLooked() {
  {
    MutexLock lock(&mutex_);
    has_looked_ = true;
  }
  Settle();
}

void PermissionWait::OnCallerLeft() {
  TimerThread::TimerId timer = 0;
  {
    MutexLock lock(&mutex_);
    done_ = nullptr;
    place_ = nullptr;
    timer = timer_;
  }
  sessions_->timers().Cancel(timer);
  sessions_->Leave(session_id_, [self = shared_from_this()](Session& session) {
    session.StopAsking(self.get());
  });
}

void PermissionWait::Settle() {
  Done done;
  TimerThread::TimerId timer = 0;
  absl::StatusOr<PermissionStanding> standing;
  {
    MutexLock lock(&mutex_);
    const bool ready = asked_.has_value() && (answer_.has_value() || has_looked_);
    if (!ready && error_.ok()) return;
    done = std::exchange(done_, nullptr);
    place_ = nullptr;
    timer = timer_;
    if (error_.ok()) {
      standing = PermissionStanding{*asked_, answer_};
    } else {
      standing = error_;
    }
  }
  if (done == nullptr) return;
  sessions_->timers().Cancel(timer);
  done(standing);
}

}  // namespace callslip::tracker
