#include "gateway/http/web_sockets.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <arpa/inet.h>

#include <atomic>
#include <functional>
#include <future>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "boost/asio/as_tuple.hpp"
#include "boost/asio/steady_timer.hpp"
#include "boost/asio/this_coro.hpp"
#include "boost/asio/use_awaitable.hpp"
#include "gateway/http/http_server.h"
#include "gateway/http/router.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

namespace asio = boost::asio;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// The first byte of a frame: whether it is the last one of its message, and what it holds.
enum : unsigned char {
  kFin = 0x80,
  kContinuation = 0x0,
  kText = 0x1,
  kBinary = 0x2,
  kClose = 0x8,
  kPing = 0x9,
  kPong = 0xA,
};

struct Frame {
  unsigned char first = 0;  // As above; 0 where the server has closed the connection instead.
  std::string payload;

  int close_code() const {
    if (first != (kFin | kClose) || payload.size() < 2) return 0;
    return static_cast<unsigned char>(payload[0]) << 8 | static_cast<unsigned char>(payload[1]);
  }
  std::string close_reason() const { return payload.substr(std::min<size_t>(2, payload.size())); }
};

// A frame as clients send it.
std::string Masked(unsigned char first, const std::string& payload) {
  std::string frame(1, static_cast<char>(first));
  const auto append_size = [&](int bytes) {
    for (int i = bytes - 1; i >= 0; --i)
      frame.push_back(static_cast<char>(payload.size() >> 8 * i));
  };
  if (payload.size() < 126) {
    frame.push_back(static_cast<char>(0x80 | payload.size()));
  } else if (payload.size() < 65536) {
    frame.push_back(static_cast<char>(0x80 | 126));
    append_size(2);
  } else {
    frame.push_back(static_cast<char>(0x80 | 127));
    append_size(8);
  }
  const std::string mask = "\x12\x34\x56\x78";
  frame += mask;
  for (size_t i = 0; i < payload.size(); ++i) frame.push_back(payload[i] ^ mask[i % 4]);
  return frame;
}

// A client that does what it is told, also what no client should.
class Client {
 public:
  explicit Client(uint16_t port, int receive_buffer = 0) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    if (receive_buffer > 0) {
      setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof(receive_buffer));
    }
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  ~Client() { Leave(); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void Leave() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

  // Leaves with a reset instead of an orderly end.
  void Abort() {
    const linger now = {1, 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    Leave();
  }

  void Send(const std::string& bytes) { send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL); }
  void SendText(const std::string& text) { Send(Masked(kFin | kText, text)); }

  // The head of the answer.
  std::string Upgrade(const std::string& path, const std::string& more_headers = "") {
    Send(UpgradeRequest(path, more_headers));
    std::string head;
    while (!absl::EndsWith(head, "\r\n\r\n")) {
      const std::string byte = Receive(1);
      if (byte.empty()) break;
      head += byte;
    }
    return head;
  }

  // With the key of the example in RFC 6455.
  static std::string UpgradeRequest(const std::string& path, const std::string& more_headers = "",
                                    const std::string& host = "test") {
    return absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: ", host,
                        "\r\nConnection: Upgrade, close\r\nUpgrade: WebSocket\r\n"
                        "Sec-WebSocket-Version: 13\r\n"
                        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
                        more_headers, "\r\n");
  }

  Frame Read() {
    const std::string head = Receive(2);
    if (head.size() < 2) return {};
    Frame frame{.first = static_cast<unsigned char>(head[0])};
    uint64_t size = static_cast<unsigned char>(head[1]);  // Servers don't mask.
    if (size >= 126) {
      const std::string bytes = Receive(size == 126 ? 2 : 8);
      size = 0;
      for (const char byte : bytes) size = size << 8 | static_cast<unsigned char>(byte);
    }
    frame.payload = Receive(size);
    return frame;
  }

  std::string ReadText() {
    const Frame frame = Read();
    EXPECT_EQ(frame.first, kFin | kText);
    return frame.payload;
  }

  // The next frame that closes, or none: an empty frame.
  Frame ReadClose() {
    for (;;) {
      Frame frame = Read();
      if (frame.first == 0 || frame.first == (kFin | kClose)) return frame;
    }
  }

  // Until the server closes.
  std::string ReadAll() {
    std::string all;
    for (std::string byte; !(byte = Receive(1)).empty();) all += byte;
    return all;
  }

 private:
  std::string Receive(size_t size) {
    std::string bytes(size, '\0');
    if (size == 0) return bytes;
    const ssize_t received = recv(fd_, bytes.data(), size, MSG_WAITALL);
    bytes.resize(received > 0 ? received : 0);
    return bytes;
  }

  int fd_;
};

