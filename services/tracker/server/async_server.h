#pragma once

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

// Wraps gRPC's completion queues: a service states for each method how to handle a request, and
// never sees a tag, nor gRPC itself.
//
//   AsyncServer server;
//   server.AddService("package.Service");
//   server.Start(address, pollers);
//   server.ServeUnary<GetRequest, GetResponse>({"package.Service", "Get"}, handler);
//
// Completion queues rather than the callback API: with 64 outstanding calls they answer 1.7 times
// as many per second here, and answer the first call after an idle second within a millisecond
// instead of tens of them (docs/adr/0002-grpc-completion-queues.md).
namespace callslip::tracker {

// How a server keeps idle connections, such as streams that last for hours, and detects silently
// lost peers. In whole milliseconds.
struct Keepalive {
  // A peer that has been silent for this time is pinged, even if no call is in progress,
  absl::Duration ping_after = absl::Seconds(60);
  // and disconnected if it does not answer within this time.
  absl::Duration answer_within = absl::Seconds(20);
  // Peers that ping more often are disconnected. They may ping once a second, as gateways do if
  // another tracker can take over; this is a little less, because pings sent a second apart can
  // arrive closer together.
  absl::Duration peers_ping_every = absl::Milliseconds(800);
  // Peers that connect and do not complete the start of TLS and HTTP/2 in this time are
  // disconnected.
  absl::Duration begun_within = absl::Seconds(10);
};

// Whether a method's output must wait at the server's gate.
enum class Outputs { kGated, kFree };

// A method of an added service.
struct RpcName {
  absl::string_view service;  // The full name, as in `package.Service`.
  absl::string_view method;
};

// The handlers of methods, by kind. A unary method is answered at once, a held one may be answered
// later.
template <typename Request, typename Response>
using UnaryMethod = absl::Status(const CallContext& caller, const Request& request,
                                 Response& response);
template <typename Request, typename Response>
using HeldMethod = void(const CallContext& caller, const Request& request,
                        const Reply<Response>& reply);
template <typename Request, typename Response>
using StreamMethod = void(const CallContext& caller, const Request& request,
                          const std::shared_ptr<ServerStream<Response>>& stream);

// Runs a gRPC server with completion queues and the threads that poll them.
//
// Handlers run on a polling thread; the request is valid until they return. A name that the protos
// do not contain, or the wrong message type, is a bug in the program and aborts it.
class AsyncServer {
 public:
  // `clock` times the calls, and ends those whose requests do not arrive; without one they are only
  // counted.
  explicit AsyncServer(Clock* clock = nullptr);
  // Stops at once if Stop() was not called.
  ~AsyncServer();

  // Sends all output through `gate`, which must outlive this. Call before Start().
  void SetGate(OutputGate* gate);
  // As SetGate(), for output that is Outputs::kFree.
  void SetFreeGate(OutputGate* gate);

  // Accepts only callers that `authenticator`, which must outlive this, accepts. Call before
  // Start(). Without one every caller is `local`.
  void SetAuthenticator(Authenticator* authenticator);

  // Limits the memory, in bytes, that gRPC uses for calls. Beyond the limit it reads less, refuses
  // connections, and cancels calls of any caller. Call before Start(). By default there is no
  // limit.
  void SetCallMemory(int64_t bytes);

  // Call before Start(). `name` is the full name, as in `package.Service`.
  void AddService(absl::string_view name);

  // Listens on `addresses` and returns them with the bound ports. UNAVAILABLE if that fails or
  // another process listens there. Serves no methods yet. `pollers` threads answer all calls. A
  // unix socket is accessible only to its owner, and to the group if its folder is.
  absl::StatusOr<std::vector<Address>> Start(const std::vector<Address>& addresses, int pollers,
                                             const Keepalive& keepalive = {},
                                             const std::optional<TlsFiles>& tls = std::nullopt);
  // Listens on one address.
  absl::StatusOr<Address> Start(const Address& address, int pollers,
                                const Keepalive& keepalive = {});

  // Ends long calls, that is streams and held calls, of callers whose credentials were revoked:
  // they see CANCELLED. Call it from any thread.
  void CancelRevokedCalls();

  // Serves one method from now on.
  template <typename Request, typename Response>
  void ServeUnary(const RpcName& rpc, std::function<UnaryMethod<Request, Response>> handler,
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

  template <typename Request, typename Response>
  void ServeHeld(const RpcName& rpc, std::function<HeldMethod<Request, Response>> handler,
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

  template <typename Request, typename Response>
  void ServeStream(const RpcName& rpc, std::function<StreamMethod<Request, Response>> handler,
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

  // As above, for a method that streams in both directions.
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

  // As above, for a method of Service::kName that is a member function of `service`.
  template <typename Service, typename Request, typename Response>
  void ServeUnary(const char* method, Service* service,
                  UnaryMethod<Request, Response> Service::*handler,
                  Outputs outputs = Outputs::kGated) {
    ServeUnary<Request, Response>({Service::kName, method}, std::bind_front(handler, service),
                                  outputs);
  }
  template <typename Service, typename Request, typename Response>
  void ServeHeld(const char* method, Service* service,
                 HeldMethod<Request, Response> Service::*handler,
                 Outputs outputs = Outputs::kGated) {
    ServeHeld<Request, Response>({Service::kName, method}, std::bind_front(handler, service),
                                 outputs);
  }
  template <typename Service, typename Request, typename Response>
  void ServeStream(const char* method, Service* service,
                   StreamMethod<Request, Response> Service::*handler,
                   Outputs outputs = Outputs::kGated) {
    ServeStream<Request, Response>({Service::kName, method}, std::bind_front(handler, service),
                                   outputs);
  }

  // Accepts no further calls, waits up to `grace` for those in progress, cancels the rest, and ends
  // the threads. A connection that gRPC cannot close because its peer does not read is cut a little
  // later.
  void Stop(absl::Duration grace);

  // The statistics of the calls of each served method.
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
