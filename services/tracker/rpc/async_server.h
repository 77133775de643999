#ifndef CALLSLIP_TRACKER_RPC_ASYNC_SERVER_H_
#define CALLSLIP_TRACKER_RPC_ASYNC_SERVER_H_

#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/address.h"
#include "common/clock.h"
#include "grpcpp/grpcpp.h"
#include "tracker/rpc/async_server_calls.h"
#include "tracker/rpc/async_server_streams.h"
#include "tracker/rpc/operation_queue.h"
#include "tracker/rpc/output_gate.h"
#include "tracker/rpc/rpc_tally.h"
#include "tracker/rpc/server_stream.h"

// gRPC's completion-queue machinery, wrapped once: a service says for each method how a request is
// accepted and what is to be done with it, and never sees a tag.
//
//   AsyncServer server;
//   server.AddService(&service);
//   server.Start(address, pollers);
//   server.ServeUnary(&service, &Service::AsyncService::RequestGet, handler);
//
// Completion queues rather than the callback API: with 64 outstanding calls they answer 1.7 times
// as many a second here, and the first call after an idle second within a millisecond, not tens of
// them (docs/adr/0002-grpc-completion-queues.md).
namespace callslip::tracker {

// How a server keeps connections that are idle, as streams are for hours, and notices that a peer
// is gone without a word. In whole milliseconds.
struct Keepalive {
  // A peer that was silent for so long is pinged, be it that no call is under way,
  absl::Duration ping_after = absl::Seconds(60);
  // and cut off where it does not answer.
  absl::Duration answer_within = absl::Seconds(20);
  // Peers that ping more often are told to go away. They may each 10 s; this is a little less,
  // since pings that are sent 10 s apart may arrive closer together.
  absl::Duration peers_ping_every = absl::Seconds(9);
};

// Whether what a method answers has to wait at the server's gate.
enum class Outputs { kGated, kFree };

// Runs a gRPC server with completion queues and the threads that poll them.
//
// Handlers run on a polling thread and get a request that is valid until they return.
class AsyncServer {
 public:
  // Calls are timed by `clock`; where there is none they are only counted.
  explicit AsyncServer(Clock* clock = nullptr);
  // Stops at once if Stop() was not called.
  ~AsyncServer();

  // Lets nothing leave but through `gate`, which must outlive this. Before Start().
  void SetGate(OutputGate* gate) { gate_ = gate; }

  // Before Start().
  void AddService(grpc::Service* service) { builder_.RegisterService(service); }

  // Listens on `address` and returns it with the port that was bound. UNAVAILABLE where that is
  // not possible, and where another process answers there. Serves nothing yet. `pollers` threads
  // answer all calls.
  absl::StatusOr<Address> Start(const Address& address, int pollers,
                                const Keepalive& keepalive = {});

  // Serves one method, from now on. `handler` answers at once.
  template <typename Service, typename Base, typename Request, typename Response>
  void ServeUnary(Service* service,
                  void (Base::*request)(grpc::ServerContext*, Request*,
                                        grpc::ServerAsyncResponseWriter<Response>*,
                                        grpc::CompletionQueue*, grpc::ServerCompletionQueue*,
                                        void*),
                  std::function<absl::Status(const Request&, Response&)> handler,
                  Outputs outputs = Outputs::kGated);

  // As above for a method whose answer may have to wait.
  template <typename Service, typename Base, typename Request, typename Response>
  void ServeHeld(Service* service,
                 void (Base::*request)(grpc::ServerContext*, Request*,
                                       grpc::ServerAsyncResponseWriter<Response>*,
                                       grpc::CompletionQueue*, grpc::ServerCompletionQueue*, void*),
                 std::function<void(const Request&, std::shared_ptr<HeldReply<Response>>)> handler);

  // As above for a server-streaming method.
  template <typename Service, typename Base, typename Request, typename Response>
  void ServeStream(
      Service* service,
      void (Base::*request)(grpc::ServerContext*, Request*, grpc::ServerAsyncWriter<Response>*,
                            grpc::CompletionQueue*, grpc::ServerCompletionQueue*, void*),
      std::function<void(const Request&, std::shared_ptr<ServerStream<Response>>)> handler,
      Outputs outputs = Outputs::kGated);

  // As above for a method that streams in both directions.
  template <typename Service, typename Base, typename Request, typename Response>
  void ServeDuplex(Service* service,
                   void (Base::*request)(grpc::ServerContext*,
                                         grpc::ServerAsyncReaderWriter<Response, Request>*,
                                         grpc::CompletionQueue*, grpc::ServerCompletionQueue*,
                                         void*),
                   std::function<void(std::shared_ptr<DuplexStream<Request, Response>>)> handler);

