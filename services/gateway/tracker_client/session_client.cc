#include "gateway/tracker_client/session_client.h"

#include <algorithm>
#include <utility>

#include "callslip/tracker/v1/queue_service.grpc.pb.h"
#include "callslip/tracker/v1/runner_service.grpc.pb.h"
#include "callslip/tracker/v1/session_service.grpc.pb.h"
#include "gateway/timeouts.h"
#include "rpc_client/channel.h"
#include "rpc_client/stub_calls.h"

namespace callslip::gateway {
namespace {

using SessionStub = v1::SessionService::Stub;
using QueueStub = v1::QueueService::Stub;
using RunnerStub = v1::RunnerService::Stub;

// How long the tracker waits for a runner.
constexpr absl::Duration kControlWait = absl::Seconds(8);

class GrpcSessionClient final : public SessionClient, private StubCalls {
 public:
  GrpcSessionClient(const std::vector<Address>& addresses, std::shared_ptr<CallQueue> calls,
                    boost::asio::any_io_executor executor, const std::optional<TlsFiles>& tls)
      : StubCalls(std::move(calls), std::move(executor)),
        channel_(ConnectChannel(addresses, tls)),
        session_(v1::SessionService::NewStub(channel_)),
        queue_(v1::QueueService::NewStub(channel_)),
        runner_(v1::RunnerService::NewStub(channel_)) {}

  ~GrpcSessionClient() override { queue().Stop(); }

  Result<v1::Session> Call(v1::CreateSessionRequest request) override {
    return Unary(session_.get(), &SessionStub::PrepareAsyncCreateSession, std::move(request));
  }
  Result<v1::Session> Call(v1::GetSessionRequest request) override {
    return Unary(session_.get(), &SessionStub::PrepareAsyncGetSession, std::move(request),
                 OnCancel::kEndCall);
  }
  Result<v1::ListSessionsResponse> Call(v1::ListSessionsRequest request) override {
    return Unary(session_.get(), &SessionStub::PrepareAsyncListSessions, std::move(request),
                 OnCancel::kEndCall);
  }
  Result<v1::Session> Call(v1::UpdateSessionRequest request) override {
    return Unary(session_.get(), &SessionStub::PrepareAsyncUpdateSession, std::move(request));
  }
  Result<v1::Session> Call(v1::EndSessionRequest request) override {
    return Unary(session_.get(), &SessionStub::PrepareAsyncEndSession, std::move(request));
  }
  Result<v1::Session> Call(v1::ResumeSessionRequest request) override {
    return Unary(session_.get(), &SessionStub::PrepareAsyncResumeSession, std::move(request));
  }
  Result<v1::DeleteSessionResponse> Call(v1::DeleteSessionRequest request) override {
    return Unary(session_.get(), &SessionStub::PrepareAsyncDeleteSession, std::move(request));
  }
  Result<v1::AppendEventsResponse> Call(v1::AppendEventsRequest request) override {
    return Unary(session_.get(), &SessionStub::PrepareAsyncAppendEvents, std::move(request));
  }
  Result<v1::ReadEventsResponse> Call(v1::ReadEventsRequest request) override {
    return Unary(session_.get(), &SessionStub::PrepareAsyncReadEvents, std::move(request),
                 OnCancel::kEndCall);
  }
  Result<v1::Player> Call(v1::OpenPlayerRequest request) override {
    return Unary(session_.get(), &SessionStub::PrepareAsyncOpenPlayer, std::move(request));
  }
  Result<v1::MovePlayerResponse> Call(v1::MovePlayerRequest request) override {
    return Unary(session_.get(), &SessionStub::PrepareAsyncMovePlayer, std::move(request));
  }
  Result<v1::ClosePlayerResponse> Call(v1::ClosePlayerRequest request) override {
    return Unary(session_.get(), &SessionStub::PrepareAsyncClosePlayer, std::move(request));
  }
  Result<v1::AddAgentTextResponse> Call(v1::AddAgentTextRequest request) override {
    return Unary(session_.get(), &SessionStub::PrepareAsyncAddAgentText, std::move(request));
  }
  Result<v1::Permission> Call(v1::AskPermissionRequest request) override {
    const absl::Duration wait = absl::Milliseconds(request.max_wait_ms());
    return Unary(session_.get(), &SessionStub::PrepareAsyncAskPermission, std::move(request),
                 OnCancel::kEndCall, std::max(kUnaryDeadline, wait + kRpcMargin));
  }
  Result<v1::Permission> Call(v1::AnswerPermissionRequest request) override {
    return Unary(session_.get(), &SessionStub::PrepareAsyncAnswerPermission, std::move(request));
  }
  Result<v1::ListPermissionsResponse> Call(v1::ListPermissionsRequest request) override {
    return Unary(session_.get(), &SessionStub::PrepareAsyncListPermissions, std::move(request),
                 OnCancel::kEndCall);
  }
  Result<v1::ListPermissionsResponse> Call(v1::CancelPermissionsRequest request) override {
    return Unary(session_.get(), &SessionStub::PrepareAsyncCancelPermissions, std::move(request));
  }

  Result<v1::ImageRef> Call(v1::PutImageRequest request) override {
    return Unary(session_.get(), &SessionStub::PrepareAsyncPutImage, std::move(request));
  }
  Result<v1::GetImageResponse> Call(v1::GetImageRequest request) override {
    return Unary(session_.get(), &SessionStub::PrepareAsyncGetImage, std::move(request),
                 OnCancel::kEndCall);
  }