// An event of the server's thread that a test waits for.
class Event {
 public:
  void Tell() { promise_.set_value(); }
  void Await() { promise_.get_future().wait(); }

 private:
  std::promise<void> promise_;
};

asio::awaitable<void> WaitForever() {
  const auto executor = co_await asio::this_coro::executor;
  asio::steady_timer never(executor, asio::steady_timer::time_point::max());
  co_await never.async_wait(asio::use_awaitable);
}

asio::awaitable<void> Echo(std::shared_ptr<const HttpRequest>, std::shared_ptr<WebSocket> socket) {
  for (;;) {
    std::optional<std::string> message = co_await socket->Read();
    if (!message.has_value()) co_return;
    socket->Send(*std::move(message));
  }
}

constexpr char kToken[] = "0123456789abcdef0123456789abcdef";
constexpr char kWorkerToken[] = "fedcba9876543210fedcba9876543210";

class WebSocketsTest : public testing::Test {
 protected:
  ~WebSocketsTest() override {
    context_.stop();
    if (thread_.joinable()) thread_.join();
    socket_ = nullptr;
  }

  // At /ws/{id}.
  void Serve(WebSocketHandler handler, std::optional<BearerTokens> tokens = std::nullopt) {
    router_.emplace(Doors({.host = "127.0.0.1", .port = 1}, {"test"}, {"http://page.test"}),
                    std::move(tokens));
    router_->AddWebSocket("/ws/{id}", {Role::kViewer, Role::kAdmin}, std::move(handler));
    router_->Add("GET", "/plain", {Role::kAdmin}, Plain);
    server_.emplace(context_, limits_,
                    [this](std::shared_ptr<HttpRequest> request, Responder responder) {
                      router_->Handle(std::move(request), std::move(responder));
                    });
    const absl::StatusOr<Address> bound = server_->Listen({.host = "127.0.0.1", .port = 0});
    ASSERT_TRUE(bound.ok()) << bound.status();
    port_ = bound->port;
    thread_ = std::thread([this] { context_.run(); });
  }

  // A server that keeps its socket and waits.
  void ServeIdle() {
    Serve([this](std::shared_ptr<const HttpRequest>,
                 std::shared_ptr<WebSocket> socket) -> asio::awaitable<void> {
      socket_ = std::move(socket);
      running_.Tell();
      try {
        co_await WaitForever();
      } catch (const boost::system::system_error& error) {
        EXPECT_EQ(error.code(), asio::error::operation_aborted);
        cancelled_.Tell();
        throw;
      }
    });
  }

  static asio::awaitable<HttpResponse> Plain(std::shared_ptr<const HttpRequest>) {
    co_return HttpResponse{.body = "plain"};
  }

  static std::optional<BearerTokens> Tokens() {
    return BearerTokens(
        {{{"viewer", Role::kViewer}, kToken}, {{"worker", Role::kWorker}, kWorkerToken}});
  }

  // The code with which the server closes after it has got `bytes`.
  int CodeAfter(const std::string& bytes) {
    Client client(port_);
    client.Upgrade("/ws/1");
    client.Send(bytes);
    return client.ReadClose().close_code();
  }

