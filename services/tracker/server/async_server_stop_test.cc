// Stop() while callers come and leave and while answers are given. gRPC aborts where an operation
// is started on a queue that was shut down.
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tracker/server/async_server_test_fixture.h"

namespace callslip::tracker {
namespace {

// More rounds find a mistake more likely; CI uses this number as a regression test.
constexpr int kRounds = 20;
constexpr int kConnections = 4;
// Of all callers, before the server stops.
constexpr int kCallsBeforeStop = 100;

// A server of all kinds of calls. Held calls are answered, and streams woken, by a thread of the
// service's own too, which knows nothing of the stop.
class BusyServer {
 public:
  BusyServer() {
    server_.AddService(kEcho);
    address_ = *server_.Start(*ParseAddress("127.0.0.1:0"), 2);
    server_.ServeUnary<EchoMessage, EchoMessage>(
        {kEcho, "Say"}, [this](const CallContext&, const EchoMessage& message, EchoMessage& echo) {
          Count();
          echo = message;
          return absl::OkStatus();
        });
    server_.ServeHeld<EchoMessage, EchoMessage>(
        {kEcho, "Hold"},
        [this](const CallContext&, const EchoMessage&, std::shared_ptr<EchoReply> reply) {
          Count();
          KeepReply(std::move(reply));
        });
    server_.ServeStream<EchoMessage, EchoMessage>(
        {kEcho, "Listen"},
        [this](const CallContext&, const EchoMessage&, std::shared_ptr<EchoStream> stream) {
          Count();
          stream->SetSource([left = 3]() mutable {
            return left-- > 0 ? std::make_optional(Numbered(left)) : std::nullopt;
          });
          KeepStream(std::move(stream));
        });
    server_.ServeDuplex<EchoMessage, EchoMessage>(
        {kEcho, "Converse"}, [this](const CallContext&, std::shared_ptr<EchoDuplex> stream) {
          Count();
          Converse(std::move(stream));
        });
    answerer_ = std::thread([this] { Answer(); });
  }

  ~BusyServer() {
    over_ = true;
    answerer_.join();
  }

  void AwaitCalls() { busy_.Wait(); }
  void Stop() { server_.Stop(absl::ZeroDuration()); }
  const Address& address() const { return address_; }

 private:
  void Count() {
    if (++calls_ == kCallsBeforeStop) busy_.Notify();
  }

  void KeepReply(std::shared_ptr<EchoReply> reply) {
    MutexLock lock(&mutex_);
    replies_.push_back(std::move(reply));
  }

  void KeepStream(std::shared_ptr<EchoStream> stream) {
    MutexLock lock(&mutex_);
    streams_.push_back(std::move(stream));
  }

  static void Converse(std::shared_ptr<EchoDuplex> stream) {
    const auto outbox = std::make_shared<Outbox>();
    stream->SetSource([outbox] { return outbox->Pop(); });
    stream->OnCallerLeft([stream] { stream->Wake(); });
    stream->SetReceiver(
        [outbox, stream](const EchoMessage& request) {
          outbox->Push({.message = request});
          stream->Wake();
        },
        [stream] { stream->Finish(absl::OkStatus()); });
  }

  void Answer() {
    while (!over_) {
      std::vector<std::shared_ptr<EchoReply>> replies;
      std::vector<std::shared_ptr<EchoStream>> streams;
      {
        MutexLock lock(&mutex_);
        replies.swap(replies_);
        streams.swap(streams_);
      }
      for (const auto& reply : replies) reply->Finish({}, [] {});
      for (const auto& stream : streams) {
        stream->Wake();
        stream->Finish(absl::OkStatus());
      }
      std::this_thread::yield();
    }
  }

  std::atomic<int> calls_{0};
  Notification busy_;
  std::atomic<bool> over_{false};
  Mutex mutex_;
  std::vector<std::shared_ptr<EchoReply>> replies_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<EchoStream>> streams_ ABSL_GUARDED_BY(mutex_);
  Address address_;
  AsyncServer server_;
  std::thread answerer_;
};

// Makes calls of all kinds on a connection of its own, and leaves most of them, until `stopped`.
void CallAndLeave(const Address& address, const std::atomic<bool>& stopped) {
  grpc::ChannelArguments own;
  own.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  const auto stub = Echo::NewStub(
      grpc::CreateCustomChannel(address.ToString(), grpc::InsecureChannelCredentials(), own));
  while (!stopped) {
    std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
    const auto context = [&contexts] {
      contexts.push_back(std::make_unique<grpc::ClientContext>());
      return contexts.back().get();
    };
    const auto idle = stub->Converse(context());
    const auto talking = stub->Converse(context());
    const auto listening = stub->Listen(context(), {});
    const auto done = stub->Converse(context());
    EchoMessage message;
    (void)talking->Write({});
    (void)done->WritesDone();
    (void)stub->Say(context(), {}, &message);
    (void)stub->Hold(context(), {}, &message);
    for (const auto& each : contexts) each->TryCancel();
    (void)idle->Finish();
    (void)talking->Finish();
    (void)listening->Finish();
    (void)done->Finish();
  }
}

TEST(AsyncServerStopTest, StopsWhileCallersComeAndLeave) {
  for (int round = 0; round < kRounds; ++round) {
    BusyServer server;
    std::atomic<bool> stopped{false};
    std::vector<std::thread> callers;
    for (int i = 0; i < kConnections; ++i) {
      callers.emplace_back([&] { CallAndLeave(server.address(), stopped); });
    }
    server.AwaitCalls();
    server.Stop();
    stopped = true;
    for (std::thread& caller : callers) caller.join();
  }
}

}  // namespace
}  // namespace callslip::tracker