  Result<v1::QueuedMessage> Call(v1::AddMessageRequest request) override {
    return Unary(queue_.get(), &QueueStub::PrepareAsyncAddMessage, std::move(request));
  }
  Result<v1::QueuedMessage> Call(v1::GetMessageRequest request) override {
    return Unary(queue_.get(), &QueueStub::PrepareAsyncGetMessage, std::move(request),
                 OnCancel::kEndCall);
  }
  Result<v1::ListMessagesResponse> Call(v1::ListMessagesRequest request) override {
    return Unary(queue_.get(), &QueueStub::PrepareAsyncListMessages, std::move(request),
                 OnCancel::kEndCall);
  }
  Result<v1::QueuedMessage> Call(v1::EditMessageRequest request) override {
    return Unary(queue_.get(), &QueueStub::PrepareAsyncEditMessage, std::move(request));
  }
  Result<v1::ListMessagesResponse> Call(v1::MoveMessageRequest request) override {
    return Unary(queue_.get(), &QueueStub::PrepareAsyncMoveMessage, std::move(request));
  }
  Result<v1::QueuedMessage> Call(v1::PopMessageRequest request) override {
    return Unary(queue_.get(), &QueueStub::PrepareAsyncPopMessage, std::move(request));
  }
  Result<v1::DeleteMessageResponse> Call(v1::DeleteMessageRequest request) override {
    return Unary(queue_.get(), &QueueStub::PrepareAsyncDeleteMessage, std::move(request));
  }
  Result<v1::ClearMessagesResponse> Call(v1::ClearMessagesRequest request) override {
    return Unary(queue_.get(), &QueueStub::PrepareAsyncClearMessages, std::move(request));
  }
  Result<v1::QueueStatus> Call(v1::GetQueueStatusRequest request) override {
    return Unary(queue_.get(), &QueueStub::PrepareAsyncGetQueueStatus, std::move(request),
                 OnCancel::kEndCall);
  }
  Result<v1::QueueStatus> Call(v1::ConfigureQueueRequest request) override {
    return Unary(queue_.get(), &QueueStub::PrepareAsyncConfigureQueue, std::move(request));
  }
  Result<v1::QueueStatus> Call(v1::PauseQueueRequest request) override {
    return Unary(queue_.get(), &QueueStub::PrepareAsyncPauseQueue, std::move(request));
  }
  Result<v1::QueueStatus> Call(v1::ResumeQueueRequest request) override {
    return Unary(queue_.get(), &QueueStub::PrepareAsyncResumeQueue, std::move(request));
  }
  Result<v1::QueueStatus> Call(v1::StopTurnRequest request) override {
    return Unary(queue_.get(), &QueueStub::PrepareAsyncStopTurn, std::move(request));
  }
  Result<v1::StartTurnResponse> Call(v1::StartTurnRequest request) override {
    return Unary(queue_.get(), &QueueStub::PrepareAsyncStartTurn, std::move(request));
  }
  Result<v1::QueueStatus> Call(v1::FinishTurnRequest request) override {
    return Unary(queue_.get(), &QueueStub::PrepareAsyncFinishTurn, std::move(request));
  }

  Result<v1::ListRunnersResponse> Call(v1::ListRunnersRequest request) override {
    return Unary(runner_.get(), &RunnerStub::PrepareAsyncListRunners, std::move(request),
                 OnCancel::kEndCall);
  }
  Result<v1::AgentState> Call(v1::ControlAgentRequest request) override {
    return Unary(runner_.get(), &RunnerStub::PrepareAsyncControlAgent, std::move(request),
                 OnCancel::kGoOn, std::max(kUnaryDeadline, kControlWait + kRpcMargin));
  }
  Result<v1::FindSessionTokenResponse> Call(v1::FindSessionTokenRequest request) override {
    return Unary(runner_.get(), &RunnerStub::PrepareAsyncFindSessionToken, std::move(request),
                 OnCancel::kEndCall);
  }

  Stream<v1::SessionUpdate> Open(v1::WatchSessionRequest request) override {
    return Streamed(session_.get(), &SessionStub::PrepareAsyncWatchSession, std::move(request));
  }
  Stream<v1::SessionNotice> Open(v1::WatchSessionsRequest request) override {
    return Streamed(session_.get(), &SessionStub::PrepareAsyncWatchSessions, std::move(request));
  }
  Stream<v1::SessionEvent> Open(v1::PlayRequest request) override {
    return Streamed(session_.get(), &SessionStub::PrepareAsyncPlay, std::move(request));
  }
  Stream<v1::ReceivedMessage> Open(v1::ReceiveMessagesRequest request) override {
    return Streamed(queue_.get(), &QueueStub::PrepareAsyncReceiveMessages, std::move(request));
  }

  void EndCalls() override { queue().EndWaits(); }

 private:
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<SessionStub> session_;
  const std::unique_ptr<QueueStub> queue_;
  const std::unique_ptr<RunnerStub> runner_;
};

}  // namespace

std::unique_ptr<SessionClient> ConnectToSessions(const std::vector<Address>& addresses,
                                                 std::shared_ptr<CallQueue> calls,
                                                 boost::asio::any_io_executor executor,
                                                 const std::optional<TlsFiles>& tls) {
  return std::make_unique<GrpcSessionClient>(addresses, std::move(calls), std::move(executor), tls);
}

}  // namespace callslip::gateway
