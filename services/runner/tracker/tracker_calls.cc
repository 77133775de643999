#include "runner/tracker/tracker_calls.h"

#include <utility>

#include "callslip/tracker/v1/queue_service.grpc.pb.h"
#include "callslip/tracker/v1/runner_service.grpc.pb.h"
#include "callslip/tracker/v1/session_service.grpc.pb.h"
#include "rpc_client/channel.h"
#include "rpc_client/stub_calls.h"

namespace callslip::runner {
namespace {

using QueueStub = v1::QueueService::Stub;
using RunnerStub = v1::RunnerService::Stub;
using SessionStub = v1::SessionService::Stub;

// What the deadline of a call adds to the wait that it asks for.
constexpr absl::Duration kMargin = absl::Seconds(1);
// An image has up to 10 MiB, and comes over any network.
constexpr absl::Duration kImageDeadline = absl::Seconds(30);
// What is appended is not given up while a slow disk may still be at it: whoever looked for it then
// would not find it, and append it once more.
constexpr absl::Duration kAppendDeadline = absl::Seconds(30);

class GrpcTrackerCalls final : public TrackerCalls {
 public:
  GrpcTrackerCalls(const Address& address, std::shared_ptr<CallQueue> calls,
                   boost::asio::any_io_executor executor, const std::optional<TlsFiles>& tls)
      : channel_(ConnectChannel({address}, tls)),
        queues_(v1::QueueService::NewStub(channel_)),
        runners_(v1::RunnerService::NewStub(channel_)),
        sessions_(v1::SessionService::NewStub(channel_)),
        calls_(std::move(calls), std::move(executor)) {}

  ~GrpcTrackerCalls() override { calls_.queue().Stop(); }

  Result<v1::AgentState> Call(v1::SetAgentStateRequest request) override {
    return calls_.Unary(runners_.get(), &RunnerStub::PrepareAsyncSetAgentState, std::move(request));
  }
  Result<v1::AnswerControlResponse> Call(v1::AnswerControlRequest request) override {
    return calls_.Unary(runners_.get(), &RunnerStub::PrepareAsyncAnswerControl, std::move(request));
  }
  Result<v1::ReleaseSessionResponse> Call(v1::ReleaseSessionRequest request) override {
    return calls_.Unary(runners_.get(), &RunnerStub::PrepareAsyncReleaseSession,
                        std::move(request));
  }
  Result<v1::IssueSessionTokenResponse> Call(v1::IssueSessionTokenRequest request) override {
    return calls_.Unary(runners_.get(), &RunnerStub::PrepareAsyncIssueSessionToken,
                        std::move(request));
  }
  Result<v1::StartTurnResponse> Call(v1::StartTurnRequest request) override {
    return calls_.Unary(queues_.get(), &QueueStub::PrepareAsyncStartTurn, std::move(request));
  }
  Result<v1::QueueStatus> Call(v1::FinishTurnRequest request) override {
    return calls_.Unary(queues_.get(), &QueueStub::PrepareAsyncFinishTurn, std::move(request));
  }
  Result<v1::AppendEventsResponse> Call(v1::AppendEventsRequest request) override {
    return calls_.Unary(sessions_.get(), &SessionStub::PrepareAsyncAppendEvents, std::move(request),
                        OnCancel::kGoOn, kAppendDeadline);
  }
  Result<v1::ReadEventsResponse> Call(v1::ReadEventsRequest request) override {
    return calls_.Unary(sessions_.get(), &SessionStub::PrepareAsyncReadEvents, std::move(request));
  }
  Result<v1::GetImageResponse> Call(v1::GetImageRequest request) override {
    return calls_.Unary(sessions_.get(), &SessionStub::PrepareAsyncGetImage, std::move(request),
                        OnCancel::kEndCall, kImageDeadline);
  }
  Result<v1::Permission> Call(v1::AskPermissionRequest request) override {
    const absl::Duration wait = absl::Milliseconds(request.max_wait_ms());
    return calls_.Unary(sessions_.get(), &SessionStub::PrepareAsyncAskPermission,
                        std::move(request), OnCancel::kEndCall, wait + kMargin);
  }
  Result<v1::ListPermissionsResponse> Call(v1::CancelPermissionsRequest request) override {
    return calls_.Unary(sessions_.get(), &SessionStub::PrepareAsyncCancelPermissions,
                        std::move(request));
  }

  Stream<v1::Assignment> Open(v1::ServeRequest request) override {
    return calls_.Streamed(runners_.get(), &RunnerStub::PrepareAsyncServe, request);
  }
  Stream<v1::ReceivedMessage> Open(v1::ReceiveMessagesRequest request) override {
    return calls_.Streamed(queues_.get(), &QueueStub::PrepareAsyncReceiveMessages, request);
  }

 private:
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<QueueStub> queues_;
  const std::unique_ptr<RunnerStub> runners_;
  const std::unique_ptr<SessionStub> sessions_;
  StubCalls calls_;
};

}  // namespace

std::unique_ptr<TrackerCalls> ConnectToTracker(const Address& address,
                                               std::shared_ptr<CallQueue> calls,
                                               boost::asio::any_io_executor executor,
                                               const std::optional<TlsFiles>& tls) {
  return std::make_unique<GrpcTrackerCalls>(address, std::move(calls), std::move(executor), tls);
}

}  // namespace callslip::runner
