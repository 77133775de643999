#include "tracker/rpc/queue_service.h"

#include <functional>
#include <utility>
#include <vector>

#include "common/status_macros.h"
#include "tracker/domain/command/command_validation.h"
#include "tracker/domain/errors.h"
#include "tracker/domain/session/agent_rights.h"
#include "tracker/domain/session/session_errors.h"
#include "tracker/domain/session/session_limits.h"
#include "tracker/rpc/session_answer.h"
#include "tracker/rpc/session_convert.h"

namespace callslip::tracker {
namespace {

v1::QueueStatus StatusOf(Session& session) {
  const SessionSnapshot snapshot = session.Snapshot();
  const absl::StatusOr<QueuedMessage> sending = session.GetMessage(snapshot.queue.sending_id);
  v1::QueueStatus status;
  Fill(snapshot, sending.ok() ? sending->turn_id : "", status);
  return status;
}

absl::Status GoOn(v1::ResumeQueueRequest::How how, Session& session, absl::Time now) {
  switch (how) {
    case v1::ResumeQueueRequest::HOW_RESUME: return session.ResumeQueue();
    case v1::ResumeQueueRequest::HOW_RETRY: return session.RetryMessage(now).status();
    case v1::ResumeQueueRequest::HOW_SKIP: return session.SkipMessage().status();
    default: return InvalidField("how", "has a value that is not an action");
  }
}

}  // namespace

// Not gated, because answers are on disk before they are sent and do not depend on the gate.
void QueueService::ServeOn(AsyncServer& server) {
  server.ServeHeld("AddMessage", this, &QueueService::Add, Outputs::kFree);
  server.ServeHeld("GetMessage", this, &QueueService::Get, Outputs::kFree);
  server.ServeHeld("ListMessages", this, &QueueService::List, Outputs::kFree);
  server.ServeHeld("EditMessage", this, &QueueService::Edit, Outputs::kFree);
  server.ServeHeld("MoveMessage", this, &QueueService::Move, Outputs::kFree);
  server.ServeHeld("PopMessage", this, &QueueService::Pop, Outputs::kFree);
  server.ServeHeld("DeleteMessage", this, &QueueService::Delete, Outputs::kFree);
  server.ServeHeld("ClearMessages", this, &QueueService::Clear, Outputs::kFree);
  server.ServeHeld("GetQueueStatus", this, &QueueService::GetStatus, Outputs::kFree);
  server.ServeHeld("ConfigureQueue", this, &QueueService::Configure, Outputs::kFree);
  server.ServeHeld("PauseQueue", this, &QueueService::Pause, Outputs::kFree);
  server.ServeHeld("ResumeQueue", this, &QueueService::Resume, Outputs::kFree);
  server.ServeHeld("StopTurn", this, &QueueService::Stop, Outputs::kFree);
  server.ServeHeld("StartTurn", this, &QueueService::Start, Outputs::kFree);
  server.ServeHeld("FinishTurn", this, &QueueService::Finish, Outputs::kFree);
  server.ServeStream("ReceiveMessages", this, &QueueService::Receive, Outputs::kFree);
}

template <typename Request>
void QueueService::AnswerStatus(const CallContext& caller, const Request& request,
                                const Reply<v1::QueueStatus>& reply,
                                std::function<absl::Status(Session&, absl::Time now)> call) {
  AnswerFrom(*sessions_, caller, request, reply,
             [call = std::move(call)](Session& session,
                                      absl::Time now) -> absl::StatusOr<v1::QueueStatus> {
               RETURN_IF_ERROR(call(session, now));
               return StatusOf(session);
             });
}

void QueueService::Add(const CallContext& caller, const v1::AddMessageRequest& request,
                       const Reply<v1::QueuedMessage>& reply) {
  const auto by = sessions_->GetActing(caller.scope, request.by_session_id());
  if (!by.ok()) return reply->Fail(by.status());
  AnswerFrom(*sessions_, caller, request, reply,
             [this, message = RequestFrom(caller, request), at_once = request.now(), by = *by](
                 Session& session, absl::Time now) mutable -> absl::StatusOr<QueuedMessage> {
               if (by.has_value()) {
                 ASSIGN_OR_RETURN(message.by, WriterOf(*by, session.Snapshot().metadata));
               }
               return at_once ? session.SendNow(message, now) : session.AddMessage(message, now);
             });
}

// The session that gets a message acts on it by its own rules.
absl::StatusOr<Maker> QueueService::WriterOf(const SessionMetadata& by, const SessionMetadata& to) {
  if (RelationTo(by, to) == Relation::kNone) return NotRelated(to.session_id);
  Maker writer = runners_->MakerOf(by);
  RETURN_IF_ERROR(runners_->CheckWrites(writer, NeedOf(to)));
  return writer;
}

void QueueService::Get(const CallContext& caller, const v1::GetMessageRequest& request,
                       const Reply<v1::QueuedMessage>& reply) {
  AnswerFrom(
      *sessions_, caller, request, reply,
      [id = request.message_id()](Session& session, absl::Time) { return session.GetMessage(id); });
}

void QueueService::List(const CallContext& caller, const v1::ListMessagesRequest& request,
                        const Reply<v1::ListMessagesResponse>& reply) {
  AnswerFrom(*sessions_, caller, request, reply,
             [](Session& session, absl::Time) -> absl::StatusOr<std::vector<QueuedMessage>> {
               return session.ListMessages();
             });
}

void QueueService::Edit(const CallContext& caller, const v1::EditMessageRequest& request,
                        const Reply<v1::QueuedMessage>& reply) {
  AnswerFrom(*sessions_, caller, request, reply,
             [id = request.message_id(), message = RequestFrom(request)](
                 Session& session, absl::Time) { return session.EditMessage(id, message); });
}

void QueueService::Move(const CallContext& caller, const v1::MoveMessageRequest& request,
                        const Reply<v1::ListMessagesResponse>& reply) {
  AnswerFrom(*sessions_, caller, request, reply,
             [id = request.message_id(), position = request.position()](
                 Session& session, absl::Time) -> absl::StatusOr<std::vector<QueuedMessage>> {
               RETURN_IF_ERROR(session.MoveMessage(id, position));
               return session.ListMessages();
             });
}

void QueueService::Pop(const CallContext& caller, const v1::PopMessageRequest& request,
                       const Reply<v1::QueuedMessage>& reply) {
  AnswerFrom(*sessions_, caller, request, reply,
             [](Session& session, absl::Time) { return session.PopMessage(); });
}

void QueueService::Delete(const CallContext& caller, const v1::DeleteMessageRequest& request,
                          const Reply<v1::DeleteMessageResponse>& reply) {
  AnswerFrom(*sessions_, caller, request, reply,
             [id = request.message_id()](Session& session,
                                         absl::Time) -> absl::StatusOr<v1::DeleteMessageResponse> {
               RETURN_IF_ERROR(session.DeleteMessage(id));
               return v1::DeleteMessageResponse();
             });
}

void QueueService::Clear(const CallContext& caller, const v1::ClearMessagesRequest& request,
                         const Reply<v1::ClearMessagesResponse>& reply) {
  AnswerFrom(*sessions_, caller, request, reply,
             [](Session& session, absl::Time) -> absl::StatusOr<v1::ClearMessagesResponse> {
               v1::ClearMessagesResponse response;
               response.set_deleted(static_cast<int32_t>(session.ClearQueue()));
               return response;
             });
}

void QueueService::GetStatus(const CallContext& caller, const v1::GetQueueStatusRequest& request,
                             const Reply<v1::QueueStatus>& reply) {
  AnswerStatus(caller, request, reply, [](Session&, absl::Time) { return absl::OkStatus(); });
}

void QueueService::Configure(const CallContext& caller, const v1::ConfigureQueueRequest& request,
                             const Reply<v1::QueueStatus>& reply) {
  const absl::StatusOr<QueueSettings> settings = SettingsFrom(request.settings());
  if (!settings.ok()) return reply->Fail(settings.status());
  AnswerStatus(caller, request, reply, [settings = *settings](Session& session, absl::Time) {
    return session.ConfigureQueue(settings);
  });
}

void QueueService::Pause(const CallContext& caller, const v1::PauseQueueRequest& request,
                         const Reply<v1::QueueStatus>& reply) {
  std::string reason = request.reason().empty() ? "paused" : request.reason();
  std::string message = request.message();
  Cut(reason, kMaxReasonBytes);
  Cut(message, kMaxReasonTextBytes);
  AnswerStatus(caller, request, reply,
               [this, reason, message, lease = request.lease()](Session& session,
                                                                absl::Time now) -> absl::Status {
                 if (lease != 0) RETURN_IF_ERROR(runners_->CheckLease(session, lease));
                 session.PauseQueue(reason, message, now);
                 return absl::OkStatus();
               });
}

void QueueService::Resume(const CallContext& caller, const v1::ResumeQueueRequest& request,
                          const Reply<v1::QueueStatus>& reply) {
  AnswerStatus(caller, request, reply, [how = request.how()](Session& session, absl::Time now) {
    return GoOn(how, session, now);
  });
}

void QueueService::Stop(const CallContext& caller, const v1::StopTurnRequest& request,
                        const Reply<v1::QueueStatus>& reply) {
  const auto by = sessions_->GetActing(caller.scope, request.by_session_id());
  if (!by.ok()) return reply->Fail(by.status());
  AnswerStatus(caller, request, reply,
               [by = *by](Session& session, absl::Time now) -> absl::Status {
                 if (by.has_value()) RETURN_IF_ERROR(CheckControls(*by, session.metadata()));
                 return session.StopTurn(now);
               });
}

void QueueService::Receive(const CallContext& caller, const v1::ReceiveMessagesRequest& request,
                           const std::shared_ptr<ReceiveStream::Stream>& stream) {
  const std::string session_id = request.session_id();
  const auto receiver = std::make_shared<ReceiveStream>(stream);
  stream->SetSource([receiver] { return receiver->Next(); });
  if (!sessions_->Hold(receiver)) return;
  sessions_->With<std::monostate>(
      caller.scope, session_id,
      [this, session_id, receiver, turn_id = request.turn_id(), lease = request.lease()](
          Session& session, absl::Time now) -> absl::StatusOr<std::monostate> {
        RETURN_IF_ERROR(runners_->CheckLease(session, lease));
        RETURN_IF_ERROR(session.Attach(receiver, turn_id, now));
        MutexLock lock(&mutex_);
        absl::erase_if(receivers_, [](const auto& other) { return other.second.expired(); });
        receivers_[session_id] = receiver;
        return std::monostate();
      },
      [receiver](const absl::StatusOr<std::monostate>& attached) {
        if (!attached.ok()) receiver->End(attached.status());
      });
  stream->OnCallerLeft([this, session_id, receiver] {
    receiver->OnCallerLeft();
    sessions_->Leave(session_id, [this, session_id, receiver](Session& session) {
      session.Detach(receiver.get());
      MutexLock lock(&mutex_);
      const auto present = receivers_.find(session_id);
      if (present != receivers_.end() && present->second.lock() == receiver) {
        receivers_.erase(present);
      }
    });
  });
}

absl::StatusOr<std::string> QueueService::BeginTurn(Session& session, const MessageRequest& prompt,
                                                    absl::Time now) {
  ASSIGN_OR_RETURN(const QueuedMessage sent, session.SendNow(prompt, now));
  std::shared_ptr<ReceiveStream> receiver;
  {
    MutexLock lock(&mutex_);
    receiver = receivers_[session.metadata().session_id].lock();
  }
  // The receiver gets all messages once they are stored, but its runner already has this one.
  if (receiver != nullptr) receiver->Skip(sent.turn_id);
  return sent.turn_id;
}

void QueueService::Start(const CallContext& caller, const v1::StartTurnRequest& request,
                         const Reply<v1::StartTurnResponse>& reply) {
  AnswerFrom(*sessions_, caller, request, reply,
             [this, request, client_id = caller.client_id](
                 Session& session, absl::Time now) -> absl::StatusOr<v1::StartTurnResponse> {
               RETURN_IF_ERROR(runners_->CheckLease(session, request.lease()));
               std::string turn_id = request.turn_id();
               if (turn_id.empty()) {
                 const MessageRequest prompt = RequestFrom(request.prompt(), client_id);
                 ASSIGN_OR_RETURN(turn_id, BeginTurn(session, prompt, now));
               }
               ASSIGN_OR_RETURN(const Turn turn, session.StartTurn(turn_id, now));
               v1::StartTurnResponse started;
               started.set_turn_id(turn_id);
               started.set_seq(session.SeqOfPrompt(turn.prompt.id));
               started.set_next_iteration(session.recorded_answer().iteration() + 1);
               return started;
             });
}

void QueueService::Finish(const CallContext& caller, const v1::FinishTurnRequest& request,
                          const Reply<v1::QueueStatus>& reply) {
  const absl::StatusOr<TurnOutcome> outcome = OutcomeFrom(request);
  if (!outcome.ok()) return reply->Fail(outcome.status());
  AnswerStatus(caller, request, reply,
               [this, turn_id = request.turn_id(), outcome = *outcome, lease = request.lease()](
                   Session& session, absl::Time now) -> absl::Status {
                 RETURN_IF_ERROR(runners_->CheckLease(session, lease));
                 return session.FinishTurn(turn_id, outcome, now);
               });
}

}  // namespace callslip::tracker
