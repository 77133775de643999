// AsyncServer with gRPC's own client, and with a peer that is not gRPC.
#include "tracker/server/async_server.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/error_details.h"
#include "google/protobuf/duration.pb.h"
#include "telemetry/testing/fake_span_sink.h"
#include "tracker/server/async_server_test_fixture.h"

namespace callslip::tracker {
namespace {

using absl::StatusCode;

TEST(AsyncServerDeathTest, NamesAndMessagesMustMatchTheProtos) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto serve = [](const RpcName& rpc) {
    AsyncServer server;
    server.AddService(kEcho);
    server.ServeStream<EchoMessage, EchoMessage>(
        rpc, [](const CallContext&, const EchoMessage&, auto) {});
  };
  EXPECT_DEATH(AsyncServer().AddService("callslip.NoService"), "no service callslip.NoService");
  EXPECT_DEATH(serve({kEcho, "Shout"}), "no method callslip.tracker.testing.Echo.Shout");
  EXPECT_DEATH(serve({"callslip.Other", "Listen"}), "of a service that was not added");
  EXPECT_DEATH(serve({kEcho, "Say"}), "Echo.Say streams in another way");
  const auto serve_duration = [] {
    AsyncServer server;
    server.AddService(kEcho);
    server.ServeStream<EchoMessage, google::protobuf::Duration>(
        {kEcho, "Listen"}, [](const CallContext&, const EchoMessage&, auto) {});
  };
  EXPECT_DEATH(serve_duration(), "Echo.Listen has other messages");
}

TEST_F(AsyncServerTest, UnaryHandlerAnswersOrFails) {
  EchoMessage message;
  message.set_text("hello");
  EchoMessage answer;
  EXPECT_TRUE(stub_->Say(&context_, message, &answer).ok());
  EXPECT_EQ(answer.text(), "hello");
  grpc::ClientContext context;
  const grpc::Status status = stub_->Say(&context, {}, &answer);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(), "nothing to say");
}

TEST_F(AsyncServerTest, HeldCallIsAnsweredOnce) {
  EchoMessage answer;
  std::thread caller([&] { EXPECT_TRUE(stub_->Hold(&context_, {}, &answer).ok()); });
  const auto reply = held_.Take();
  bool lost = false;
  reply->Finish(Numbered(7).message, [] { ADD_FAILURE() << "lost"; });
  reply->Finish(Numbered(8).message, [&lost] { lost = true; });
  reply->Fail(absl::InternalError("too late"));
  EXPECT_TRUE(lost);
  caller.join();
  EXPECT_EQ(answer.number(), 7);
}

TEST_F(AsyncServerTest, AnswerToACallerThatHasLeftIsLost) {
  std::thread caller([&] {
    EchoMessage answer;
    EXPECT_EQ(stub_->Hold(&context_, {}, &answer).error_code(), grpc::StatusCode::CANCELLED);
  });
  const auto reply = held_.Take();
  Notification left;
  reply->OnCallerLeft([&left] { left.Notify(); });
  context_.TryCancel();
  left.Wait();
  bool lost = false;
  reply->Finish({}, [&lost] { lost = true; });
  EXPECT_TRUE(lost);
  caller.join();
}

class AsyncServerSpansTest : public AsyncServerTest {
 protected:
  AsyncServerSpansTest() {
    context_.AddMetadata("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
  }

  // `rpc.response.status_code`, and the reason if there is one, of the only span so far.
  std::string End() {
    const std::vector<Span> spans = sink_.Take();
    if (spans.size() != 1) return absl::StrCat(spans.size(), " spans");
    std::string end;
    for (const SpanAttribute& each : spans.front().attributes) {
      const bool is_told =
          each.key == "rpc.response.status_code" || each.key == "callslip.error.reason";
      if (is_told) absl::StrAppend(&end, end.empty() ? "" : " ", std::get<std::string>(each.value));
    }
    return end;
  }

  FakeSpanSink sink_;
};

TEST_F(AsyncServerSpansTest, SpanOfAHeldCallEndsWhenItsAnswerIsSent) {
  EchoMessage answer;
  std::thread caller([&] { EXPECT_TRUE(stub_->Hold(&context_, {}, &answer).ok()); });
  const auto reply = held_.Take();
  EXPECT_EQ(End(), "0 spans");
  reply->Finish({}, [] {});
  EXPECT_EQ(End(), "OK");
  caller.join();
  // The histogram leads to it.
  server_.Stop(absl::Seconds(10));
  for (const RpcStatistics& rpc : server_.Statistics()) {
    EXPECT_EQ(rpc.latency.exemplars.empty(), rpc.method != "Hold") << rpc.method;
  }
}

TEST_F(AsyncServerSpansTest, SpanOfAHeldCallEndsWithTheReasonOfItsError) {
  EchoMessage answer;
  std::thread caller([&] { EXPECT_FALSE(stub_->Hold(&context_, {}, &answer).ok()); });
  held_.Take()->Fail(ErrorWithDetails(StatusCode::kNotFound, "gone", {.reason = "unknown_echo"}));
  EXPECT_EQ(End(), "NOT_FOUND unknown_echo");
  caller.join();
}

TEST_F(AsyncServerSpansTest, SpanOfAStreamEndsWithItsStatus) {
  const auto reader = Listen();
  listener_.Take()->Finish(absl::AbortedError("enough"));
  EXPECT_EQ(End(), "ABORTED");
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::ABORTED);
}