  HttpLimits limits_;
  std::optional<Router> router_;
  std::shared_ptr<WebSocket> socket_;
  Event running_;
  Event cancelled_;
  asio::io_context context_{1};
  std::optional<HttpServer> server_;
  uint16_t port_ = 0;
  std::thread thread_;
};

// The upgrade.

TEST_F(WebSocketsTest, UpgradeIsAnsweredAsTheRfcHasIt) {
  Serve(Echo);
  Client client(port_);
  EXPECT_THAT(client.Upgrade("/ws/1", "Sec-WebSocket-Extensions: permessage-deflate\r\n"),
              AllOf(StartsWith("HTTP/1.1 101 "), HasSubstr("Upgrade: websocket\r\n"),
                    HasSubstr("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"),
                    Not(HasSubstr("Sec-WebSocket-Protocol")), Not(HasSubstr("deflate"))));
}

TEST_F(WebSocketsTest, HandlersGetTheRequest) {
  Serve([](std::shared_ptr<const HttpRequest> request,
           std::shared_ptr<WebSocket> socket) -> asio::awaitable<void> {
    socket->Send(absl::StrCat(request->Parameter("id"), " ", request->Query("from"), " ",
                              request->principal.name));
    co_return;
  });
  Client client(port_);
  client.Upgrade("/ws/a%2Fb?from=7");
  EXPECT_EQ(client.ReadText(), "a/b 7 local");
}

TEST_F(WebSocketsTest, TokenMayBeOfferedAsAProtocol) {
  Serve(Echo, Tokens());
  Client client(port_);
  EXPECT_THAT(client.Upgrade("/ws/1", absl::StrCat("Sec-WebSocket-Protocol: callslip.v1, "
                                                   "callslip.bearer.",
                                                   kToken, "\r\n")),
              AllOf(StartsWith("HTTP/1.1 101 "),
                    HasSubstr("Sec-WebSocket-Protocol: callslip.v1\r\n"), Not(HasSubstr(kToken))));
  Client by_header(port_);
  EXPECT_THAT(by_header.Upgrade("/ws/1", absl::StrCat("Authorization: Bearer ", kToken, "\r\n")),
              StartsWith("HTTP/1.1 101 "));
}

TEST_F(WebSocketsTest, UpgradeHasToPassTheDoors) {
  Serve(Echo, Tokens());
  const auto ask = [&](const std::string& headers, const std::string& host = "test") {
    Client client(port_);
    client.Send(Client::UpgradeRequest("/ws/1", headers, host));
    return client.ReadAll();
  };
  const std::string token = absl::StrCat("Authorization: Bearer ", kToken, "\r\n");
  EXPECT_THAT(ask(token, "evil.test"), HasSubstr("host_not_allowed"));
  EXPECT_THAT(ask(token + "Origin: http://evil.test\r\n"), HasSubstr("origin_not_allowed"));
  EXPECT_THAT(ask(token + "Sec-Fetch-Site: cross-site\r\n"), HasSubstr("site_not_allowed"));
  EXPECT_THAT(ask(""), AllOf(StartsWith("HTTP/1.1 401 "), HasSubstr("token_missing"),
                             HasSubstr("callslip.bearer.TOKEN")));
  EXPECT_THAT(ask("Sec-WebSocket-Protocol: callslip.v1, callslip.bearer.nonsense\r\n"),
              HasSubstr("token_unknown"));
  EXPECT_THAT(ask(absl::StrCat("Sec-WebSocket-Protocol: callslip.v1, callslip.bearer.",
                               kWorkerToken, "\r\n")),
              AllOf(StartsWith("HTTP/1.1 403 "), HasSubstr("role_not_allowed")));
}

TEST_F(WebSocketsTest, OtherRoutesTakeNoTokenFromTheProtocols) {
  Serve(Echo, Tokens());
  Client client(port_);
  client.Send(absl::StrCat("GET /plain HTTP/1.1\r\nHost: test\r\nConnection: close\r\n",
                           "Sec-WebSocket-Protocol: callslip.bearer.", kToken, "\r\n\r\n"));
  EXPECT_THAT(client.ReadAll(), HasSubstr("token_missing"));
}

