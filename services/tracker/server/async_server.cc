#include "tracker/server/async_server.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <thread>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "common/rpc_credentials.h"
#include "common/status_macros.h"
#include "common/timer_thread.h"
#include "common/unix_socket.h"
#include "grpc/grpc.h"
#include "grpc/support/time.h"
#include "grpcpp/grpcpp.h"
#include "tracker/server/async_server_calls.h"
#include "tracker/server/async_server_streams.h"
#include "tracker/server/awaited_requests.h"
#include "tracker/server/listener_sockets.h"
#include "tracker/server/operation_queue.h"
#include "tracker/server/rpc_access.h"
#include "tracker/server/rpc_metrics.h"
#include "tracker/server/rpc_service.h"

namespace callslip::tracker {
namespace {

// The number of calls of one method that a queue can accept before the first of them is handled.
constexpr int kAcceptsPerMethod = 16;

// The time for peers without calls to answer gRPC's GOAWAY: many round trips in a local network.
// Callers wait as long for the next tracker.
constexpr absl::Duration kTimeForGoaway = absl::Milliseconds(50);
// The time for gRPC to close all connections once their calls are cancelled.
constexpr absl::Duration kTimeToClose = absl::Milliseconds(200);
// How often a stopping server checks whether its calls are over.
constexpr absl::Duration kLookEvery = absl::Milliseconds(10);

// A time span rather than a point in time, which would depend on the wall clock.
gpr_timespec SpanOf(absl::Duration duration) {
  return gpr_time_from_millis(absl::ToInt64Milliseconds(duration), GPR_TIMESPAN);
}

// Keeps gRPC from shutting itself down together with its last user. If a write ever had to wait for
// its peer, it would join a thread that polls for 10 s, delaying the process's exit.
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

absl::Status CannotListen(const Address& address) {
  return absl::UnavailableError(
      absl::StrCat("cannot listen on ", address.ToString(), "; is it in use already?"));
}

}  // namespace

// Enough for people who explore the services with grpcurl.
constexpr int kReflectionThreads = 8;

struct AsyncServer::Parts {
  explicit Parts(Clock* clock) : metrics_by_method(clock) {
    if (clock != nullptr) timers.emplace(clock);
  }

  void Set(const Keepalive& keepalive);
  // Cleans up when the server could not start.
  void Abandon();
  // Whether no operation is in progress: only while the server shuts down.
  bool IsIdle() const {
    return absl::c_all_of(queues, [](const Queue& each) { return each.operations->IsIdle(); });
  }
  // Makes each queue accept calls of a method.
  template <typename Call>
  void Serve(const RpcName& rpc, const internal::MessageTypes& types,
             typename Call::Handler handler, Outputs outputs);

  RpcMetricsByMethod metrics_by_method;
  std::vector<std::unique_ptr<internal::RpcService>> services;
  grpc::ServerBuilder builder;
  OutputGate* gate = nullptr;
  OutputGate* free_gate = nullptr;
  Authenticator* authenticator = nullptr;
  internal::LiveCalls live;
  std::optional<int64_t> call_memory;
  std::vector<Address> bound;
  std::optional<TimerThread> timers;  // For requests that do not arrive.
  std::unique_ptr<grpc::Server> server;
  struct Queue {
    std::shared_ptr<internal::OperationQueue> operations;
    std::shared_ptr<internal::AwaitedRequests> awaited;
  };
  std::vector<Queue> queues;
  std::vector<std::thread> pollers;
};

void AsyncServer::Parts::Set(const Keepalive& keepalive) {
  // Without this a second tracker would silently share the port with the first.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  // More than one command can carry, so that the domain's own limits answer with a proper error.
  builder.SetMaxReceiveMessageSize(16 << 20);
  // For gRPC's own service, reflection, whose streams use a thread each; ours use none of these
  // threads. Beyond the limit gRPC answers RESOURCE_EXHAUSTED.
  grpc::ResourceQuota quota("tracker");
  quota.SetMaxThreads(kReflectionThreads);
  if (call_memory.has_value()) quota.Resize(static_cast<size_t>(*call_memory));
  builder.SetResourceQuota(quota);
  const auto set = [this](const char* name, absl::Duration value) {
    builder.AddChannelArgument(name, static_cast<int>(absl::ToInt64Milliseconds(value)));
  };
  // The streams of a connection have no limit: each call held by a gateway is one, and above a
  // limit its other calls would wait for these. A message that waits is limited by AwaitedRequests.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  set(GRPC_ARG_KEEPALIVE_TIME_MS, keepalive.ping_after);
  set(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, keepalive.answer_within);
  set(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, keepalive.peers_ping_every);
  set(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, keepalive.begun_within);
}

void AsyncServer::Parts::Abandon() {
  if (server != nullptr) server->Shutdown(gpr_now(GPR_CLOCK_REALTIME));
  // Queues that never served must still be shut down before they are destroyed.
  for (const auto& queue : queues) {
    queue.operations->Close();
    queue.operations->Poll();
  }
  queues.clear();
  server = nullptr;
}

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
  const std::optional<RpcAccess> access = AccessOf(descriptor);
  if (authenticator != nullptr && !access.has_value()) Crash(rpc, "has no option `access`");
  RpcMetrics* const metrics = metrics_by_method.Of(descriptor.name());
  for (const auto& queue : queues) {
    const auto method = std::make_shared<const internal::Method<Call>>(
        internal::Method<Call>{.service = service->get(),
                               .descriptor = &descriptor,
                               .types = types,
                               .shape = &internal::RequestShape::Of(*descriptor.input_type()),
                               .queue = queue.operations,
                               .awaited = queue.awaited,
                               .handler = handler,
                               .metrics = metrics,
                               .live = &live,
                               .authenticator = authenticator,
                               .access = access,
                               .gate = outputs == Outputs::kGated ? gate : free_gate});
    // Each accepted call waits for its request; see AwaitedRequests.
    const int accepts = method->IsOpenToAll() ? 1 : kAcceptsPerMethod;
    for (int i = 0; i < accepts; ++i) Call::AcceptNext(method);
  }
}

