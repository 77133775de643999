#ifndef CALLSLIP_TRACKER_RPC_ASYNC_SERVER_H_
#define CALLSLIP_TRACKER_RPC_ASYNC_SERVER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/address.h"
#include "common/mutex.h"
#include "common/rpc_status.h"
#include "grpcpp/grpcpp.h"

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

// What a completion queue hands back when an operation is done.
class CompletionTag {
 public:
  virtual ~CompletionTag() = default;
  virtual void OnCompletion(bool ok) = 0;
};

// A call that is answered later, by any thread. The service holds it by shared_ptr for as long as
// it may still answer; finishing twice, or after the caller has left, is harmless.
template <typename Response>
class HeldReply {
 public:
  virtual ~HeldReply() = default;

  // Calls `if_lost` where the response is known not to reach the caller: at once, or when gRPC
  // reports so.
  virtual void Finish(const Response& response, std::function<void()> if_lost) = 0;
  virtual void Fail(const absl::Status& status) = 0;
  // Calls `action` once if the caller leaves before the call is finished; at once if it has left.
  virtual void OnCallerLeft(std::function<void()> action) = 0;
};

// A server stream of states: when the caller reads more slowly than the state changes, a newer
// message replaces one that was not sent yet. Otherwise as HeldReply.
template <typename Response>
class LatestStream {
 public:
  virtual ~LatestStream() = default;

  virtual void Send(Response response) = 0;
  // Ends the stream after the last message sent.
  virtual void Finish(const absl::Status& status) = 0;
  virtual void OnCallerLeft(std::function<void()> action) = 0;
};

// Runs a gRPC server with completion queues and the threads that poll them.
class AsyncServer {
 public:
  AsyncServer() = default;
  // Stops at once if Stop() was not called.
  ~AsyncServer();

  // Before Start().
  void AddService(grpc::Service* service) { builder_.RegisterService(service); }

  // Listens on `address` and returns it with the port that was bound. UNAVAILABLE where that is
  // not possible. Serves nothing yet. `pollers` threads answer all calls.
  absl::StatusOr<Address> Start(const Address& address, int pollers);

  // Serves one method, from now on. `handler` answers at once, on the polling thread.
  template <typename Service, typename Base, typename Request, typename Response>
  void ServeUnary(Service* service,
                  void (Base::*request)(grpc::ServerContext*, Request*,
                                        grpc::ServerAsyncResponseWriter<Response>*,
                                        grpc::CompletionQueue*, grpc::ServerCompletionQueue*,
                                        void*),
                  std::function<absl::StatusOr<Response>(const Request&)> handler);

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
      std::function<void(const Request&, std::shared_ptr<LatestStream<Response>>)> handler);

  // Accepts no further calls, waits up to `grace` for those under way, cancels the rest, and ends
  // the threads. The services must outlive this.
  void Stop(absl::Duration grace);

  // For health reports; null before Start().
  grpc::Server* server() { return server_.get(); }

 private:
  template <typename Request, typename Response>
  class UnaryCall;
  template <typename Self, typename Request, typename Writer>
  class LongCall;
  template <typename Request, typename Response>
  class HeldCall;
  template <typename Request, typename Response>
  class StreamCall;
  template <typename Request, typename Writer>
  using Accept = std::function<void(grpc::ServerContext*, Request*, Writer*,
                                    grpc::ServerCompletionQueue*, void*)>;

  // How many calls of one method a queue can accept before the first of them is picked up.
  static constexpr int kAcceptsPerMethod = 16;

  // Runs `accept` unless the server is stopping; a call must not be accepted after its queue was
  // shut down.
  bool TryAccept(const std::function<void()>& accept);
  // Calls that live longer than their accepting are counted: Stop() must not shut the queues down
  // while one of them may still start an operation.
  void CallBegins();
  void CallEnds();

  grpc::ServerBuilder builder_;
  std::unique_ptr<grpc::Server> server_;
  std::vector<std::unique_ptr<grpc::ServerCompletionQueue>> queues_;
  std::vector<std::thread> pollers_;

  Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  int live_calls_ ABSL_GUARDED_BY(mutex_) = 0;
  CondVar call_ended_;
};

}  // namespace callslip::tracker

#include "tracker/rpc/async_server_calls.h"

#endif  // CALLSLIP_TRACKER_RPC_ASYNC_SERVER_H_