TEST_F(WebSocketsTest, WhatIsNoUpgradeIsAnsweredAsOtherRequestsAre) {
  Serve(Echo);
  const auto answer = [&](const std::string& request) {
    Client client(port_);
    client.Send(request);
    return client.ReadAll();
  };
  const auto replaced = [](const std::string& from, const std::string& to) {
    std::string request = Client::UpgradeRequest("/ws/1");
    return request.replace(request.find(from), from.size(), to);
  };
  EXPECT_THAT(
      answer("GET /ws/1 HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n"),
      AllOf(HasSubstr(" 426 "), HasSubstr("Upgrade: websocket"), HasSubstr("upgrade_required")));
  EXPECT_THAT(answer(replaced("Version: 13", "Version: 8")),
              AllOf(HasSubstr(" 426 "), HasSubstr("Sec-WebSocket-Version: 13")));
  EXPECT_THAT(answer(replaced("dGhlIHNhbXBsZSBub25jZQ==", "c2hvcnQ=")), HasSubstr("bad_upgrade"));
  EXPECT_THAT(answer(replaced("HTTP/1.1", "HTTP/1.0")), HasSubstr("bad_upgrade"));
  EXPECT_THAT(answer(replaced("\r\n\r\n", "\r\nSec-WebSocket-Protocol: chat\r\n\r\n")),
              HasSubstr("bad_upgrade"));
  EXPECT_THAT(answer(replaced("GET /ws/1", "DELETE /ws/1")), HasSubstr(" 405 "));
  EXPECT_THAT(answer(replaced("/ws/1", "/plain")), HasSubstr("plain"));
  EXPECT_THAT(answer(replaced("/ws/1", "/ws/")), HasSubstr("unknown_path"));
}

TEST_F(WebSocketsTest, FramesBeforeTheAnswerAreRefused) {
  Serve(Echo);
  Client client(port_);
  client.Send(Client::UpgradeRequest("/ws/1") + Masked(kFin | kText, "early"));
  EXPECT_THAT(client.ReadAll(), AllOf(StartsWith("HTTP/1.1 400 "), HasSubstr("bad_upgrade")));
}

// Messages.

TEST_F(WebSocketsTest, MessagesAreWholeHoweverTheyCome) {
  Serve(Echo);
  Client client(port_);
  client.Upgrade("/ws/1");
  client.SendText("");
  EXPECT_EQ(client.ReadText(), "");
  const std::string largest(limits_.web_socket.message_bytes, 'x');
  client.SendText(largest);
  EXPECT_EQ(client.ReadText(), largest);
  // In pieces, which cut a character in two, with a ping between them.
  client.Send(Masked(kText, "one \xC3"));
  client.Send(Masked(kFin | kPing, "there?"));
  client.Send(Masked(kContinuation, "\xA4 two"));
  client.Send(Masked(kFin | kContinuation, ""));
  const Frame pong = client.Read();
  EXPECT_EQ(pong.first, kFin | kPong);
  EXPECT_EQ(pong.payload, "there?");
  EXPECT_EQ(client.ReadText(), "one \xC3\xA4 two");
}

TEST_F(WebSocketsTest, FramesMayBeCutAnywhere) {
  Serve(Echo);
  std::mt19937 random(20240601);
  const auto below = [&](size_t limit) {
    return std::uniform_int_distribution<size_t>(0, limit - 1)(random);
  };
  Client client(port_);
  client.Upgrade("/ws/1");
  std::string bytes;
  std::vector<std::string> messages;
  for (int i = 0; i < 100; ++i) {
    messages.push_back(std::string(below(3000), static_cast<char>('a' + i % 26)));
    const size_t cut = below(messages.back().size() + 1);
    bytes += Masked(kText, messages.back().substr(0, cut));
    bytes += Masked(kFin | kContinuation, messages.back().substr(cut));
  }
  std::thread sender([&] {
    for (size_t at = 0; at < bytes.size();) {
      const size_t size = std::min(bytes.size() - at, 1 + below(below(4) == 0 ? 8000 : 40));
      client.Send(bytes.substr(at, size));
      at += size;
    }
  });
  for (const std::string& message : messages) EXPECT_EQ(client.ReadText(), message);
  sender.join();
}

