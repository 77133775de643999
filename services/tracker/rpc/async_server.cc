#include "tracker/rpc/async_server.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "common/unix_socket.h"
#include "grpc/grpc.h"
#include "grpc/support/time.h"
#include "grpcpp/alarm.h"
#include "grpcpp/grpcpp.h"
#include "tracker/rpc/async_server_calls.h"
#include "tracker/rpc/async_server_streams.h"
#include "tracker/rpc/listener_sockets.h"
#include "tracker/rpc/operation_queue.h"
#include "tracker/rpc/rpc_service.h"
#include "tracker/rpc/rpc_tally.h"

namespace callslip::tracker {
namespace {

// How many calls of one method a queue can accept before the first of them is picked up.
constexpr int kAcceptsPerMethod = 16;

// What gRPC may take, once the grace is over, to cancel all calls and to close all connections.
constexpr absl::Duration kTimeToClose = absl::Milliseconds(500);

// As a span rather than a point in time, which would have to be read from the wall clock.
gpr_timespec SpanOf(absl::Duration duration) {
  return gpr_time_from_millis(absl::ToInt64Milliseconds(duration), GPR_TIMESPAN);
}

// Keeps gRPC from shutting itself down together with its last user. It would join a thread that
// polls for 10 s once a write had to wait for its peer, and all that is left then is to exit.
void KeepLibrary() {
  static const bool kept = [] {
    grpc_init();
    return true;
  }();
  (void)kept;
}

[[noreturn]] void Crash(const RpcName& rpc, const char* what) {
  std::fprintf(stderr, "%s\n", absl::StrCat(rpc.service, ".", rpc.method, " ", what).c_str());
  std::abort();
}

// Cuts the connections of a listener off if that is not called off in time.
class Cutter final : public internal::CompletionTag {
 public:
  explicit Cutter(const Address& bound) : bound_(bound) {}
  void OnCompletion(bool time_is_over) override {
    if (time_is_over) CutConnections(bound_);
  }

 private:
  const Address& bound_;
};

}  // namespace

struct AsyncServer::Parts {
  explicit Parts(Clock* clock) : tallies(clock) {}

  // Has each queue accept calls of a method.
  template <typename Call>
  void Serve(const RpcName& rpc, const internal::MessageTypes& types,
             typename Call::Handler handler, Outputs outputs);

