#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "callslip/tracker/v1/queue_service.pb.h"
#include "common/mutex.h"
#include "tracker/domain/runner/session_runners.h"
#include "tracker/domain/session/session_caller.h"
#include "tracker/rpc/session_stream.h"
#include "tracker/server/async_server.h"
#include "tracker/server/call_context.h"
#include "tracker/server/server_stream.h"

namespace callslip::tracker {

// QueueService over a SessionTable: converts, calls the session, converts back. The contract is in
// queue_service.proto. Must outlive the server that it serves on and the calls of `sessions`.
class QueueService {
 public:
  static constexpr char kName[] = "callslip.tracker.v1.QueueService";

  QueueService(SessionCaller* sessions, SessionRunners* runners)
      : sessions_(sessions), runners_(runners) {}

  // Call before the server is started.
  static void AddTo(AsyncServer& server) { server.AddService(kName); }
  // Call after the server was started.
  void ServeOn(AsyncServer& server);

 private:
  template <typename Response>
  using Reply = std::shared_ptr<DeferredReply<Response>>;

  void Add(const CallContext& caller, const v1::AddMessageRequest& request,
           const Reply<v1::QueuedMessage>& reply);
  void Get(const CallContext& caller, const v1::GetMessageRequest& request,
           const Reply<v1::QueuedMessage>& reply);
  void List(const CallContext& caller, const v1::ListMessagesRequest& request,
            const Reply<v1::ListMessagesResponse>& reply);
  void Edit(const CallContext& caller, const v1::EditMessageRequest& request,
            const Reply<v1::QueuedMessage>& reply);
  void Move(const CallContext& caller, const v1::MoveMessageRequest& request,
            const Reply<v1::ListMessagesResponse>& reply);
  void Pop(const CallContext& caller, const v1::PopMessageRequest& request,
           const Reply<v1::QueuedMessage>& reply);
  void Delete(const CallContext& caller, const v1::DeleteMessageRequest& request,
              const Reply<v1::DeleteMessageResponse>& reply);
  void Clear(const CallContext& caller, const v1::ClearMessagesRequest& request,
             const Reply<v1::ClearMessagesResponse>& reply);

  void GetStatus(const CallContext& caller, const v1::GetQueueStatusRequest& request,
                 const Reply<v1::QueueStatus>& reply);
  void Configure(const CallContext& caller, const v1::ConfigureQueueRequest& request,
                 const Reply<v1::QueueStatus>& reply);
  void Pause(const CallContext& caller, const v1::PauseQueueRequest& request,
             const Reply<v1::QueueStatus>& reply);
  void Resume(const CallContext& caller, const v1::ResumeQueueRequest& request,
              const Reply<v1::QueueStatus>& reply);
  void Stop(const CallContext& caller, const v1::StopTurnRequest& request,
            const Reply<v1::QueueStatus>& reply);

  absl::Status CheckLease(Session& session, int64_t lease);
  absl::Status CheckWrites(const SessionMetadata& by, const SessionMetadata& to);
  void Receive(const CallContext& caller, const v1::ReceiveMessagesRequest& request,
               const std::shared_ptr<ReceiveStream::Stream>& stream);
  void Start(const CallContext& caller, const v1::StartTurnRequest& request,
             const Reply<v1::StartTurnResponse>& reply);
  void Finish(const CallContext& caller, const v1::FinishTurnRequest& request,
              const Reply<v1::QueueStatus>& reply);

  using MessageCall = SessionCaller::Call<QueuedMessage>;
  // Answers with the message that `call` returns.
  template <typename Request>
  void AnswerMessage(const CallContext& caller, const Request& request,
                     const Reply<v1::QueuedMessage>& reply, MessageCall call);
  // Answers with the queue's status after `call`.
  template <typename Request>
  void AnswerStatus(const CallContext& caller, const Request& request,
                    const Reply<v1::QueueStatus>& reply,
                    std::function<absl::Status(Session&, absl::Time now)> call);

  // Begins a turn with a prompt that only its runner knows.
  absl::StatusOr<std::string> BeginTurn(Session& session, const MessageRequest& prompt,
                                        absl::Time now);

  SessionCaller* const sessions_;
  SessionRunners* const runners_;
  Mutex mutex_;
  // The sessions' runners, by session id.
  absl::flat_hash_map<std::string, std::weak_ptr<ReceiveStream>> receivers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace callslip::tracker
