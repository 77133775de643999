#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "common/mutex.h"
#include "common/status_matchers.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "tracker/server/async_server.h"
#include "tracker/server/testing/echo.grpc.pb.h"

// Shared by the tests of AsyncServer: an Echo service whose calls each test answers itself.
namespace callslip::tracker {

using testing::Echo;
using testing::EchoMessage;

inline constexpr char kEcho[] = "callslip.tracker.testing.Echo";

using EchoReply = DeferredReply<EchoMessage>;
using EchoStream = ServerStream<EchoMessage>;
using EchoDuplex = DuplexStream<EchoMessage, EchoMessage>;

// More than gRPC accepts for a peer that does not read (4 MiB), and more than sockets hold.
constexpr size_t kTooMuch = 16 << 20;

inline Outgoing<EchoMessage> Numbered(int64_t number, size_t text_bytes = 0) {
  Outgoing<EchoMessage> next;
  next.message.set_number(number);
  next.message.set_text(std::string(text_bytes, ' '));
  return next;
}

// Notifies when it is destroyed.
class Sentinel {
 public:
  explicit Sentinel(Notification* gone) : gone_(gone) {}
  ~Sentinel() { gone_->Notify(); }
  Sentinel(const Sentinel&) = delete;
  Sentinel& operator=(const Sentinel&) = delete;

 private:
  Notification* const gone_;
};

// Messages waiting to be sent. Thread-safe.
class Outbox {
 public:
  void Push(Outgoing<EchoMessage> message) {
    MutexLock lock(&mutex_);
    messages_.push_back(std::move(message));
  }

  std::optional<Outgoing<EchoMessage>> Pop() {
    MutexLock lock(&mutex_);
    if (messages_.empty()) return std::nullopt;
    auto next = std::make_optional(std::move(messages_.front()));
    messages_.pop_front();
    return next;
  }

 private:
  Mutex mutex_;
  std::deque<Outgoing<EchoMessage>> messages_ ABSL_GUARDED_BY(mutex_);
};

// A call that has reached the server, passed from its handler to the test.
template <typename Call>
class Arrival {
 public:
  void Set(std::shared_ptr<Call> call) {
    call_ = std::move(call);
    arrived_.Notify();
  }

  std::shared_ptr<Call> Take() {
    arrived_.Wait();
    return std::move(call_);
  }

 private:
  Notification arrived_;
  std::shared_ptr<Call> call_;
};

class AsyncServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    server_.AddService(kEcho);
    ASSERT_OK_AND_ASSIGN(address_, server_.Start(*ParseAddress("127.0.0.1:0"), 2));
    server_.ServeUnary<EchoMessage, EchoMessage>(
        {kEcho, "Say"}, [](const CallContext&, const EchoMessage& message, EchoMessage& echo) {
          if (message.text().empty()) {
            return absl::InvalidArgumentError("nothing to say");
          }
          echo = message;
          return absl::OkStatus();
        });
    server_.ServeHeld<EchoMessage, EchoMessage>(
        {kEcho, "Hold"}, [this](const CallContext&, const EchoMessage&,
                                std::shared_ptr<EchoReply> reply) { held_.Set(std::move(reply)); });
    server_.ServeStream<EchoMessage, EchoMessage>(
        {kEcho, "Listen"},
        [this](const CallContext&, const EchoMessage&, std::shared_ptr<EchoStream> stream) {
          listener_.Set(std::move(stream));
        });
    server_.ServeDuplex<EchoMessage, EchoMessage>(
        {kEcho, "Converse"}, [this](const CallContext&, std::shared_ptr<EchoDuplex> stream) {
          conversation_.Set(std::move(stream));
        });
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    stub_ = Echo::NewStub(grpc::CreateCustomChannel(address_.ToString(),
                                                    grpc::InsecureChannelCredentials(), arguments));
  }

  std::unique_ptr<grpc::ClientReader<EchoMessage>> Listen() { return stub_->Listen(&context_, {}); }
  std::unique_ptr<grpc::ClientReaderWriter<EchoMessage, EchoMessage>> Converse() {
    return stub_->Converse(&context_);
  }

  Arrival<EchoReply> held_;
  Arrival<EchoStream> listener_;
  Arrival<EchoDuplex> conversation_;
  AsyncServer server_;
  Address address_;
  std::unique_ptr<Echo::Stub> stub_;
  // For the one call that most tests make.
  grpc::ClientContext context_;
};

}  // namespace callslip::tracker
