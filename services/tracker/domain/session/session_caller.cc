#include "tracker/domain/session/session_caller.h"

#include "common/status_macros.h"
#include "tracker/domain/session/session_errors.h"

namespace callslip::tracker {
namespace {

// Delay before a leaving caller tries again if the storage is busy.
constexpr absl::Duration kRetryAfter = absl::Seconds(1);

}  // namespace

absl::StatusOr<SessionMetadata> SessionCaller::Get(const ClientScope& clients,
                                                   const std::string& session_id) {
  absl::StatusOr<SessionMetadata> session = table_->Get(session_id);
  if (session.ok() && !clients.Covers(session->owner)) return Unknown(*session);
  return session;
}

absl::Status SessionCaller::CheckKnown(const ClientScope& clients, const std::string& session_id) {
  const absl::StatusOr<SessionMetadata> session = table_->Get(session_id);
  if (!session.ok()) return session.status();
  const bool may_be_theirs = clients.Covers(session->owner) || session->owner == kNobody;
  return may_be_theirs ? absl::OkStatus() : Unknown(*session);
}

absl::Status SessionCaller::Unknown(const SessionMetadata& session) {
  return SessionNotFound(session.session_id);
}

absl::StatusOr<std::optional<SessionMetadata>> SessionCaller::GetActing(
    const ClientScope& clients, const std::string& by_session_id) {
  if (by_session_id.empty()) return std::nullopt;
  ASSIGN_OR_RETURN(SessionMetadata by, Get(clients, by_session_id));
  if (by.state != SessionState::kActive) return SessionEnded(by_session_id);
  return by;
}

absl::Status SessionCaller::CheckRoom(const ClientScope& clients, const std::string& session_id) {
  RETURN_IF_ERROR(CheckKnown(clients, session_id));
  return table_->CheckRoom(session_id);
}

void SessionCaller::Leave(const std::string& session_id, std::function<void(Session&)> call) {
  table_->Run(
      session_id,
      [call](Session& session, absl::Time) {
        call(session);
        return absl::OkStatus();
      },
      [this, session_id, call, under_way = BeginCall()](const absl::Status& status) {
        if (!absl::IsResourceExhausted(status)) return;
        timers_->After(kRetryAfter, [this, session_id, call] { Leave(session_id, call); });
      });
}

bool SessionCaller::Hold(const std::shared_ptr<LastingCall>& call) {
  absl::Status ended;
  {
    MutexLock lock(&mutex_);
    ended = ended_;
    if (ended.ok()) call->place_ = lasting_.Add(call);
  }
  if (!ended.ok()) call->End(ended);
  return ended.ok();
}

void SessionCaller::EndCalls(const absl::Status& status) {
  {
    MutexLock lock(&mutex_);
    ended_ = status;
  }
  for (const auto& weak : lasting_.Entries()) {
    if (const auto call = weak.lock()) call->End(status);
  }
}

std::shared_ptr<void> SessionCaller::BeginCall() {
  MutexLock lock(&mutex_);
  ++under_way_;
  return {nullptr, [this](void*) {
            MutexLock ended(&mutex_);
            if (--under_way_ == 0) idle_.NotifyAll();
          }};
}

void SessionCaller::AwaitCalls() {
  MutexLock lock(&mutex_);
  while (under_way_ > 0) idle_.Wait(&mutex_);
}

}  // namespace callslip::tracker