TEST_F(WebSocketsTest, WhatMayNotBeSentCloses) {
  Serve(Echo);
  const std::string half(limits_.web_socket.message_bytes / 2, 'x');
  EXPECT_EQ(CodeAfter(Masked(kFin | kBinary, "bytes")), 1003);
  EXPECT_EQ(CodeAfter(Masked(kFin | kText, "\xC3(")), 1007);
  EXPECT_EQ(CodeAfter(Masked(kFin | kText, half + half + "x")), 1009);
  EXPECT_EQ(CodeAfter(Masked(kText, half) + Masked(kContinuation, half) +
                      Masked(kFin | kContinuation, "x")),
            1009);
  EXPECT_EQ(CodeAfter(Masked(kFin | kContinuation, "of nothing")), 1002);
  EXPECT_EQ(CodeAfter(Masked(kFin | 0x3, "reserved")), 1002);
  EXPECT_EQ(CodeAfter("\x81\x02no"), 1002);
  EXPECT_EQ(CodeAfter(Masked(kPing, "in pieces")), 1002);
}

TEST_F(WebSocketsTest, MessagesThatNobodyReadsClose) {
  ServeIdle();
  const std::string message(limits_.web_socket.message_bytes, 'x');
  std::string bytes;
  for (int i = 0; i < 4; ++i) bytes += Masked(kFin | kText, message);
  EXPECT_EQ(CodeAfter(bytes), 1008);
  cancelled_.Await();
}

TEST_F(WebSocketsTest, OneMessageGoesToManySocketsUncopied) {
  auto message = std::make_shared<const std::string>(512 << 10, 'x');
  std::atomic<int> sent = 0;
  Event all_sent;
  constexpr int kSockets = 20;
  Serve([&](std::shared_ptr<const HttpRequest>,
            std::shared_ptr<WebSocket> socket) -> asio::awaitable<void> {
    socket->Send(message);
    if (++sent == kSockets) all_sent.Tell();
    co_await WaitForever();
  });
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < kSockets; ++i) {
    clients.push_back(std::make_unique<Client>(port_, /*receive_buffer=*/4096));
    clients.back()->Upgrade("/ws/1");
  }
  all_sent.Await();
  for (const auto& client : clients) EXPECT_EQ(client->ReadText(), *message);
  context_.stop();
  thread_.join();
  EXPECT_LE(message.use_count(), 1 + kSockets);
}

// Ends.

TEST_F(WebSocketsTest, SocketClosesWhenItsServerReturns) {
  Serve([](std::shared_ptr<const HttpRequest>,
           std::shared_ptr<WebSocket> socket) -> asio::awaitable<void> {
    for (int i = 0; i < 100; ++i) socket->Send(absl::StrCat(i));
    co_return;
  });
  Client client(port_);
  client.Upgrade("/ws/1");
  for (int i = 0; i < 100; ++i) EXPECT_EQ(client.ReadText(), absl::StrCat(i));
  EXPECT_EQ(client.Read().close_code(), 1000);
  client.Send(Masked(kFin | kClose, "\x03\xE8"));
  EXPECT_EQ(client.ReadAll(), "");
}

TEST_F(WebSocketsTest, ServerThatThrowsClosesItsSocket) {
  Serve(
      [](std::shared_ptr<const HttpRequest>, std::shared_ptr<WebSocket>) -> asio::awaitable<void> {
        throw std::runtime_error("broken");
        co_return;
      });
  Client client(port_);
  client.Upgrade("/ws/1");
  EXPECT_EQ(client.Read().close_code(), 1011);
}

