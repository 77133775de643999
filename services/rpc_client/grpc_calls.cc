#include "rpc_client/grpc_calls.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "boost/asio/async_result.hpp"
#include "boost/asio/bind_cancellation_slot.hpp"
#include "boost/asio/steady_timer.hpp"
#include "boost/asio/this_coro.hpp"
#include "boost/asio/use_awaitable.hpp"
#include "common/error_details.h"
#include "google/protobuf/duration.pb.h"
#include "rpc_client/channel.h"
#include "rpc_client/stream_call.h"
#include "rpc_client/traced_executor.h"
#include "telemetry/active_span.h"

namespace callslip {
namespace {

using google::protobuf::Message;
using google::protobuf::MethodDescriptor;

// Between two attempts at one call.
constexpr absl::Duration kRetryPause = absl::Milliseconds(100);

// Whether the same call can succeed at once, at this tracker or at the one that takes over.
bool IsWorthRepeating(const absl::Status& status) {
  if (!IsOfConnection(status)) return DetailsOf(status).reason == "draining";
  switch (status.code()) {
    case absl::StatusCode::kCancelled:  // By gRPC, as the tracker stopped.
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kUnknown: return true;
    default: return false;
  }
}

void AppendHost(std::string* hosts, const Address& address) {
  absl::StrAppend(hosts, address.is_unix() ? address.unix_path : address.host);
}

// By OpenTelemetry's conventions for gRPC: for a client every code but OK is a failure.
void EndSpan(const absl::Status& status, ActiveSpan& span) {
  if (!span) return;
  const std::string code = absl::StatusCodeToString(status.code());
  span.Set("rpc.response.status_code", code);
  std::string reason = DetailsOf(status).reason;
  if (!reason.empty()) span.Set("callslip.error.reason", std::move(reason));
  if (!status.ok()) span.Fail(code);
  span.End();
}

}  // namespace

bool IsOfConnection(const absl::Status& status) {
  return !status.ok() && DetailsOf(status).reason.empty();
}

absl::Status UnreadableAnswer() {
  return ErrorWithDetails(absl::StatusCode::kInternal, "the tracker's answer cannot be read",
                          {.reason = "answer_unreadable",
                           .hint = "Run the tracker and its clients in the same version."});
}

GrpcCalls::GrpcCalls(const std::vector<Address>& addresses, std::shared_ptr<CallQueue> calls,
                     boost::asio::any_io_executor executor, const std::optional<TlsFiles>& tls)
    : server_address_(absl::StrJoin(addresses, ",", AppendHost)),
      server_port_(addresses.size() == 1 ? addresses.front().port : 0),
      channel_(ConnectChannel(addresses, tls)),
      stub_(channel_),
      streams_(channel_),
      executor_(std::move(executor)),
      calls_(std::move(calls)) {}

const GrpcCalls::Rpc& GrpcCalls::RpcOf(const MethodDescriptor& method) {
  const auto [known, is_new] = rpcs_.try_emplace(&method);
  Rpc& rpc = known->second;
  if (!is_new) return rpc;
  rpc.path = absl::StrCat("/", method.service()->full_name(), "/", method.name());
  const google::protobuf::Descriptor& request = *method.input_type();
  rpc.request_id = request.FindFieldByName("request_id");
  rpc.max_wait = request.FindFieldByName("max_wait");
  rpc.max_wait_ms = request.FindFieldByName("max_wait_ms");
  const bool waits = rpc.max_wait != nullptr || rpc.max_wait_ms != nullptr;
  rpc.is_idempotent =
      method.options().idempotency_level() != google::protobuf::MethodOptions::IDEMPOTENCY_UNKNOWN;
  rpc.on_cancel = waits ? OnCancel::kEndCall : OnCancel::kGoOn;
  return rpc;
}

absl::Duration GrpcCalls::DeadlineOf(const Rpc& rpc, const Message& request) {
  absl::Duration wait;
  if (rpc.max_wait != nullptr) {
    const auto& duration = static_cast<const google::protobuf::Duration&>(
        request.GetReflection()->GetMessage(request, rpc.max_wait));
    wait = absl::Seconds(duration.seconds()) + absl::Nanoseconds(duration.nanos());
  } else if (rpc.max_wait_ms != nullptr) {
    wait = absl::Milliseconds(request.GetReflection()->GetInt32(request, rpc.max_wait_ms));
  }
  return wait > absl::ZeroDuration() ? std::max(kUnaryDeadline, wait + kRpcMargin) : kUnaryDeadline;
}

boost::asio::awaitable<absl::Status> GrpcCalls::Send(const MethodDescriptor& method,
                                                     const Message& request, CallOptions options,
                                                     Message* response) {
  const Rpc& rpc = RpcOf(method);
  if (!options.deadline.has_value()) options.deadline = DeadlineOf(rpc, request);
  return Spans() == nullptr ? SendUntraced(rpc, request, options, response)
                            : SendTraced(rpc, request, options, response);
}

boost::asio::awaitable<absl::Status> GrpcCalls::SendTraced(const Rpc& rpc, const Message& request,
                                                           CallOptions options, Message* response) {
  CallTrace trace;
  if (options.trace != nullptr) {
    trace = *options.trace;
  } else {
    trace.context = TracedExecutor::TraceOf(co_await boost::asio::this_coro::executor);
  }
  if (trace.context.empty()) co_return co_await SendUntraced(rpc, request, options, response);
  const std::string method = rpc.path.substr(1);
  ActiveSpan span = ActiveSpan::Start(SpanKind::kClient, method, trace.context);
  span.Set("rpc.system.name", std::string("grpc"));
  span.Set("rpc.method", method);
  span.Set("server.address", server_address_);
  if (server_port_ != 0) span.Set("server.port", server_port_);
  options.trace = &trace;
  absl::Status status = co_await SendUntraced(rpc, request, options, response);
  EndSpan(status, span);
  co_return status;
}

// Not a coroutine itself, to avoid another frame.
boost::asio::awaitable<absl::Status> GrpcCalls::SendUntraced(const Rpc& rpc, const Message& request,
                                                             CallOptions options,
                                                             Message* response) {
  const bool is_repeatable =
      rpc.is_idempotent ||
      (rpc.request_id != nullptr && request.GetReflection()->HasField(request, rpc.request_id));
  if (is_repeatable) return SendRepeatedly(rpc, request, options, response);
  return SendOnce(rpc, request, *options.deadline, options.trace, response);
}

boost::asio::awaitable<absl::Status> GrpcCalls::SendOnce(const Rpc& rpc, const Message& request,
                                                         absl::Duration deadline,
                                                         const CallTrace* trace,
                                                         Message* response) {
  return boost::asio::async_initiate<const boost::asio::use_awaitable_t<>&, void(absl::Status)>(
      [this, &rpc, &request, deadline, trace, response](auto handler) {
        Start(rpc, request, deadline, trace, response, std::move(handler));
      },
      boost::asio::use_awaitable);
}

boost::asio::awaitable<absl::Status> GrpcCalls::SendRepeatedly(const Rpc& rpc,
                                                               const Message& request,
                                                               CallOptions options,
                                                               Message* response) {
  // The call goes on if its caller is cancelled, so its pauses do too.
  const bool throws = co_await boost::asio::this_coro::throw_if_cancelled();
  co_await boost::asio::this_coro::throw_if_cancelled(false);
  const absl::Time until = clock_.Now() + *options.deadline;
  absl::Status status;
  while (true) {
    status = co_await SendOnce(rpc, request, until - clock_.Now(), options.trace, response);
    if (!IsWorthRepeating(status) || clock_.Now() + kRetryPause >= until) break;
    boost::asio::steady_timer pause(executor_, absl::ToChronoNanoseconds(kRetryPause));
    co_await pause.async_wait(boost::asio::bind_cancellation_slot(boost::asio::cancellation_slot(),
                                                                  boost::asio::use_awaitable));
  }
  co_await boost::asio::this_coro::throw_if_cancelled(throws);
  co_return status;
}

std::unique_ptr<MessageSource> GrpcCalls::Begin(const MethodDescriptor& method,
                                                const Message& request) {
  const Message& type =
      *google::protobuf::MessageFactory::generated_factory()->GetPrototype(method.output_type());
  return StreamCall::Open(streams_, RpcOf(method).path, request, type, executor_, calls_);
}

std::unique_ptr<TrackerCalls> ConnectCalls(const std::vector<Address>& addresses,
                                           std::shared_ptr<CallQueue> calls,
                                           boost::asio::any_io_executor executor,
                                           const std::optional<TlsFiles>& tls) {
  return std::make_unique<GrpcCalls>(addresses, std::move(calls), std::move(executor), tls);
}

}  // namespace callslip
