#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/awaitable.hpp"
#include "callslip/tracker/v1/methods.h"
#include "common/address.h"
#include "common/tls_files.h"
#include "common/trace_context.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "rpc_client/call_queue.h"
#include "rpc_client/message_stream.h"

namespace callslip {

namespace v1 = tracker::v1;

// The trace of a call, sent as metadata.
struct CallTrace {
  TraceContext context;
  std::string tracestate;  // Ready to be forwarded; see TracestateOf(). Empty: none.
};

// The non-default options of a call.
struct CallOptions {
  // Default: kUnaryDeadline, or the request's max_wait and kRpcMargin where that is longer.
  std::optional<absl::Duration> deadline;
  // Valid until the call has ended. Null: the trace of the coroutine's TracedExecutor, if any.
  const CallTrace* trace = nullptr;
};

// The response type for a Request: the response of its RPC, or a message of its stream.
template <typename Request>
using ResponseOf = typename v1::MethodOf<Request>::Response;

// Calls the tracker's RPCs, selected by the type of the request. Errors are the tracker's, with
// their ErrorDetails; an error without a reason came from the connection, and the tracker may have
// executed the call.
//
// A call waits for the connection within its deadline, so that a restarting tracker costs time but
// no errors. A request with a request_id is sent again within the same deadline if the connection
// breaks. A call that waits (its request has a max_wait) is cancelled at the tracker if its
// coroutine is cancelled; any other call continues, so that nothing is lost because its caller has
// left.
//
// A call with one answer that belongs to a trace is a span of it, if spans are recorded.
//
// Used on the executor of the coroutines. An interface, so that tests need no tracker.
class TrackerCalls {
 public:
  template <typename T>
  using Result = boost::asio::awaitable<absl::StatusOr<T>>;
  template <typename T>
  using Stream = std::unique_ptr<MessageStream<T>>;

  virtual ~TrackerCalls() = default;

  template <typename Request>
  Result<ResponseOf<Request>> Call(Request request, CallOptions options = {}) {
    static_assert(!v1::MethodOf<Request>::kStreams, "use Open()");
    ResponseOf<Request> response;
    absl::Status status = co_await Send(MethodFor<Request>(), request, options, &response);
    if (!status.ok()) co_return status;
    co_return std::move(response);
  }

  // The call starts with the first Next() or earlier.
  template <typename Request>
  Stream<ResponseOf<Request>> Open(const Request& request) {
    static_assert(v1::MethodOf<Request>::kStreams, "use Call()");
    return std::make_unique<MessageStream<ResponseOf<Request>>>(
        Begin(MethodFor<Request>(), request));
  }

  // Ends waiting calls, and later ones at once, with a connection error; also those of the queue's
  // other clients. For use when the process ends.
  virtual void EndCalls() = 0;

 protected:
  template <typename Request>
  static const google::protobuf::MethodDescriptor& MethodFor() {
    static const google::protobuf::MethodDescriptor& method =
        *google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(
            v1::MethodOf<Request>::kName);
    return method;
  }

  // `request` and `response` are valid until the call has ended.
  virtual boost::asio::awaitable<absl::Status> Send(
      const google::protobuf::MethodDescriptor& method, const google::protobuf::Message& request,
      CallOptions options, google::protobuf::Message* response) = 0;
  virtual std::unique_ptr<MessageSource> Begin(const google::protobuf::MethodDescriptor& method,
                                               const google::protobuf::Message& request) = 0;
};

// A client over gRPC that connects lazily. `executor` runs all coroutines, one at a time.
// Destroying the client stops the queue; by then the executor must have stopped, and must still
// exist. With `tls` the tracker must authenticate itself, unless it is reached over a unix socket.
std::unique_ptr<TrackerCalls> ConnectCalls(const std::vector<Address>& addresses,
                                           std::shared_ptr<CallQueue> calls,
                                           boost::asio::any_io_executor executor,
                                           const std::optional<TlsFiles>& tls = std::nullopt);

}  // namespace callslip