TEST_F(WebSocketsTest, ReasonsAreCutBetweenCharacters) {
  Serve([](std::shared_ptr<const HttpRequest>,
           std::shared_ptr<WebSocket> socket) -> asio::awaitable<void> {
    socket->Close(static_cast<WebSocketCloseCode>(4001), std::string(122, 'x') + "\xC3\xA4");
    socket->Send("too late");
    const std::optional<std::string> message = co_await socket->Read();
    EXPECT_EQ(message, std::nullopt);
  });
  Client client(port_);
  client.Upgrade("/ws/1");
  const Frame close = client.Read();
  EXPECT_EQ(close.close_code(), 4001);
  EXPECT_EQ(close.close_reason(), std::string(122, 'x'));
}

TEST_F(WebSocketsTest, PeerMayClose) {
  ServeIdle();
  Client client(port_);
  client.Upgrade("/ws/1");
  client.Send(Masked(kFin | kClose, "\x03\xE8"));
  EXPECT_EQ(client.Read().close_code(), 1000);
  EXPECT_EQ(client.ReadAll(), "");
  cancelled_.Await();
}

TEST_F(WebSocketsTest, ServerIsCancelledWhenItsPeerLeaves) {
  ServeIdle();
  Client client(port_);
  client.Upgrade("/ws/1");
  running_.Await();
  client.Leave();
  cancelled_.Await();
}

TEST_F(WebSocketsTest, ServerIsCancelledWhenItsPeerResets) {
  ServeIdle();
  Client client(port_);
  client.Upgrade("/ws/1");
  running_.Await();
  client.Abort();
  cancelled_.Await();
}

TEST_F(WebSocketsTest, ReaderIsToldThatItsPeerHasLeft) {
  Event told;
  Serve([&](std::shared_ptr<const HttpRequest>,
            std::shared_ptr<WebSocket> socket) -> asio::awaitable<void> {
    const std::optional<std::string> message = co_await socket->Read();
    EXPECT_EQ(message, std::nullopt);
    told.Tell();
  });
  Client client(port_);
  client.Upgrade("/ws/1");
  client.Leave();
  told.Await();
}

TEST_F(WebSocketsTest, SlowPeerIsClosedAndDelaysNobody) {
  limits_.web_socket.close_time = std::chrono::minutes(1);
  const auto message = std::make_shared<const std::string>(64 << 10, 'x');
  std::atomic<int> sent = 0;
  Event cancelled;
  Serve([&](std::shared_ptr<const HttpRequest> request,
            std::shared_ptr<WebSocket> socket) -> asio::awaitable<void> {
    if (request->Parameter("id") == "echo") {
      co_await Echo(request, socket);
      co_return;
    }
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer pause(executor);
    try {
      for (;; ++sent) {
        socket->Send(message);
        pause.expires_after(std::chrono::milliseconds(0));
        co_await pause.async_wait(asio::use_awaitable);
      }
    } catch (const boost::system::system_error&) {
      cancelled.Tell();
      throw;
    }
  });
  Client slow(port_, /*receive_buffer=*/4096);
  slow.Upgrade("/ws/slow");
  Client quick(port_);
  quick.Upgrade("/ws/echo");
  quick.SendText("here");
  EXPECT_EQ(quick.ReadText(), "here");
  cancelled.Await();
  EXPECT_GE(sent, 15);
  quick.SendText("still here");
  EXPECT_EQ(quick.ReadText(), "still here");
  const Frame close = slow.ReadClose();
  EXPECT_EQ(close.close_code(), 1013);
  EXPECT_EQ(close.close_reason(), "too slow");
}

TEST_F(WebSocketsTest, PeerThatNeverReadsIsCutOff) {
  limits_.web_socket.close_time = std::chrono::milliseconds(50);
  Event gone;
  Serve([&](std::shared_ptr<const HttpRequest>,
            std::shared_ptr<WebSocket> socket) -> asio::awaitable<void> {
    socket_ = std::move(socket);
    for (int i = 0; i < 100; ++i) socket_->Send(std::string(64 << 10, 'x'));
    running_.Tell();
    co_await WaitForever();
  });
  Client client(port_, /*receive_buffer=*/4096);
  client.Upgrade("/ws/1");
  running_.Await();
  // What was closed is no longer waited for.
  server_->Drain([&] { gone.Tell(); });
  gone.Await();
}

