#include "gateway/tracker_client/tracker_client.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "boost/asio/associated_cancellation_slot.hpp"
#include "boost/asio/associated_executor.hpp"
#include "boost/asio/async_result.hpp"
#include "boost/asio/post.hpp"
#include "boost/asio/steady_timer.hpp"
#include "boost/asio/use_awaitable.hpp"
#include "callslip/tracker/v1/admin_service.grpc.pb.h"
#include "callslip/tracker/v1/annotation_service.grpc.pb.h"
#include "callslip/tracker/v1/command_service.grpc.pb.h"
#include "callslip/tracker/v1/worker_service.grpc.pb.h"
#include "common/clock.h"
#include "common/error_details.h"
#include "gateway/timeouts.h"
#include "gateway/tracker_client/feed_watch.h"
#include "gateway/tracker_client/watch_call.h"
#include "gateway/tracker_client/watch_hub.h"
#include "rpc_client/async_call.h"
#include "rpc_client/channel.h"
#include "rpc_client/client_span.h"

namespace callslip::gateway {
namespace {

using Stub = v1::CommandService::Stub;
using AnnotationStub = v1::AnnotationService::Stub;
using WorkerStub = v1::WorkerService::Stub;
using AdminStub = v1::AdminService::Stub;

absl::Duration DurationOf(const google::protobuf::Duration& duration) {
  return absl::Seconds(duration.seconds()) + absl::Nanoseconds(duration.nanos());
}

// The connection's, not the tracker's: nobody knows what became of the call.
bool IsOfConnection(const absl::Status& status) {
  return !status.ok() && DetailsOf(status).reason.empty();
}

// Between two attempts at one call.
constexpr absl::Duration kRetryPause = absl::Milliseconds(100);

// A callback as a handler of Asio.
struct CallbackHandler {
  using executor_type = boost::asio::any_io_executor;
  using cancellation_slot_type = boost::asio::cancellation_slot;

  executor_type get_executor() const { return *executor; }
  cancellation_slot_type get_cancellation_slot() const { return slot; }
  void operator()(absl::StatusOr<v1::Command> command) { std::move(done)(std::move(command)); }

  const boost::asio::any_io_executor* executor;
  boost::asio::cancellation_slot slot;
  TrackerClient::WaitDone done;
};

class GrpcTrackerClient final : public TrackerClient {
 public:
  GrpcTrackerClient(const std::vector<Address>& addresses, std::shared_ptr<CallQueue> calls,
                    const boost::asio::any_io_executor& executor,
                    const std::optional<TlsFiles>& tls)
      : channel_(ConnectChannel(addresses, tls)),
        stub_(v1::CommandService::NewStub(channel_)),
        annotations_(v1::AnnotationService::NewStub(channel_)),
        workers_(v1::WorkerService::NewStub(channel_)),
        admin_(v1::AdminService::NewStub(channel_)),
        executor_(executor),
        calls_(std::move(calls)),
        hub_(executor, &clock_, [this](WatchCall::Listener* listener) {
          return std::make_unique<GrpcWatchCall>(stub_.get(), calls_.get(), executor_, listener);
        }) {}

  ~GrpcTrackerClient() override { calls_->Stop(); }

  Result<v1::RegisterCommandResponse> Register(v1::RegisterCommandRequest request) override {
    if (Spans() != nullptr) return RegisterInTrace(std::move(request));
    return Repeatable(&Stub::PrepareAsyncRegisterCommand, std::move(request));
  }
  Result<v1::ListCommandsResponse> List(v1::ListCommandsRequest request,
                                        absl::Duration deadline) override {
    return Unary(&Stub::PrepareAsyncListCommands, std::move(request), deadline);
  }
  Result<v1::LeaseCommandsResponse> Lease(v1::LeaseCommandsRequest request) override {
    const absl::Duration deadline =
        std::max(kUnaryDeadline, DurationOf(request.max_wait()) + kRpcMargin);
    return Unary(&Stub::PrepareAsyncLeaseCommands, std::move(request), deadline);
  }
  Result<v1::AcknowledgeCommandResponse> Acknowledge(v1::AcknowledgeCommandRequest request,
                                                     WorkerTrace trace) override {
    return Report(&Stub::PrepareAsyncAcknowledgeCommand, std::move(request),
                  "callslip.tracker.v1.CommandService/AcknowledgeCommand", std::move(trace));
  }
  Result<v1::CompleteCommandResponse> Complete(v1::CompleteCommandRequest request,
                                               WorkerTrace trace) override {
    return Report(&Stub::PrepareAsyncCompleteCommand, std::move(request),
                  "callslip.tracker.v1.CommandService/CompleteCommand", std::move(trace));
  }