  RpcTallies tallies;
  std::vector<std::unique_ptr<internal::RpcService>> services;
  grpc::ServerBuilder builder;
  OutputGate* gate = nullptr;
  Address bound;
  std::unique_ptr<grpc::Server> server;
  std::vector<std::shared_ptr<internal::OperationQueue>> queues;
  std::vector<std::thread> pollers;
};

template <typename Call>
void AsyncServer::Parts::Serve(const RpcName& rpc, const internal::MessageTypes& types,
                               typename Call::Handler handler, Outputs outputs) {
  const auto service = std::find_if(services.begin(), services.end(), [&rpc](const auto& each) {
    return each->name() == rpc.service;
  });
  if (service == services.end()) Crash(rpc, "is of a service that was not added");
  const google::protobuf::MethodDescriptor& descriptor = (*service)->Method(rpc.method);
  if (descriptor.input_type() != types.request->GetDescriptor() ||
      descriptor.output_type() != types.response->GetDescriptor()) {
    Crash(rpc, "has other messages");
  }
  if (descriptor.client_streaming() != Call::kRequestsStream ||
      descriptor.server_streaming() != Call::kResponsesStream) {
    Crash(rpc, "streams in another way");
  }
  RpcTally* const tally = tallies.Of(descriptor.name());
  for (const auto& queue : queues) {
    const auto method = std::make_shared<const internal::Method<Call>>(
        internal::Method<Call>{.service = service->get(),
                               .descriptor = &descriptor,
                               .types = types,
                               .queue = queue,
                               .handler = handler,
                               .tally = tally,
                               .gate = outputs == Outputs::kGated ? gate : nullptr});
    for (int i = 0; i < kAcceptsPerMethod; ++i) Call::AcceptNext(method);
  }
}

AsyncServer::AsyncServer(Clock* clock) : parts_(std::make_unique<Parts>(clock)) { KeepLibrary(); }

AsyncServer::~AsyncServer() { Stop(absl::ZeroDuration()); }

void AsyncServer::SetGate(OutputGate* gate) { parts_->gate = gate; }

void AsyncServer::AddService(absl::string_view name) {
  parts_->services.push_back(std::make_unique<internal::RpcService>(name));
  parts_->builder.RegisterService(parts_->services.back().get());
}

std::vector<RpcStatistics> AsyncServer::Statistics() { return parts_->tallies.Read(); }

void AsyncServer::Serve(const RpcName& rpc, const internal::MessageTypes& types,
                        internal::UnaryHandler handler, Outputs outputs) {
  parts_->Serve<internal::UnaryCall>(rpc, types, std::move(handler), outputs);
}

void AsyncServer::Serve(const RpcName& rpc, const internal::MessageTypes& types,
                        internal::HeldHandler handler, Outputs outputs) {
  parts_->Serve<internal::DeferredCall>(rpc, types, std::move(handler), outputs);
}

void AsyncServer::Serve(const RpcName& rpc, const internal::MessageTypes& types,
                        internal::StreamHandler handler, Outputs outputs) {
  parts_->Serve<internal::StreamCall>(rpc, types, std::move(handler), outputs);
}

void AsyncServer::Serve(const RpcName& rpc, const internal::MessageTypes& types,
                        internal::DuplexHandler handler, Outputs outputs) {
  parts_->Serve<internal::DuplexCall>(rpc, types, std::move(handler), outputs);
}

absl::StatusOr<Address> AsyncServer::Start(const Address& address, int pollers,
                                           const Keepalive& keepalive) {
  const absl::Status refused = absl::UnavailableError(
      absl::StrCat("cannot listen on ", address.ToString(), "; is it in use already?"));
  if (address.is_unix() && IsSocketInUse(address.unix_path)) return refused;
  int bound_port = 0;
  parts_->builder.AddListeningPort(address.ToString(), grpc::InsecureServerCredentials(),
                                   &bound_port);
  // Without this a second tracker would silently share the port with the first.
  parts_->builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  // Above what one command may carry; the domain's own limits then answer with a proper error.
  parts_->builder.SetMaxReceiveMessageSize(16 << 20);
  const auto set = [this](const char* name, absl::Duration value) {
    parts_->builder.AddChannelArgument(name, static_cast<int>(absl::ToInt64Milliseconds(value)));
  };
  parts_->builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  set(GRPC_ARG_KEEPALIVE_TIME_MS, keepalive.ping_after);
  set(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, keepalive.answer_within);
  set(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, keepalive.peers_ping_every);
  for (int i = 0; i < pollers; ++i) {
    parts_->queues.push_back(
        std::make_shared<internal::OperationQueue>(parts_->builder.AddCompletionQueue()));
  }
  parts_->server = parts_->builder.BuildAndStart();
  if (parts_->server == nullptr || (!address.is_unix() && bound_port == 0)) {
    // Queues that never served must still be shut down before they are destroyed.
    for (const auto& queue : parts_->queues) {
      queue->Close();
      queue->Poll();
    }
    parts_->queues.clear();
    parts_->server = nullptr;
    return refused;
  }
  for (const auto& queue : parts_->queues) {
    parts_->pollers.emplace_back([queue, gate = parts_->gate] { queue->Poll(gate); });
  }
  parts_->bound = address;
  if (!address.is_unix()) parts_->bound.port = static_cast<uint16_t>(bound_port);
  return parts_->bound;
}

void AsyncServer::Stop(absl::Duration grace) {
  if (parts_->server == nullptr) return;
  // gRPC closes no connection with a write under way, which is for ever where the peer reads
  // nothing.
  Cutter cutter(parts_->bound);
  grpc::Alarm alarm;
  internal::OperationQueue& queue = *parts_->queues.front();
  if (queue.TryBegin()) {
    alarm.Set(queue.queue(), SpanOf(grace + kTimeToClose), &cutter);
  }
  // Returns when all connections are gone. What was under way on them may not have come out of the
  // queues yet, but comes for certain now.
  parts_->server->Shutdown(SpanOf(grace));
  alarm.Cancel();
  for (const auto& each : parts_->queues) each->Close();
  for (std::thread& poller : parts_->pollers) poller.join();
  parts_->pollers.clear();
  parts_->server = nullptr;
}

}  // namespace callslip::tracker
