#include "runner/tracker/client_calls.h"

#include <utility>

#include "callslip/tracker/v1/queue_service.grpc.pb.h"
#include "callslip/tracker/v1/session_service.grpc.pb.h"
#include "rpc_client/channel.h"
#include "rpc_client/stub_calls.h"

namespace callslip::runner {
namespace {

using QueueStub = v1::QueueService::Stub;
using SessionStub = v1::SessionService::Stub;

class GrpcClientCalls final : public ClientCalls {
 public:
  GrpcClientCalls(const Address& address, std::shared_ptr<CallQueue> calls,
                  boost::asio::any_io_executor executor, const std::optional<TlsFiles>& tls)
      : channel_(ConnectChannel({address}, tls)),
        queues_(v1::QueueService::NewStub(channel_)),
        sessions_(v1::SessionService::NewStub(channel_)),
        calls_(std::move(calls), std::move(executor)) {}

  Result<v1::Session> Call(v1::CreateSessionRequest request) override {
    return calls_.Unary(sessions_.get(), &SessionStub::PrepareAsyncCreateSession,
                        std::move(request));
  }
  Result<v1::Session> Call(v1::EndSessionRequest request) override {
    return calls_.Unary(sessions_.get(), &SessionStub::PrepareAsyncEndSession, std::move(request));
  }
  Result<v1::QueuedMessage> Call(v1::AddMessageRequest request) override {
    return calls_.Unary(queues_.get(), &QueueStub::PrepareAsyncAddMessage, std::move(request));
  }
  Result<v1::Permission> Call(v1::AnswerPermissionRequest request) override {
    return calls_.Unary(sessions_.get(), &SessionStub::PrepareAsyncAnswerPermission,
                        std::move(request));
  }
  Result<v1::QueueStatus> Call(v1::StopTurnRequest request) override {
    return calls_.Unary(queues_.get(), &QueueStub::PrepareAsyncStopTurn, std::move(request));
  }
  std::unique_ptr<MessageStream<v1::SessionUpdate>> Open(v1::WatchSessionRequest request) override {
    return calls_.Streamed(sessions_.get(), &SessionStub::PrepareAsyncWatchSession, request);
  }

 private:
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<QueueStub> queues_;
  const std::unique_ptr<SessionStub> sessions_;
  StubCalls calls_;
};

}  // namespace

std::unique_ptr<ClientCalls> ConnectAsClient(const Address& address,
                                             std::shared_ptr<CallQueue> calls,
                                             boost::asio::any_io_executor executor,
                                             const std::optional<TlsFiles>& tls) {
  return std::make_unique<GrpcClientCalls>(address, std::move(calls), std::move(executor), tls);
}

}  // namespace callslip::runner
