#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "callslip/tracker/v1/queue_service.pb.h"
#include "common/mutex.h"
#include "tracker/domain/session/session_caller.h"
#include "tracker/rpc/runner_service.h"
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

  QueueService(SessionCaller* sessions, RunnerService* runners)
      : sessions_(sessions), runners_(runners) {}

  // Call after the server was started with the service kName added to it.
  void ServeOn(AsyncServer& server);

 private:
  HeldMethod<v1::AddMessageRequest, v1::QueuedMessage> Add;
  HeldMethod<v1::GetMessageRequest, v1::QueuedMessage> Get;
  HeldMethod<v1::ListMessagesRequest, v1::ListMessagesResponse> List;
  HeldMethod<v1::EditMessageRequest, v1::QueuedMessage> Edit;
  HeldMethod<v1::MoveMessageRequest, v1::ListMessagesResponse> Move;
  HeldMethod<v1::PopMessageRequest, v1::QueuedMessage> Pop;
  HeldMethod<v1::DeleteMessageRequest, v1::DeleteMessageResponse> Delete;
  HeldMethod<v1::ClearMessagesRequest, v1::ClearMessagesResponse> Clear;

  HeldMethod<v1::GetQueueStatusRequest, v1::QueueStatus> GetStatus;
  HeldMethod<v1::ConfigureQueueRequest, v1::QueueStatus> Configure;
  HeldMethod<v1::PauseQueueRequest, v1::QueueStatus> Pause;
  HeldMethod<v1::ResumeQueueRequest, v1::QueueStatus> Resume;
  HeldMethod<v1::StopTurnRequest, v1::QueueStatus> Stop;

  // The agent of `by`, if it may write to `to`. NotRelated, and see RunnerService::CheckWrites().
  absl::StatusOr<Maker> WriterOf(const SessionMetadata& by, const SessionMetadata& to);
  StreamMethod<v1::ReceiveMessagesRequest, v1::ReceivedMessage> Receive;
  HeldMethod<v1::StartTurnRequest, v1::StartTurnResponse> Start;
  HeldMethod<v1::FinishTurnRequest, v1::QueueStatus> Finish;

  // Answers with the queue's status after `call`.
  template <typename Request>
  void AnswerStatus(const CallContext& caller, const Request& request,
                    const Reply<v1::QueueStatus>& reply,
                    std::function<absl::Status(Session&, absl::Time now)> call);

  // Begins a turn with a prompt that only its runner knows.
  absl::StatusOr<std::string> BeginTurn(Session& session, const MessageRequest& prompt,
                                        absl::Time now);

  SessionCaller* const sessions_;
  RunnerService* const runners_;
  Mutex mutex_;
  // The sessions' runners, by session id.
  absl::flat_hash_map<std::string, std::weak_ptr<ReceiveStream>> receivers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace callslip::tracker