  Result<v1::CancelCommandResponse> Cancel(v1::CancelCommandRequest request) override {
    return Unary(&Stub::PrepareAsyncCancelCommand, std::move(request), kUnaryDeadline,
                 OnCancel::kGoOn);
  }
  Result<v1::ExpireCommandResponse> Expire(v1::ExpireCommandRequest request) override {
    return Unary(&Stub::PrepareAsyncExpireCommand, std::move(request), kUnaryDeadline,
                 OnCancel::kGoOn);
  }
  Result<v1::ReplayCommandResponse> Replay(v1::ReplayCommandRequest request) override {
    return Unary(&Stub::PrepareAsyncReplayCommand, std::move(request), kUnaryDeadline,
                 OnCancel::kGoOn);
  }

  Result<v1::Command> Get(std::string client_id, std::string command_id, bool peek) override {
    v1::GetCommandRequest request;
    request.set_client_id(std::move(client_id));
    request.set_command_id(std::move(command_id));
    request.set_peek(peek);
    auto response =
        co_await Unary(&Stub::PrepareAsyncGetCommand, std::move(request), kUnaryDeadline);
    if (!response.ok()) co_return std::move(response).status();
    co_return std::move(*response->mutable_command());
  }

  Result<v1::Command> WaitForEnd(std::string client_id, std::string command_id,
                                 absl::Duration max_wait) override {
    return Wait(EndOf(std::move(client_id), std::move(command_id), max_wait));
  }
  void BeginWaitForEnd(std::string client_id, std::string command_id, absl::Duration max_wait,
                       boost::asio::cancellation_slot slot, WaitDone done) override {
    BeginWait(EndOf(std::move(client_id), std::move(command_id), max_wait),
              CallbackHandler{&executor_, slot, std::move(done)});
  }
  Result<v1::Command> WaitForChange(std::string client_id, std::string command_id,
                                    int64_t after_revision, absl::Duration max_wait) override {
    if (max_wait <= absl::ZeroDuration()) {
      return Get(std::move(client_id), std::move(command_id), /*peek=*/false);
    }
    return Wait({.client_id = std::move(client_id),
                 .command_id = std::move(command_id),
                 .after_revision = after_revision,
                 .until = clock_.Now() + max_wait});
  }

  Result<v1::RequestAnnotationsResponse> RequestAnnotations(
      v1::RequestAnnotationsRequest request) override {
    return Repeatable(&AnnotationStub::PrepareAsyncRequestAnnotations, std::move(request));
  }
  Result<v1::AppendAnnotationsResponse> AppendAnnotations(
      v1::AppendAnnotationsRequest request) override {
    return Unary(&AnnotationStub::PrepareAsyncAppendAnnotations, std::move(request), kUnaryDeadline,
                 OnCancel::kGoOn);
  }
  Result<v1::ListAnnotationsResponse> ListAnnotations(v1::ListAnnotationsRequest request) override {
    return Unary(&AnnotationStub::PrepareAsyncListAnnotations, std::move(request), kUnaryDeadline);
  }
  Result<v1::ReportWorkerResponse> ReportWorker(v1::ReportWorkerRequest request) override {
    return Unary(&WorkerStub::PrepareAsyncReportWorker, std::move(request), kUnaryDeadline,
                 OnCancel::kGoOn);
  }
  Result<v1::ListWorkersResponse> ListWorkers(v1::ListWorkersRequest request,
                                              absl::Duration deadline) override {
    return Unary(&WorkerStub::PrepareAsyncListWorkers, std::move(request), deadline);
  }
  Result<v1::ListTargetsResponse> ListTargets(v1::ListTargetsRequest request) override {
    return Unary(&WorkerStub::PrepareAsyncListTargets, std::move(request), kUnaryDeadline);
  }
  Result<v1::AppendWorkerLogResponse> AppendWorkerLog(v1::AppendWorkerLogRequest request) override {
    return Unary(&WorkerStub::PrepareAsyncAppendWorkerLog, std::move(request), kUnaryDeadline,
                 OnCancel::kGoOn);
  }
  Result<v1::ListWorkerLogResponse> ListWorkerLog(v1::ListWorkerLogRequest request) override {
    return Unary(&WorkerStub::PrepareAsyncListWorkerLog, std::move(request), kUnaryDeadline);
  }

