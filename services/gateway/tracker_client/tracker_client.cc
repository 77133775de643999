#include "gateway/tracker_client/tracker_client.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "boost/asio/associated_cancellation_slot.hpp"
#include "boost/asio/associated_executor.hpp"
#include "boost/asio/async_result.hpp"
#include "boost/asio/post.hpp"
#include "boost/asio/use_awaitable.hpp"
#include "callslip/tracker/v1/command_service.grpc.pb.h"
#include "common/clock.h"
#include "common/error_details.h"
#include "gateway/timeouts.h"
#include "gateway/tracker_client/feed_watch.h"
#include "gateway/tracker_client/watch_call.h"
#include "gateway/tracker_client/watch_hub.h"
#include "rpc_client/grpc_calls.h"

namespace callslip::gateway {
namespace {

using Stub = v1::CommandService::Stub;

// A callback as an Asio handler.
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
      : rpc_(addresses, calls, executor, tls),
        stub_(v1::CommandService::NewStub(rpc_.channel())),
        executor_(executor),
        calls_(std::move(calls)),
        hub_(executor, &clock_, [this](WatchCall::Listener* listener) {
          return std::make_unique<GrpcWatchCall>(stub_.get(), calls_.get(), executor_, listener);
        }) {}

  ~GrpcTrackerClient() override { calls_->Stop(); }

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

  TrackerClientStatistics Statistics() override {
    return {.connected = rpc_.channel()->GetState(/*try_to_connect=*/true) == GRPC_CHANNEL_READY,
            .waits = hub_.waits(),
            .waited = hub_.waited()};
  }

  std::unique_ptr<CommandFeed> Watch(std::string client_id, std::string owner,
                                     v1::CommandFilter filter, bool only_changes) override {
    return BeginFeed(executor_, &hub_, std::move(client_id), std::move(owner), std::move(filter),
                     only_changes);
  }

  void EndCalls() override {
    rpc_.EndCalls();
    hub_.EndAll();
  }

 protected:
  boost::asio::awaitable<absl::Status> Send(const google::protobuf::MethodDescriptor& method,
                                            const google::protobuf::Message& request,
                                            CallOptions options,
                                            google::protobuf::Message* response) override {
    return rpc_.Send(method, request, options, response);
  }
  std::unique_ptr<MessageSource> Begin(const google::protobuf::MethodDescriptor& method,
                                       const google::protobuf::Message& request) override {
    return rpc_.Begin(method, request);
  }

 private:
  using Subject = gateway::Watch::Subject;

  // A wait with no time is a look: a watch that reports the current state at once, because every
  // revision is above 0. Simultaneous looks share one message in each direction, which costs less
  // than a call for each.
  Subject EndOf(std::string client_id, std::string command_id, absl::Duration max_wait) {
    const bool waits = max_wait > absl::ZeroDuration();
    return {.client_id = std::move(client_id),
            .command_id = std::move(command_id),
            .until = clock_.Now() + (waits ? max_wait : kUnaryDeadline - kRpcMargin),
            .only_end = waits};
  }
  // A tracker that accepts no more waits still answers calls.
  static bool IsOfWaiting(const absl::Status& status) {
    const std::string reason = DetailsOf(status).reason;
    return reason == "too_many_waits" || reason == "draining";
  }

  // A waiting caller. A coroutine is resumed by a post, because it may wait again.
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

  // Not a coroutine itself, whose frame would double the cost of a wait.
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

  // Completes GetAfterWait() for `handler`.
  template <typename Handler>
  struct AfterWait {
    using executor_type = boost::asio::associated_executor_t<Handler>;
    using cancellation_slot_type = boost::asio::associated_cancellation_slot_t<Handler>;

    executor_type get_executor() const { return boost::asio::get_associated_executor(handler); }
    cancellation_slot_type get_cancellation_slot() const {
      return boost::asio::get_associated_cancellation_slot(handler);
    }

    void operator()(absl::Status status) {
      if (status.ok()) {
        std::move(handler)(absl::StatusOr<v1::Command>(std::move(*response->mutable_command())));
      } else if (IsOfConnection(status) && client->clock_.Now() < until + kRpcMargin) {
        // The hub retries as long as there is time.
        client->BeginWait(Subject{.client_id = std::move(client_id),
                                  .command_id = std::move(command_id),
                                  .until = until},
                          std::move(handler));
      } else {
        std::move(handler)(absl::StatusOr<v1::Command>(std::move(status)));
      }
    }

    GrpcTrackerClient* client;
    std::string client_id;
    std::string command_id;
    absl::Time until;
    std::unique_ptr<v1::GetCommandResponse> response;
    Handler handler;
  };

  // Gets the current state, within what is left of the wait's margin.
  template <typename Handler>
  void GetAfterWait(const Subject& subject, Handler handler) {
    v1::GetCommandRequest request;
    request.set_client_id(subject.client_id);
    request.set_command_id(subject.command_id);
    const absl::Duration left = subject.until + kRpcMargin - clock_.Now();
    auto response = std::make_unique<v1::GetCommandResponse>();
    v1::GetCommandResponse* const to = response.get();
    rpc_.Start(MethodFor<v1::GetCommandRequest>(), request,
               std::clamp(left, absl::ZeroDuration(), kUnaryDeadline), to,
               AfterWait<Handler>{this, subject.client_id, subject.command_id, subject.until,
                                  std::move(response), std::move(handler)});
  }

  GrpcCalls rpc_;
  const std::unique_ptr<Stub> stub_;
  const boost::asio::any_io_executor executor_;
  const std::shared_ptr<CallQueue> calls_;
  RealClock clock_;
  WatchHub hub_;
};

}  // namespace

TrackerClient::Result<v1::Command> TrackerClient::Get(std::string client_id, std::string command_id,
                                                      bool peek) {
  v1::GetCommandRequest request;
  request.set_client_id(std::move(client_id));
  request.set_command_id(std::move(command_id));
  request.set_peek(peek);
  auto response = co_await Call(std::move(request));
  if (!response.ok()) co_return std::move(response).status();
  co_return std::move(*response->mutable_command());
}

std::unique_ptr<TrackerClient> ConnectToTracker(const std::vector<Address>& addresses,
                                                std::shared_ptr<CallQueue> calls,
                                                boost::asio::any_io_executor executor,
                                                const std::optional<TlsFiles>& tls) {
  return std::make_unique<GrpcTrackerClient>(addresses, std::move(calls), executor, tls);
}

}  // namespace callslip::gateway