AsyncServer::AsyncServer(Clock* clock) : parts_(std::make_unique<Parts>(clock)) { KeepLibrary(); }

AsyncServer::~AsyncServer() { Stop(absl::ZeroDuration()); }

void AsyncServer::SetGate(OutputGate* gate) { parts_->gate = gate; }

void AsyncServer::SetFreeGate(OutputGate* gate) { parts_->free_gate = gate; }

void AsyncServer::SetAuthenticator(Authenticator* authenticator) {
  parts_->authenticator = authenticator;
}

void AsyncServer::SetCallMemory(int64_t bytes) { parts_->call_memory = bytes; }

void AsyncServer::CancelRevokedCalls() { parts_->live.CancelRevokedCalls(); }

void AsyncServer::AddService(absl::string_view name) {
  parts_->services.push_back(std::make_unique<internal::RpcService>(name));
  parts_->builder.RegisterService(parts_->services.back().get());
}

std::vector<RpcStatistics> AsyncServer::Statistics() { return parts_->metrics_by_method.Read(); }

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
  ASSIGN_OR_RETURN(const std::vector<Address> bound,
                   Start(std::vector{address}, pollers, keepalive));
  return bound.front();
}

absl::StatusOr<std::vector<Address>> AsyncServer::Start(const std::vector<Address>& addresses,
                                                        int pollers, const Keepalive& keepalive,
                                                        const std::optional<TlsFiles>& tls) {
  std::vector<int> ports(addresses.size());
  for (size_t i = 0; i < addresses.size(); ++i) {
    const Address& address = addresses[i];
    if (address.is_unix() && IsSocketInUse(address.unix_path)) return CannotListen(address);
    parts_->builder.AddListeningPort(
        address.ToString(), ServerCredentials(address.is_unix() ? std::nullopt : tls), &ports[i]);
  }
  parts_->Set(keepalive);
  for (int i = 0; i < pollers; ++i) {
    parts_->queues.push_back({.operations = std::make_shared<internal::OperationQueue>(
                                  parts_->builder.AddCompletionQueue()),
                              .awaited = std::make_shared<internal::AwaitedRequests>(
                                  pollers, parts_->timers ? &*parts_->timers : nullptr)});
  }
  {
    const UnixSocketMask mask;
    parts_->server = parts_->builder.BuildAndStart();
  }
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (parts_->server != nullptr && (addresses[i].is_unix() || ports[i] != 0)) continue;
    parts_->Abandon();
    return CannotListen(addresses[i]);
  }
  OpenToGroups(addresses);
  for (const auto& queue : parts_->queues) {
    parts_->pollers.emplace_back(
        [queue = queue.operations, gate = parts_->gate] { queue->Poll(gate); });
  }
  parts_->bound = addresses;
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (!addresses[i].is_unix()) parts_->bound[i].port = static_cast<uint16_t>(ports[i]);
  }
  return parts_->bound;
}

void AsyncServer::Stop(absl::Duration grace) {
  if (parts_->server == nullptr) return;
  // Returns when all connections are closed. Their operations may not have come out of the queues
  // yet, but are now certain to.
  const std::future<void> closed =
      std::async(std::launch::async, [this, grace] { parts_->server->Shutdown(SpanOf(grace)); });
  const auto is_closed_within = [&closed](absl::Duration time) {
    return closed.wait_for(absl::ToChronoNanoseconds(time)) == std::future_status::ready;
  };
  absl::Duration waited;
  while (waited < grace && !parts_->IsIdle() && !is_closed_within(kLookEvery)) waited += kLookEvery;
  // Without calls, gRPC waits the whole grace period for a peer that does not answer its GOAWAY,
  // and for a call that arrived at the moment of Shutdown(): it can forget to refuse that.
  if (!is_closed_within(kTimeForGoaway)) grpc_server_cancel_all_calls(parts_->server->c_server());
  // It does not close a connection with a write in progress, which lasts forever if the peer does
  // not read.
  if (!is_closed_within(kTimeToClose)) {
    for (const Address& each : parts_->bound) CutConnections(each);
  }
  closed.wait();
  for (const auto& each : parts_->queues) each.operations->Close();
  for (std::thread& poller : parts_->pollers) poller.join();
  parts_->pollers.clear();
  parts_->server = nullptr;
}

}  // namespace callslip::tracker