  Result<v1::GetHealthResponse> GetHealth(v1::GetHealthRequest request,
                                          absl::Duration deadline) override {
    return Unary(&AdminStub::PrepareAsyncGetHealth, std::move(request), deadline);
  }

  TrackerClientStatistics Statistics() override {
    return {.connected = channel_->GetState(/*try_to_connect=*/true) == GRPC_CHANNEL_READY,
            .waits = hub_.waits(),
            .waited = hub_.waited()};
  }

  std::unique_ptr<CommandFeed> Watch(std::string client_id, std::string owner,
                                     v1::CommandFilter filter, bool only_changes) override {
    return BeginFeed(executor_, &hub_, std::move(client_id), std::move(owner), std::move(filter),
                     only_changes);
  }

  void EndCalls() override {
    calls_->EndWaits();
    hub_.EndAll();
  }

 private:
  using Subject = gateway::Watch::Subject;

  // A wait of no time is a look: a watch that tells the present state at once, since every revision
  // is above 0. What is looked at at the same time goes out in one message, and comes back in one,
  // which costs less than a call for each.
  Subject EndOf(std::string client_id, std::string command_id, absl::Duration max_wait) {
    const bool waits = max_wait > absl::ZeroDuration();
    return {.client_id = std::move(client_id),
            .command_id = std::move(command_id),
            .until = clock_.Now() + (waits ? max_wait : kUnaryDeadline - kRpcMargin),
            .only_end = waits};
  }
  // Where the tracker takes no more waits, it still answers calls.
  static bool IsOfWaiting(const absl::Status& status) {
    const std::string reason = DetailsOf(status).reason;
    return reason == "too_many_waits" || reason == "draining";
  }

  // Somebody who waits. A coroutine is resumed by a post, since it may wait again.
  template <typename Handler>
  class WaitOp final : public gateway::Watch {
   public:
    WaitOp(Subject subject, GrpcTrackerClient* client, Handler handler)
        : Watch(std::move(subject)), client_(client), handler_(std::move(handler)) {}

    void OnUpdate(v1::CommandUpdate update) override {
      v1::Command command = std::move(*update.mutable_command());
      if constexpr (std::is_same_v<Handler, CallbackHandler>) {
        slot().clear();
        handler_(std::move(command));
      } else {
        Deliver(std::move(command));
      }
    }
    void OnEnd(absl::Status status) override {
      if (status.ok() || (subject().is_look() && IsOfWaiting(status))) {
        client_->GetAfterWait(subject(), std::move(handler_));
      } else {
        Deliver(std::move(status));
      }
    }

    auto slot() { return boost::asio::get_associated_cancellation_slot(handler_); }

   private:
    void Deliver(absl::StatusOr<v1::Command> result) {
      boost::asio::post(client_->executor_,
                        [handler = std::move(handler_), result = std::move(result)]() mutable {
                          boost::asio::get_associated_cancellation_slot(handler).clear();
                          std::move(handler)(std::move(result));
                        });
    }

    GrpcTrackerClient* const client_;
    Handler handler_;
  };