TEST_F(AsyncServerSpansTest, SpanEndsAsCancelledWhenCallerLeaves) {
  std::thread caller([&] {
    EchoMessage answer;
    EXPECT_EQ(stub_->Hold(&context_, {}, &answer).error_code(), grpc::StatusCode::CANCELLED);
  });
  const auto reply = held_.Take();
  Notification left;
  reply->OnCallerLeft([&left] { left.Notify(); });
  context_.TryCancel();
  left.Wait();
  EXPECT_EQ(End(), "CANCELLED");
  reply->Finish({}, [] {});
  EXPECT_EQ(End(), "0 spans");
  caller.join();
}

// An HTTP/2 peer that opens one stream, allows it any amount of data, and reads nothing.
class DeafPeer {
 public:
  DeafPeer(const Address& address, const std::string& method) {
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in name = {};
    name.sin_family = AF_INET;
    name.sin_port = htons(address.port);
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd_, reinterpret_cast<const sockaddr*>(&name), sizeof(name)), 0);
    std::string headers("\x83\x86", 2);  // :method POST, :scheme http
    for (const auto& [key, value] :
         std::vector<std::pair<std::string, std::string>>{{":path", method},
                                                          {":authority", "localhost"},
                                                          {"content-type", "application/grpc"},
                                                          {"te", "trailers"}}) {
      headers.append({'\0', static_cast<char>(key.size())}).append(key);
      headers.append({static_cast<char>(value.size())}).append(value);
    }
    const std::string bytes =
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" +
        // INITIAL_WINDOW_SIZE and the connection's window, both as large as can be.
        Frame('\x4', 0, 0, std::string("\0\4\x7f\xff\xff\xff", 6)) +
        Frame('\x8', 0, 0, std::string("\x7f\xff\0\0", 4)) +
        // Headers, then an empty request, which is the last.
        Frame('\x1', '\x4', 1, headers) + Frame('\0', '\1', 1, std::string(5, '\0'));
    EXPECT_EQ(send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  ~DeafPeer() { close(fd_); }
  DeafPeer(const DeafPeer&) = delete;
  DeafPeer& operator=(const DeafPeer&) = delete;

 private:
  static std::string Frame(char type, char flags, char stream, const std::string& payload) {
    const std::string head = {
        '\0', '\0', static_cast<char>(payload.size()), type, flags, '\0', '\0', '\0', stream};
    return head + payload;
  }

  int fd_ = -1;
};

TEST_F(AsyncServerTest, StopDoesNotWaitForAPeerThatReadsNothing) {
  const DeafPeer peer(address_, "/callslip.tracker.testing.Echo/Listen");
  auto stream = listener_.Take();
  Notification under_way;
  Notification dropped;
  stream->SetSource([&under_way, sentinel = std::make_shared<Sentinel>(&dropped)] {
    under_way.Notify();
    return std::make_optional(Numbered(0, kTooMuch));
  });
  stream->Wake();
  stream = nullptr;
  under_way.Wait();
  server_.Stop(absl::ZeroDuration());
  EXPECT_TRUE(dropped.HasBeenNotified());
}

TEST_F(AsyncServerTest, StopCancelsCallsThatOutlastTheGracePeriod) {
  const auto reader = Listen();
  auto stream = listener_.Take();
  bool left = false;
  stream->OnCallerLeft([&left] { left = true; });
  stream = nullptr;
  server_.Stop(absl::ZeroDuration());
  EXPECT_TRUE(left);
  EXPECT_FALSE(reader->Finish().ok());
}

TEST_F(AsyncServerTest, SecondServerOnThePortIsRefused) {
  AsyncServer second;
  EXPECT_EQ(second.Start(address_, 1).status().code(), StatusCode::kUnavailable);
}

// A path for a Unix-domain socket, in a directory of its own.
class SocketPath {
 public:
  SocketPath() {
    std::string directory = ::testing::TempDir() + "async_server_test_XXXXXX";
    EXPECT_NE(mkdtemp(directory.data()), nullptr);
    directory_ = directory;
    address_.unix_path = directory + "/socket";
  }
  ~SocketPath() {
    unlink(address_.unix_path.c_str());
    rmdir(directory_.c_str());
  }
  SocketPath(const SocketPath&) = delete;
  SocketPath& operator=(const SocketPath&) = delete;

  const Address& address() const { return address_; }

  // Leaves a socket file behind that nobody listens on.
  void LeaveBehind() const {
    sockaddr_un name = {};
    name.sun_family = AF_UNIX;
    address_.unix_path.copy(name.sun_path, sizeof(name.sun_path) - 1);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&name), sizeof(name)), 0);
    close(fd);
  }

 private:
  std::string directory_;
  Address address_;
};

// True if a server without services answers at `address`.
bool Answers(const Address& address) {
  const auto stub =
      Echo::NewStub(grpc::CreateChannel(address.ToString(), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  EchoMessage answer;
  return stub->Say(&context, {}, &answer).error_code() == grpc::StatusCode::UNIMPLEMENTED;
}

TEST(AsyncServerSocketTest, SecondServerOnTheSocketIsRefused) {
  const SocketPath path;
  AsyncServer first;
  ASSERT_OK(first.Start(path.address(), 1));
  {
    AsyncServer second;
    EXPECT_EQ(second.Start(path.address(), 1).status().code(), StatusCode::kUnavailable);
  }
  EXPECT_TRUE(Answers(path.address()));
}

TEST(AsyncServerSocketTest, StaleSocketIsReplaced) {
  const SocketPath path;
  path.LeaveBehind();
  AsyncServer server;
  ASSERT_OK(server.Start(path.address(), 1));
  EXPECT_TRUE(Answers(path.address()));
}

TEST(AsyncServerSocketTest, SocketOfAStoppedServerCanBeReused) {
  const SocketPath path;
  for (int i = 0; i < 2; ++i) {
    AsyncServer server;
    EXPECT_OK(server.Start(path.address(), 1));
    server.Stop(absl::ZeroDuration());
  }
}

}  // namespace
}  // namespace callslip::tracker