  // Accepts no further calls, waits up to `grace` for those under way, cancels the rest, and ends
  // the threads. A connection that gRPC cannot close then, because its peer reads nothing, is cut
  // off a little later. The services must outlive this.
  void Stop(absl::Duration grace);

  // What the calls of each method that is served have come to.
  std::vector<RpcStatistics> Statistics() { return tallies_.Read(); }

 private:
  // How many calls of one method a queue can accept before the first of them is picked up.
  static constexpr int kAcceptsPerMethod = 16;

  // Has each queue accept calls of the method that `request` stands for.
  template <typename Call, typename Service, typename Accept>
  void Serve(Service* service, Accept request, const typename Call::Handler& handler,
             RpcTally* tally, Outputs outputs = Outputs::kGated);

  RpcTallies tallies_;
  grpc::ServerBuilder builder_;
  OutputGate* gate_ = nullptr;
  Address bound_;
  std::unique_ptr<grpc::Server> server_;
  std::vector<std::shared_ptr<internal::OperationQueue>> queues_;
  std::vector<std::thread> pollers_;
};

template <typename Service, typename Base, typename Request, typename Response>
void AsyncServer::ServeUnary(Service* service,
                             void (Base::*request)(grpc::ServerContext*, Request*,
                                                   grpc::ServerAsyncResponseWriter<Response>*,
                                                   grpc::CompletionQueue*,
                                                   grpc::ServerCompletionQueue*, void*),
                             std::function<absl::Status(const Request&, Response&)> handler,
                             Outputs outputs) {
  Serve<internal::UnaryCall<Request, Response>>(service, request, std::move(handler),
                                                tallies_.Of(Request::descriptor(), false), outputs);
}

template <typename Service, typename Base, typename Request, typename Response>
void AsyncServer::ServeHeld(
    Service* service,
    void (Base::*request)(grpc::ServerContext*, Request*,
                          grpc::ServerAsyncResponseWriter<Response>*, grpc::CompletionQueue*,
                          grpc::ServerCompletionQueue*, void*),
    std::function<void(const Request&, std::shared_ptr<HeldReply<Response>>)> handler) {
  using Call = internal::DeferredCall<Request, Response>;
  Serve<Call>(
      service, request,
      [handler = std::move(handler)](const std::shared_ptr<Call>& call) {
        handler(call->request(), call);
      },
      tallies_.Of(Request::descriptor(), false));
}

template <typename Service, typename Base, typename Request, typename Response>
void AsyncServer::ServeStream(
    Service* service,
    void (Base::*request)(grpc::ServerContext*, Request*, grpc::ServerAsyncWriter<Response>*,
                          grpc::CompletionQueue*, grpc::ServerCompletionQueue*, void*),
    std::function<void(const Request&, std::shared_ptr<ServerStream<Response>>)> handler,
    Outputs outputs) {
  using Call = internal::StreamCall<Request, Response>;
  Serve<Call>(
      service, request,
      [handler = std::move(handler)](const std::shared_ptr<Call>& call) {
        handler(*call->TakeRequest(), call);
      },
      tallies_.Of(Request::descriptor(), true), outputs);
}

template <typename Service, typename Base, typename Request, typename Response>
void AsyncServer::ServeDuplex(
    Service* service,
    void (Base::*request)(grpc::ServerContext*, grpc::ServerAsyncReaderWriter<Response, Request>*,
                          grpc::CompletionQueue*, grpc::ServerCompletionQueue*, void*),
    std::function<void(std::shared_ptr<DuplexStream<Request, Response>>)> handler) {
  Serve<internal::DuplexCall<Request, Response>>(service, request, std::move(handler),
                                                 tallies_.Of(Request::descriptor(), true));
}

template <typename Call, typename Service, typename Accept>
void AsyncServer::Serve(Service* service, Accept request, const typename Call::Handler& handler,
                        RpcTally* tally, Outputs outputs) {
  OutputGate* const gate = outputs == Outputs::kGated ? gate_ : nullptr;
  for (const auto& queue : queues_) {
    const auto accept = [service, request, on = queue->queue()](Call& call, void* tag) {
      call.AcceptFrom(service, request, on, tag);
    };
    const auto method = std::make_shared<const internal::Method<Call>>(internal::Method<Call>{
        .queue = queue, .accept = accept, .handler = handler, .tally = tally, .gate = gate});
    for (int i = 0; i < kAcceptsPerMethod; ++i) Call::AcceptNext(method);
  }
}

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_RPC_ASYNC_SERVER_H_
