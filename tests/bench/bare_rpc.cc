#include "bench/bare_rpc.h"

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "bench/die.h"
#include "grpcpp/grpcpp.h"

namespace callslip::bench {
namespace {

using Service = v1::CommandService;

// As many as AsyncServer accepts for each method.
constexpr int kAccepts = 16;

class Tag {
 public:
  virtual ~Tag() = default;
  virtual void OnCompletion(bool ok) = 0;
};

void Poll(grpc::CompletionQueue& queue) {
  void* tag = nullptr;
  bool ok = false;
  while (queue.Next(&tag, &ok)) static_cast<Tag*>(tag)->OnCompletion(ok);
}

class ServerCall final : public Tag {
 public:
  static void AcceptNext(Service::AsyncService* service, grpc::ServerCompletionQueue* queue) {
    auto* call = new ServerCall(service, queue);
    service->RequestRegisterCommand(&call->context_, &call->request_, &call->writer_, queue, queue,
                                    call);
  }

  void OnCompletion(bool) override {
    if (answered_) {
      delete this;
      return;
    }
    AcceptNext(service_, queue_);
    answered_ = true;
    static const auto& response = *new v1::RegisterCommandResponse(SampleResponse());
    writer_.Finish(response, grpc::Status::OK, this);
  }

 private:
  ServerCall(Service::AsyncService* service, grpc::ServerCompletionQueue* queue)
      : service_(service), queue_(queue) {}

  Service::AsyncService* const service_;
  grpc::ServerCompletionQueue* const queue_;
  grpc::ServerContext context_;
  v1::RegisterCommandRequest request_;
  grpc::ServerAsyncResponseWriter<v1::RegisterCommandResponse> writer_{&context_};
  bool answered_ = false;
};

std::unique_ptr<Service::Stub> Connect(uint16_t port) {
  return Service::NewStub(
      grpc::CreateChannel("127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials()));
}

// The state of a call until it is answered.
struct Exchange {
  explicit Exchange(std::function<void()> when_done) : done(std::move(when_done)) {
    // Both clients wait for a server that is still starting, and have a deadline like every call.
    context.set_wait_for_ready(true);
    context.set_deadline(gpr_time_from_seconds(10, GPR_TIMESPAN));
  }

  void Finish() const {
    if (!status.ok()) Die("a bare call failed: " + status.error_message());
    done();
  }

  const std::function<void()> done;
  grpc::ClientContext context;
  v1::RegisterCommandRequest request = SampleRequest();
  v1::RegisterCommandResponse response;
  grpc::Status status;
};

class QueueCall final : public Tag {
 public:
  explicit QueueCall(std::function<void()> done) : exchange_(std::move(done)) {}

  void Start(Service::Stub* stub, grpc::CompletionQueue* queue) {
    reader_ = stub->AsyncRegisterCommand(&exchange_.context, exchange_.request, queue);
    reader_->Finish(&exchange_.response, &exchange_.status, static_cast<Tag*>(this));
  }

  void OnCompletion(bool) override {
    exchange_.Finish();
    delete this;
  }

 private:
  Exchange exchange_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<v1::RegisterCommandResponse>> reader_;
};

class QueueClientOf final : public RpcClient {
 public:
  QueueClientOf(uint16_t port, int queues)
      : stub_(Connect(port)), queues_(static_cast<size_t>(queues)) {
    for (grpc::CompletionQueue& queue : queues_) {
      pollers_.emplace_back([&queue] { Poll(queue); });
    }
  }
  ~QueueClientOf() override {
    for (grpc::CompletionQueue& queue : queues_) queue.Shutdown();
    for (std::thread& poller : pollers_) poller.join();
  }

  void Call(std::function<void()> done) override {
    auto* call = new QueueCall(std::move(done));
    call->Start(stub_.get(), &queues_[next_++ % queues_.size()]);
  }

 private:
  const std::unique_ptr<Service::Stub> stub_;
  std::vector<grpc::CompletionQueue> queues_;
  std::vector<std::thread> pollers_;
  std::atomic<size_t> next_ = 0;
};

int BuildAndListen(grpc::ServerBuilder& builder, grpc::Service* service,
                   std::unique_ptr<grpc::Server>& server) {
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(service);
  server = builder.BuildAndStart();
  if (server == nullptr) Die("a bare gRPC server could not listen");
  return port;
}

}  // namespace

v1::RegisterCommandRequest SampleRequest() {
  v1::RegisterCommandRequest request;
  request.set_client_id("local");
  request.set_type("click");
  request.set_params(R"({"action":"click","selector":"#submit"})");
  return request;
}

v1::RegisterCommandResponse SampleResponse() {
  v1::RegisterCommandResponse response;
  v1::Command& command = *response.mutable_command();
  command.set_command_id("corr-1700000000000-00112233445566778899aabbccddeeff");
  command.set_client_id("local");
  command.set_target("browser");
  command.set_type("click");
  command.set_command_class(v1::COMMAND_CLASS_STANDARD);
  command.set_state(v1::COMMAND_STATE_QUEUED);
  command.set_revision(1);
  command.mutable_register_time()->set_seconds(1'700'000'000);
  command.mutable_register_time()->set_nanos(123'456'789);
  return response;
}

void ServeWithQueue(const ParentLink& parent) {
  Service::AsyncService service;
  grpc::ServerBuilder builder;
  const auto queue = builder.AddCompletionQueue();
  std::unique_ptr<grpc::Server> server;
  const int port = BuildAndListen(builder, &service, server);
  for (int i = 0; i < kAccepts; ++i) ServerCall::AcceptNext(&service, queue.get());
  parent.Listening(static_cast<uint16_t>(port));
  Poll(*queue);
}

std::unique_ptr<RpcClient> QueueClient(uint16_t port, int queues) {
  return std::make_unique<QueueClientOf>(port, queues);
}

}  // namespace callslip::bench
