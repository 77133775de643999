#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "boost/asio/any_io_executor.hpp"
#include "common/address.h"
#include "common/clock.h"
#include "common/tls_files.h"
#include "rpc_client/async_call.h"
#include "rpc_client/call_queue.h"
#include "rpc_client/tracker_calls.h"

namespace callslip {

// Whether an error came from the connection instead of the tracker: the outcome of the call is then
// unknown.
bool IsOfConnection(const absl::Status& status);

// The class behind ConnectCalls(). gRPC's headers are large: only the clients' own files include
// this.
class GrpcCalls final : public TrackerCalls {
 public:
  GrpcCalls(const std::vector<Address>& addresses, std::shared_ptr<CallQueue> calls,
            boost::asio::any_io_executor executor, const std::optional<TlsFiles>& tls);
  ~GrpcCalls() override { calls_->Stop(); }

  boost::asio::awaitable<absl::Status> Send(const google::protobuf::MethodDescriptor& method,
                                            const google::protobuf::Message& request,
                                            CallOptions options,
                                            google::protobuf::Message* response) override;
  std::unique_ptr<MessageSource> Begin(const google::protobuf::MethodDescriptor& method,
                                       const google::protobuf::Message& request) override;
  void EndCalls() override { calls_->EndWaits(); }

  // As Send() without repeating, and without a coroutine: `handler` gets the absl::Status.
  // `request` is needed only during this function; `handler` owns the response.
  template <typename Handler>
  void Start(const google::protobuf::MethodDescriptor& method,
             const google::protobuf::Message& request, absl::Duration deadline,
             google::protobuf::Message* response, Handler handler) {
    Start(RpcOf(method), request, deadline, nullptr, response, std::move(handler));
  }

  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

 private:
  // What all calls of a method share.
  struct Rpc {
    std::string path;  // `/package.Service/Method`
    OnCancel on_cancel;
    bool is_idempotent;
    // Fields of the request; null if it does not have them.
    const google::protobuf::FieldDescriptor* request_id;
    const google::protobuf::FieldDescriptor* max_wait;
    const google::protobuf::FieldDescriptor* max_wait_ms;
  };

  const Rpc& RpcOf(const google::protobuf::MethodDescriptor& method);
  static absl::Duration DeadlineOf(const Rpc& rpc, const google::protobuf::Message& request);

  template <typename Handler>
  void Start(const Rpc& rpc, const google::protobuf::Message& request, absl::Duration deadline,
             const CallTrace* trace, google::protobuf::Message* response, Handler handler) {
    auto* call = new AsyncCall<Handler>(std::move(handler), deadline, rpc.on_cancel, calls_.get());
    call->Start(stub_, rpc.path, request, trace, response);
  }
  // Records a span if the call belongs to a trace.
  boost::asio::awaitable<absl::Status> SendTraced(const Rpc& rpc,
                                                  const google::protobuf::Message& request,
                                                  CallOptions options,
                                                  google::protobuf::Message* response);
  boost::asio::awaitable<absl::Status> SendUntraced(const Rpc& rpc,
                                                    const google::protobuf::Message& request,
                                                    CallOptions options,
                                                    google::protobuf::Message* response);
  boost::asio::awaitable<absl::Status> SendOnce(const Rpc& rpc,
                                                const google::protobuf::Message& request,
                                                absl::Duration deadline, const CallTrace* trace,
                                                google::protobuf::Message* response);
  // Repeats the call until its deadline if the connection breaks or the tracker shuts down. For
  // methods that are idempotent, and requests with a request_id.
  boost::asio::awaitable<absl::Status> SendRepeatedly(const Rpc& rpc,
                                                      const google::protobuf::Message& request,
                                                      CallOptions options,
                                                      google::protobuf::Message* response);

  // For spans: the hosts or sockets, separated by commas; the port, if there is only one. 0: none.
  const std::string server_address_;
  const int64_t server_port_;
  const std::shared_ptr<grpc::Channel> channel_;
  MessageStub stub_;
  grpc::GenericStub streams_;
  const boost::asio::any_io_executor executor_;
  const std::shared_ptr<CallQueue> calls_;
  RealClock clock_;
  std::map<const google::protobuf::MethodDescriptor*, Rpc> rpcs_;  // The methods called so far.
};

}  // namespace callslip