  // Not a coroutine itself: the frame of one would double what a wait costs.
  Result<v1::Command> Wait(Subject subject) {
    return boost::asio::async_initiate<const boost::asio::use_awaitable_t<>&,
                                       void(absl::StatusOr<v1::Command>)>(
        [client = this](auto handler, std::unique_ptr<Subject> what) {
          client->BeginWait(std::move(*what), std::move(handler));
        },
        boost::asio::use_awaitable, std::make_unique<Subject>(std::move(subject)));
  }

  template <typename Handler>
  void BeginWait(Subject subject, Handler handler) {
    auto op = std::make_unique<WaitOp<Handler>>(std::move(subject), this, std::move(handler));
    auto slot = op->slot();
    const int64_t watch_id = hub_.Begin(std::move(op));
    if (!slot.is_connected()) return;
    slot.assign([this, watch_id](boost::asio::cancellation_type) {
      if (const auto watch = hub_.Remove(watch_id)) {
        watch->OnEnd(absl::CancelledError("the caller has left"));
      }
    });
  }

  // What becomes of GetAfterWait(), for `handler`.
  template <typename Handler>
  struct AfterWait {
    using executor_type = boost::asio::associated_executor_t<Handler>;
    using cancellation_slot_type = boost::asio::associated_cancellation_slot_t<Handler>;

    executor_type get_executor() const { return boost::asio::get_associated_executor(handler); }
    cancellation_slot_type get_cancellation_slot() const {
      return boost::asio::get_associated_cancellation_slot(handler);
    }

    void operator()(absl::StatusOr<v1::GetCommandResponse> response) {
      if (response.ok()) {
        std::move(handler)(absl::StatusOr<v1::Command>(std::move(*response->mutable_command())));
      } else if (IsOfConnection(response.status()) && client->clock_.Now() < until + kRpcMargin) {
        // The hub asks for as long as there is time.
        client->BeginWait(Subject{.client_id = std::move(client_id),
                                  .command_id = std::move(command_id),
                                  .until = until},
                          std::move(handler));
      } else {
        std::move(handler)(absl::StatusOr<v1::Command>(std::move(response).status()));
      }
    }

    GrpcTrackerClient* client;
    std::string client_id;
    std::string command_id;
    absl::Time until;
    Handler handler;
  };

  // The present state, within what is left of the wait's margin.
  template <typename Handler>
  void GetAfterWait(const Subject& subject, Handler handler) {
    v1::GetCommandRequest request;
    request.set_client_id(subject.client_id);
    request.set_command_id(subject.command_id);
    const absl::Duration left = subject.until + kRpcMargin - clock_.Now();
    StartUnary<v1::GetCommandResponse>(
        calls_.get(), std::clamp(left, absl::ZeroDuration(), kUnaryDeadline), OnCancel::kEndCall,
        [this, request = std::move(request)](grpc::ClientContext* context) {
          return stub_->PrepareAsyncGetCommand(context, request, calls_->queue());
        },
        AfterWait<Handler>{this, subject.client_id, subject.command_id, subject.until,
                           std::move(handler)});
  }

  Result<v1::RegisterCommandResponse> RegisterInTrace(v1::RegisterCommandRequest request) {
    TraceContext trace = TraceContext::Parse(request.traceparent()).value_or(TraceContext());
    ActiveSpan span = BeginClientSpan("callslip.tracker.v1.CommandService/RegisterCommand", trace);
    request.set_traceparent(trace.ToString());
    auto response = co_await Repeatable(&Stub::PrepareAsyncRegisterCommand, std::move(request));
    EndClientSpan(response.status(), span);
    co_return response;
  }

  // What a worker reports, in its trace, which goes along as metadata.
  template <typename Request, typename Response>
  Result<Response> Report(std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> (
                              Stub::*prepare)(grpc::ClientContext*, const Request&,
                                              grpc::CompletionQueue*),
                          Request request, absl::string_view method, WorkerTrace trace) {
    if (trace.context.empty()) {
      return Unary(prepare, std::move(request), kUnaryDeadline, OnCancel::kGoOn);
    }
    return ReportInTrace(prepare, std::move(request), method, std::move(trace));
  }