TEST_F(WebSocketsTest, PeerThatDoesNotAnswerTheCloseIsCutOff) {
  limits_.web_socket.close_time = std::chrono::milliseconds(50);
  Serve([](std::shared_ptr<const HttpRequest>,
           std::shared_ptr<WebSocket>) -> asio::awaitable<void> { co_return; });
  Client client(port_);
  client.Upgrade("/ws/1");
  EXPECT_EQ(client.Read().close_code(), 1000);
  EXPECT_EQ(client.Read().first, 0);
}

TEST_F(WebSocketsTest, SilentPeerIsPingedAndCutOff) {
  limits_.web_socket.ping_interval = std::chrono::milliseconds(50);
  ServeIdle();
  Client client(port_);
  client.Upgrade("/ws/1");
  EXPECT_EQ(client.Read().first, kFin | kPing);
  EXPECT_EQ(client.Read().first, 0);
  cancelled_.Await();
}

TEST_F(WebSocketsTest, PeerThatAnswersPingsStays) {
  limits_.web_socket.ping_interval = std::chrono::milliseconds(500);
  Serve(Echo);
  Client client(port_);
  client.Upgrade("/ws/1");
  for (int i = 0; i < 4; ++i) {
    const Frame ping = client.Read();
    ASSERT_EQ(ping.first, kFin | kPing);
    client.Send(Masked(kFin | kPong, ping.payload));
  }
  client.SendText("still here");
  EXPECT_EQ(client.ReadText(), "still here");
}

TEST_F(WebSocketsTest, DrainClosesSocketsAndWaitsForThem) {
  limits_.web_socket.close_time = std::chrono::minutes(1);
  ServeIdle();
  Client client(port_);
  client.Upgrade("/ws/1");
  running_.Await();
  std::atomic<bool> closed = false;
  Event idle;
  server_->Drain([&] {
    EXPECT_TRUE(closed);
    idle.Tell();
  });
  EXPECT_EQ(client.Read().close_code(), 1001);
  cancelled_.Await();
  closed = true;
  client.Send(Masked(kFin | kClose, "\x03\xE9"));
  EXPECT_EQ(client.ReadAll(), "");
  client.Leave();
  idle.Await();
}

TEST_F(WebSocketsTest, SocketsCountAsConnections) {
  limits_.connections = 1;
  Serve(Echo);
  Client socket(port_);
  socket.Upgrade("/ws/1");
  Client other(port_);
  other.Send("GET /plain HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
  socket.SendText("echo");
  EXPECT_EQ(socket.ReadText(), "echo");
  socket.Leave();
  EXPECT_THAT(other.ReadAll(), HasSubstr("plain"));
}

// Stopped with all of its sockets open, in every state.
TEST_F(WebSocketsTest, PeersMayLeaveAnywhere) {
  Serve(Echo);
  const std::string frames = Masked(kText, std::string(2000, 'x')) + Masked(kFin | kPing, "ping") +
                             Masked(kFin | kContinuation, "x") + Masked(kFin | kClose, "\x03\xE8");
  std::mt19937 random(20240602);
  std::vector<std::unique_ptr<Client>> staying;
  for (int connection = 0; connection < 300; ++connection) {
    auto client = std::make_unique<Client>(port_);
    client->Upgrade("/ws/1");
    client->Send(frames.substr(0, std::uniform_int_distribution<size_t>(0, frames.size())(random)));
    if (random() % 3 == 0) client->Abort();
    if (random() % 3 == 0) staying.push_back(std::move(client));
  }
  Client client(port_);
  client.Upgrade("/ws/1");
  client.SendText("still there");
  EXPECT_EQ(client.ReadText(), "still there");
}

}  // namespace
}  // namespace callslip::gateway
