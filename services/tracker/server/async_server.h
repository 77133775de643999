#ifndef CALLSLIP_TRACKER_SERVER_ASYNC_SERVER_H_
#define CALLSLIP_TRACKER_SERVER_ASYNC_SERVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/address.h"
#include "common/clock.h"
#include "common/tls_files.h"
#include "tracker/domain/journal/output_gate.h"
#include "tracker/metrics/rpc_statistics.h"
#include "tracker/server/authenticator.h"
#include "tracker/server/call_context.h"
#include "tracker/server/server_stream.h"
#include "tracker/server/typed_calls.h"

// gRPC's completion-queue machinery, wrapped once: a service says for each method what is to be
// done with a request, and never sees a tag, nor gRPC itself.
//
//   AsyncServer server;
//   server.AddService("package.Service");
//   server.Start(address, pollers);
//   server.ServeUnary<GetRequest, GetResponse>({"package.Service", "Get"}, handler);
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
  // Peers that ping more often are told to go away. They may each second, as gateways do where
  // another tracker may take over; this is a little less, since pings that are sent a second apart
  // may arrive closer together.
  absl::Duration peers_ping_every = absl::Milliseconds(800);
  // Peers that connect and then have not said by now what TLS and HTTP/2 begin with are cut off.
  absl::Duration begun_within = absl::Seconds(10);
};

// Whether what a method answers has to wait at the server's gate.
enum class Outputs { kGated, kFree };

// A method of a service that a server was given.
struct RpcName {
  absl::string_view service;  // In full, as in `package.Service`.
  absl::string_view method;
};

// Runs a gRPC server with completion queues and the threads that poll them.
//
// Handlers run on a polling thread and get a request that is valid until they return. A name that
// the protos do not have, or another type of message than theirs, is a mistake of the program and
// ends it.
class AsyncServer {
 public:
  // Calls are timed by `clock`; where there is none they are only counted.
  explicit AsyncServer(Clock* clock = nullptr);
  // Stops at once if Stop() was not called.
  ~AsyncServer();

  // Lets nothing leave but through `gate`, which must outlive this. Before Start().
  void SetGate(OutputGate* gate);
  // The same for what is Outputs::kFree.
  void SetFreeGate(OutputGate* gate);

  // Lets nobody in but whom `authenticator` does, which must outlive this. Before Start(). Without
  // one everybody is `local`.
  void SetAuthenticator(Authenticator* authenticator);

  // How much gRPC may hold of calls, in bytes. Beyond it, it reads less, refuses connections, and
  // cancels calls, whosever they are. Before Start(). Without it there is no limit.
  void SetCallMemory(int64_t bytes);

  // Before Start(). `name` in full, as in `package.Service`.
  void AddService(absl::string_view name);

  // Listens on `addresses` and returns them with the ports that were bound. UNAVAILABLE where that
  // is not possible, and where another process answers there. Serves nothing yet. `pollers` threads
  // answer all calls. A unix socket is made for its owner alone, and for the group as well where
  // its folder lets the group in.
  absl::StatusOr<std::vector<Address>> Start(const std::vector<Address>& addresses, int pollers,
                                             const Keepalive& keepalive = {},
                                             const std::optional<TlsFiles>& tls = std::nullopt);
  // At one address.
  absl::StatusOr<Address> Start(const Address& address, int pollers,
                                const Keepalive& keepalive = {});

  // Ends the calls that last, streams and held ones, of those whose credentials were revoked: to
  // them they are cancelled. Any thread.
  void CancelRevokedCalls();

  // Serves one method, from now on. `handler` answers at once.
  template <typename Request, typename Response>
  void ServeUnary(
      const RpcName& rpc,
      std::function<absl::Status(const CallContext&, const Request&, Response&)> handler,
      Outputs outputs = Outputs::kGated) {
    Serve(rpc, TypesOf<Request, Response>(),
          internal::UnaryHandler([handler = std::move(handler)](const CallContext& caller,
                                                                const internal::Message& request,
                                                                internal::Message& response) {
            return handler(caller, static_cast<const Request&>(request),
                           static_cast<Response&>(response));
          }),
          outputs);
  }

  // As above for a method whose answer may have to wait.
  template <typename Request, typename Response>
  void ServeHeld(const RpcName& rpc,
                 std::function<void(const CallContext&, const Request&,
                                    std::shared_ptr<DeferredReply<Response>>)>
                     handler,
                 Outputs outputs = Outputs::kGated) {
    Serve(rpc, TypesOf<Request, Response>(),
          internal::HeldHandler([handler = std::move(handler)](const CallContext& caller,
                                                               const internal::Message& request,
                                                               const auto& call) {
            handler(caller, static_cast<const Request&>(request),
                    internal::TypedOf<internal::TypedReply<Response>>(call));
          }),
          outputs);
  }

  // As above for a server-streaming method.
  template <typename Request, typename Response>
  void ServeStream(const RpcName& rpc,
                   std::function<void(const CallContext&, const Request&,
                                      std::shared_ptr<ServerStream<Response>>)>
                       handler,
                   Outputs outputs = Outputs::kGated) {
    Serve(rpc, TypesOf<Request, Response>(),
          internal::StreamHandler([handler = std::move(handler)](const CallContext& caller,
                                                                 const internal::Message& request,
                                                                 const auto& call) {
            handler(caller, static_cast<const Request&>(request),
                    internal::TypedOf<internal::TypedStream<Response>>(call));
          }),
          outputs);
  }

  // As above for a method that streams in both directions.
  template <typename Request, typename Response>
  void ServeDuplex(
      const RpcName& rpc,
      std::function<void(const CallContext&, std::shared_ptr<DuplexStream<Request, Response>>)>
          handler,
      Outputs outputs = Outputs::kGated) {
    Serve(rpc, TypesOf<Request, Response>(),
          internal::DuplexHandler(
              [handler = std::move(handler)](const CallContext& caller, const auto& call) {
                handler(caller, internal::TypedOf<internal::TypedDuplex<Request, Response>>(call));
              }),
          outputs);
  }

  // Accepts no further calls, waits up to `grace` for those under way, cancels the rest, and ends
  // the threads. A connection that gRPC cannot close then, because its peer reads nothing, is cut
  // off a little later.
  void Stop(absl::Duration grace);

  // What the calls of each method that is served have come to.
  std::vector<RpcStatistics> Statistics();

 private:
  struct Parts;

  template <typename Request, typename Response>
  static internal::MessageTypes TypesOf() {
    return {&Request::default_instance(), &Response::default_instance()};
  }

  void Serve(const RpcName& rpc, const internal::MessageTypes& types,
             internal::UnaryHandler handler, Outputs outputs);
  void Serve(const RpcName& rpc, const internal::MessageTypes& types, internal::HeldHandler handler,
             Outputs outputs);
  void Serve(const RpcName& rpc, const internal::MessageTypes& types,
             internal::StreamHandler handler, Outputs outputs);
  void Serve(const RpcName& rpc, const internal::MessageTypes& types,
             internal::DuplexHandler handler, Outputs outputs);

  const std::unique_ptr<Parts> parts_;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_SERVER_ASYNC_SERVER_H_