  template <typename Request, typename Response>
  Result<Response> ReportInTrace(std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> (
                                     Stub::*prepare)(grpc::ClientContext*, const Request&,
                                                     grpc::CompletionQueue*),
                                 Request request, absl::string_view method, WorkerTrace trace) {
    ActiveSpan span = BeginClientSpan(method, trace.context);
    const auto start = [this, prepare, &trace, &request](grpc::ClientContext* context) {
      context->AddMetadata("traceparent", trace.context.ToString());
      if (!trace.tracestate.empty()) context->AddMetadata("tracestate", trace.tracestate);
      return (stub_.get()->*prepare)(context, request, calls_->queue());
    };
    absl::StatusOr<Response> response =
        co_await AwaitUnary<Response>(calls_.get(), kUnaryDeadline, OnCancel::kGoOn, start);
    EndClientSpan(response.status(), span);
    co_return response;
  }

  // A call that hands something over. With a request_id, it is made again within its deadline where
  // the connection broke: it is the same command then.
  template <typename AnyStub, typename Request, typename Response>
  Result<Response> Repeatable(std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> (
                                  AnyStub::*prepare)(grpc::ClientContext*, const Request&,
                                                     grpc::CompletionQueue*),
                              Request request) {
    const absl::Time until = clock_.Now() + kUnaryDeadline;
    // Serialized when the call starts, so that it is here for the next one.
    const auto start = [this, prepare, &request](grpc::ClientContext* context) {
      return (StubOf<AnyStub>().*prepare)(context, request, calls_->queue());
    };
    while (true) {
      absl::StatusOr<Response> response =
          co_await AwaitUnary<Response>(calls_.get(), until - clock_.Now(), OnCancel::kGoOn, start);
      const bool again = IsOfConnection(response.status()) && !request.request_id().empty() &&
                         clock_.Now() + kRetryPause < until;
      if (!again) co_return response;
      boost::asio::steady_timer pause(executor_, absl::ToChronoNanoseconds(kRetryPause));
      co_await pause.async_wait(boost::asio::use_awaitable);
    }
  }

  template <typename AnyStub, typename Request, typename Response>
  Result<Response> Unary(std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> (
                             AnyStub::*prepare)(grpc::ClientContext*, const Request&,
                                                grpc::CompletionQueue*),
                         Request request, absl::Duration deadline,
                         OnCancel on_cancel = OnCancel::kEndCall) {
    return AwaitUnary<Response>(
        calls_.get(), deadline, on_cancel,
        [this, prepare, request = std::move(request)](grpc::ClientContext* context) {
          return (StubOf<AnyStub>().*prepare)(context, request, calls_->queue());
        });
  }

  template <typename AnyStub>
  AnyStub& StubOf() {
    if constexpr (std::is_same_v<AnyStub, AnnotationStub>) {
      return *annotations_;
    } else if constexpr (std::is_same_v<AnyStub, WorkerStub>) {
      return *workers_;
    } else if constexpr (std::is_same_v<AnyStub, AdminStub>) {
      return *admin_;
    } else {
      return *stub_;
    }
  }

  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<Stub> stub_;
  const std::unique_ptr<AnnotationStub> annotations_;
  const std::unique_ptr<WorkerStub> workers_;
  const std::unique_ptr<AdminStub> admin_;
  const boost::asio::any_io_executor executor_;
  const std::shared_ptr<CallQueue> calls_;
  RealClock clock_;
  WatchHub hub_;
};

}  // namespace

std::unique_ptr<TrackerClient> ConnectToTracker(const std::vector<Address>& addresses,
                                                std::shared_ptr<CallQueue> calls,
                                                boost::asio::any_io_executor executor,
                                                const std::optional<TlsFiles>& tls) {
  return std::make_unique<GrpcTrackerClient>(addresses, std::move(calls), executor, tls);
}

}  // namespace callslip::gateway
