#include "gateway/http/web_sockets.h"

#include <atomic>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gateway/http/web_sockets_fixture.h"
#include "gmock/gmock.h"

namespace callslip::gateway {
namespace {

namespace asio = boost::asio;

// Messages.

TEST_F(WebSocketsTest, MessagesAreReassembledFromFrames) {
  Serve(Echo);
  WebSocketClient client(port_);
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
  const Frame pong = client.ReadFrame();
  EXPECT_EQ(pong.first, kFin | kPong);
  EXPECT_EQ(pong.payload, "there?");
  EXPECT_EQ(client.ReadText(), "one \xC3\xA4 two");
}

TEST_F(WebSocketsTest, FramesCanBeSplitAnywhere) {
  Serve(Echo);
  std::mt19937 random(20240601);
  const auto below = [&](size_t limit) {
    return std::uniform_int_distribution<size_t>(0, limit - 1)(random);
  };
  WebSocketClient client(port_);
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

TEST_F(WebSocketsTest, InvalidFramesAndMessagesCloseSocket) {
  Serve(Echo);
  const std::string half(limits_.web_socket.message_bytes / 2, 'x');
  EXPECT_EQ(CodeAfter(Masked(kFin | kBinary, "bytes")), 1003);
  EXPECT_EQ(CodeAfter(Masked(kFin | kText, "\xC3(")), 1007);
  EXPECT_EQ(CodeAfter(Masked(kText, "\xC3") + Masked(kFin | kContinuation, "")), 1007);
  EXPECT_EQ(CodeAfter(Masked(kText, "\xF0\x9F") + Masked(kContinuation, "\x98") +
                      Masked(kFin | kContinuation, "")),
            1007);
  EXPECT_EQ(CodeAfter(Masked(kFin | kText, half + half + "x")), 1009);
  EXPECT_EQ(CodeAfter(Masked(kText, half) + Masked(kContinuation, half) +
                      Masked(kFin | kContinuation, "x")),
            1009);
  EXPECT_EQ(CodeAfter(Masked(kFin | kContinuation, "of nothing")), 1002);
  EXPECT_EQ(CodeAfter(Masked(kFin | 0x3, "reserved")), 1002);
  EXPECT_EQ(CodeAfter("\x81\x02no"), 1002);
  EXPECT_EQ(CodeAfter(Masked(kPing, "in pieces")), 1002);
}

TEST_F(WebSocketsTest, TooManyUnreadMessagesCloseSocket) {
  ServeIdle();
  const std::string message(limits_.web_socket.message_bytes, 'x');
  std::string bytes;
  for (int i = 0; i < 4; ++i) bytes += Masked(kFin | kText, message);
  EXPECT_EQ(CodeAfter(bytes), 1008);
  cancelled_.Await();
}

TEST_F(WebSocketsTest, MessageToManySocketsIsNotCopied) {
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
  std::vector<std::unique_ptr<WebSocketClient>> clients;
  for (int i = 0; i < kSockets; ++i) {
    clients.push_back(std::make_unique<WebSocketClient>(port_, /*receive_buffer=*/4096));
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
  WebSocketClient client(port_);
  client.Upgrade("/ws/1");
  for (int i = 0; i < 100; ++i) EXPECT_EQ(client.ReadText(), absl::StrCat(i));
  EXPECT_EQ(client.ReadFrame().close_code(), 1000);
  client.Send(Masked(kFin | kClose, "\x03\xE8"));
  EXPECT_EQ(client.ReadAll(), "");
}

TEST_F(WebSocketsTest, ServerThatThrowsClosesItsSocket) {
  Serve(
      [](std::shared_ptr<const HttpRequest>, std::shared_ptr<WebSocket>) -> asio::awaitable<void> {
        throw std::runtime_error("broken");
        co_return;
      });
  WebSocketClient client(port_);
  client.Upgrade("/ws/1");
  EXPECT_EQ(client.ReadFrame().close_code(), 1011);
}

TEST_F(WebSocketsTest, CloseReasonIsTruncatedBetweenCharacters) {
  Serve([](std::shared_ptr<const HttpRequest>,
           std::shared_ptr<WebSocket> socket) -> asio::awaitable<void> {
    socket->Close(static_cast<WebSocketCloseCode>(4001), std::string(122, 'x') + "\xC3\xA4");
    socket->Send("too late");
    const std::optional<std::string> message = co_await socket->Read();
    EXPECT_EQ(message, std::nullopt);
  });
  WebSocketClient client(port_);
  client.Upgrade("/ws/1");
  const Frame close = client.ReadFrame();
  EXPECT_EQ(close.close_code(), 4001);
  EXPECT_EQ(close.close_reason(), std::string(122, 'x'));
}

TEST_F(WebSocketsTest, PeerCanCloseSocket) {
  ServeIdle();
  WebSocketClient client(port_);
  client.Upgrade("/ws/1");
  client.Send(Masked(kFin | kClose, "\x03\xE8"));
  EXPECT_EQ(client.ReadFrame().close_code(), 1000);
  EXPECT_EQ(client.ReadAll(), "");
  cancelled_.Await();
}

TEST_F(WebSocketsTest, ServerIsCancelledWhenItsPeerLeaves) {
  ServeIdle();
  WebSocketClient client(port_);
  client.Upgrade("/ws/1");
  running_.Await();
  client.Leave();
  cancelled_.Await();
}

TEST_F(WebSocketsTest, ServerIsCancelledWhenItsPeerResets) {
  ServeIdle();
  WebSocketClient client(port_);
  client.Upgrade("/ws/1");
  running_.Await();
  client.Abort();
  cancelled_.Await();
}

TEST_F(WebSocketsTest, ReadReturnsNothingWhenPeerLeaves) {
  Event told;
  Serve([&](std::shared_ptr<const HttpRequest>,
            std::shared_ptr<WebSocket> socket) -> asio::awaitable<void> {
    const std::optional<std::string> message = co_await socket->Read();
    EXPECT_EQ(message, std::nullopt);
    told.Tell();
  });
  WebSocketClient client(port_);
  client.Upgrade("/ws/1");
  client.Leave();
  told.Await();
}

}  // namespace
}  // namespace callslip::gateway
