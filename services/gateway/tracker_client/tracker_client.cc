#include "gateway/tracker_client/tracker_client.h"

#include <thread>
#include <utility>

#include "callslip/tracker/v1/command_service.grpc.pb.h"
#include "gateway/timeouts.h"
#include "gateway/tracker_client/async_call.h"

namespace callslip::gateway {
namespace {

using Stub = v1::CommandService::Stub;

std::shared_ptr<grpc::Channel> ConnectChannel(const Address& address) {
  grpc::ChannelArguments arguments;
  // The largest result with everything around it.
  arguments.SetMaxReceiveMessageSize(32 << 20);
  // A tracker that comes back is found within a quarter of a second, and one that stays away is
  // asked once a second.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 250);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  return grpc::CreateCustomChannel(address.ToString(), grpc::InsecureChannelCredentials(),
                                   arguments);
}

absl::Duration DurationOf(const google::protobuf::Duration& duration) {
  return absl::Seconds(duration.seconds()) + absl::Nanoseconds(duration.nanos());
}

class GrpcTrackerClient final : public TrackerClient {
 public:
  explicit GrpcTrackerClient(const Address& address)
      : stub_(v1::CommandService::NewStub(ConnectChannel(address))), poller_([this] {
          void* tag = nullptr;
          bool ok = false;
          while (queue_.Next(&tag, &ok)) static_cast<ClientTag*>(tag)->OnCompletion(ok);
        }) {}

  ~GrpcTrackerClient() override {
    // No operation may be started on a queue that is shutting down.
    calls_.EndAll();
    calls_.AwaitCompletion();
    queue_.Shutdown();
    poller_.join();
  }

  Result<v1::RegisterCommandResponse> Register(v1::RegisterCommandRequest request) override {
    return Unary(&Stub::PrepareAsyncRegisterCommand, std::move(request), kUnaryDeadline,
                 OnCancel::kGoOn);
  }
  Result<v1::ListCommandsResponse> List(v1::ListCommandsRequest request,
                                        absl::Duration deadline) override {
    return Unary(&Stub::PrepareAsyncListCommands, std::move(request), deadline);
  }
  Result<v1::LeaseCommandsResponse> Lease(v1::LeaseCommandsRequest request) override {
    const absl::Duration deadline =
        std::max(kUnaryDeadline, DurationOf(request.max_wait()) + kRpcMargin);
    return Unary(&Stub::PrepareAsyncLeaseCommands, std::move(request), deadline);
  }
  Result<v1::AcknowledgeCommandResponse> Acknowledge(
      v1::AcknowledgeCommandRequest request) override {
    return Unary(&Stub::PrepareAsyncAcknowledgeCommand, std::move(request), kUnaryDeadline,
                 OnCancel::kGoOn);
  }
  Result<v1::CompleteCommandResponse> Complete(v1::CompleteCommandRequest request) override {
    return Unary(&Stub::PrepareAsyncCompleteCommand, std::move(request), kUnaryDeadline,
                 OnCancel::kGoOn);
  }

  Result<v1::Command> WaitForEnd(std::string client_id, std::string command_id,
                                 absl::Duration max_wait) override {
    if (max_wait == absl::ZeroDuration()) {
      co_return co_await Get(std::move(client_id), std::move(command_id));
    }
    v1::WaitForCommandRequest request;
    request.set_client_id(std::move(client_id));
    request.set_command_id(std::move(command_id));
    const int64_t nanos = absl::ToInt64Nanoseconds(max_wait);
    request.mutable_max_wait()->set_seconds(nanos / 1'000'000'000);
    request.mutable_max_wait()->set_nanos(static_cast<int32_t>(nanos % 1'000'000'000));
    // Named rather than written into the co_await: g++ 12 destroys the captures of such a lambda
    // twice.
    auto prepare = [this, request = std::move(request)](grpc::ClientContext* context) {
      return stub_->PrepareAsyncWaitForCommand(context, request, &queue_);
    };
    auto last = co_await Await<LastOfStreamCall, v1::WaitForCommandResponse>(
        &calls_, std::max(kUnaryDeadline, max_wait + kRpcMargin), OnCancel::kEndCall,
        std::move(prepare));
    if (!last.ok()) co_return std::move(last).status();
    co_return std::move(*last->mutable_command());
  }

  void EndCalls() override { calls_.EndAll(); }

 private:
  Result<v1::Command> Get(std::string client_id, std::string command_id) {
    v1::GetCommandRequest request;
    request.set_client_id(std::move(client_id));
    request.set_command_id(std::move(command_id));
    auto response =
        co_await Unary(&Stub::PrepareAsyncGetCommand, std::move(request), kUnaryDeadline);
    if (!response.ok()) co_return std::move(response).status();
    co_return std::move(*response->mutable_command());
  }

  template <typename Request, typename Response>
  Result<Response> Unary(std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> (
                             Stub::*prepare)(grpc::ClientContext*, const Request&,
                                             grpc::CompletionQueue*),
                         Request request, absl::Duration deadline,
                         OnCancel on_cancel = OnCancel::kEndCall) {
    return Await<UnaryClientCall, Response>(
        &calls_, deadline, on_cancel,
        [this, prepare, request = std::move(request)](grpc::ClientContext* context) {
          return ((*stub_).*prepare)(context, request, &queue_);
        });
  }

  const std::unique_ptr<Stub> stub_;
  CallsUnderWay calls_;
  grpc::CompletionQueue queue_;
  std::thread poller_;
};

}  // namespace

std::unique_ptr<TrackerClient> ConnectToTracker(const Address& address) {
  return std::make_unique<GrpcTrackerClient>(address);
}

}  // namespace callslip::gateway
