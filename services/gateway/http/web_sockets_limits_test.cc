// Limits for peers of WebSockets that are slow, silent, many, or disconnect at any point.
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gateway/http/web_sockets_fixture.h"
#include "gmock/gmock.h"

namespace callslip::gateway {
namespace {

namespace asio = boost::asio;
using ::testing::HasSubstr;

TEST_F(WebSocketsTest, SlowPeerIsClosedAndDelaysNoOtherPeer) {
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
  WebSocketClient slow(port_, /*receive_buffer=*/4096);
  slow.Upgrade("/ws/slow");
  WebSocketClient quick(port_);
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

TEST_F(WebSocketsTest, SingleMessageIsSentWhateverItsSize) {
  limits_.web_socket.unsent_bytes = 1000;
  Serve([](std::shared_ptr<const HttpRequest>,
           std::shared_ptr<WebSocket> socket) -> asio::awaitable<void> {
    socket->Send(std::string(2000, 'x'));
    co_return;
  });
  WebSocketClient client(port_);
  client.Upgrade("/ws/1");
  EXPECT_EQ(client.ReadText(), std::string(2000, 'x'));
  EXPECT_EQ(client.ReadFrame().close_code(), 1000);
}

TEST_F(WebSocketsTest, UnsentBytesOfAllSocketsShareOneLimit) {
  limits_.all_unsent_bytes = 1 << 20;
  limits_.unsent_of_caller_bytes = 1 << 20;
  std::vector<std::shared_ptr<WebSocket>> sockets;
  Serve([&](std::shared_ptr<const HttpRequest>,
            std::shared_ptr<WebSocket> socket) -> asio::awaitable<void> {
    sockets.push_back(socket);
    if (sockets.size() == 2) {
      // In one turn of the executor, so that the kernel takes none of it meanwhile. The
      // messages of each are less than one socket may have.
      for (const auto& to : sockets) {
        for (int i = 0; i < 12; ++i) to->Send(std::string(64 << 10, 'x'));
      }
      running_.Tell();
    }
    co_await WaitForever();
  });
  WebSocketClient slow(port_, /*receive_buffer=*/4096);
  slow.Upgrade("/ws/1");
  WebSocketClient other(port_, /*receive_buffer=*/4096);
  other.Upgrade("/ws/2");
  running_.Await();
  // A peer that does not read its close frame in time is disconnected without it.
  int code = 0;
  for (int i = 0; i <= 12 && code == 0; ++i) code = other.ReadFrame().close_code();
  EXPECT_EQ(code, 1013) << "there was no room for its messages beside those of the first";
  for (int i = 0; i < 12; ++i) EXPECT_EQ(slow.ReadText().size(), 64u << 10);
  std::promise<void> dropped;
  asio::post(context_, [&] {
    sockets.clear();
    dropped.set_value();
  });
  dropped.get_future().wait();
}

TEST_F(WebSocketsTest, UnreadMessagesCountTowardsLimitOfAllBodies) {
  limits_.all_bodies_bytes = 64 << 10;
  limits_.bodies_of_caller_bytes = 64 << 10;
  ServeIdle();
  WebSocketClient client(port_);
  client.Upgrade("/ws/1");
  for (int i = 0; i < 2; ++i) client.SendText(std::string(40 << 10, 'x'));
  EXPECT_EQ(client.ReadClose().close_code(), 1008);
}

TEST_F(WebSocketsTest, ServerThatAwaitsRoomCanSendAnyNumberOfMessages) {
  limits_.web_socket.unsent_bytes = 1000;
  Serve([](std::shared_ptr<const HttpRequest>,
           std::shared_ptr<WebSocket> socket) -> asio::awaitable<void> {
    for (int i = 0; i < 100; ++i) {
      co_await socket->AwaitRoom();
      socket->Send(std::string(400, 'x'));
    }
  });
  WebSocketClient client(port_);
  client.Upgrade("/ws/1");
  for (int i = 0; i < 100; ++i) EXPECT_EQ(client.ReadText(), std::string(400, 'x'));
  EXPECT_EQ(client.ReadFrame().close_code(), 1000);
}

TEST_F(WebSocketsTest, PeerThatNeverReadsIsDisconnected) {
  limits_.web_socket.close_time = std::chrono::milliseconds(50);
  Event gone;
  Serve([&](std::shared_ptr<const HttpRequest>,
            std::shared_ptr<WebSocket> socket) -> asio::awaitable<void> {
    socket_ = std::move(socket);
    for (int i = 0; i < 100; ++i) socket_->Send(std::string(64 << 10, 'x'));
    running_.Tell();
    co_await WaitForever();
  });
  WebSocketClient client(port_, /*receive_buffer=*/4096);
  client.Upgrade("/ws/1");
  running_.Await();
  // Drain() does not wait for a closed socket.
  server_->Drain([&] { gone.Tell(); });
  gone.Await();
}

TEST_F(WebSocketsTest, PeerThatDoesNotAnswerCloseIsDisconnected) {
  limits_.web_socket.close_time = std::chrono::milliseconds(50);
  Serve([](std::shared_ptr<const HttpRequest>,
           std::shared_ptr<WebSocket>) -> asio::awaitable<void> { co_return; });
  WebSocketClient client(port_);
  client.Upgrade("/ws/1");
  EXPECT_EQ(client.ReadFrame().close_code(), 1000);
  EXPECT_EQ(client.ReadFrame().first, 0);
}

TEST_F(WebSocketsTest, SilentPeerIsPingedAndDisconnected) {
  limits_.web_socket.ping_interval = std::chrono::milliseconds(50);
  ServeIdle();
  WebSocketClient client(port_);
  client.Upgrade("/ws/1");
  EXPECT_EQ(client.ReadFrame().first, kFin | kPing);
  EXPECT_EQ(client.ReadFrame().first, 0);
  cancelled_.Await();
}

TEST_F(WebSocketsTest, PeerThatAnswersPingsStays) {
  limits_.web_socket.ping_interval = std::chrono::milliseconds(500);
  Serve(Echo);
  WebSocketClient client(port_);
  client.Upgrade("/ws/1");
  for (int i = 0; i < 4; ++i) {
    const Frame ping = client.ReadFrame();
    ASSERT_EQ(ping.first, kFin | kPing);
    client.Send(Masked(kFin | kPong, ping.payload));
  }
  client.SendText("still here");
  EXPECT_EQ(client.ReadText(), "still here");
}

TEST_F(WebSocketsTest, DrainClosesSocketsAndWaitsForThem) {
  limits_.web_socket.close_time = std::chrono::minutes(1);
  ServeIdle();
  WebSocketClient client(port_);
  client.Upgrade("/ws/1");
  running_.Await();
  std::atomic<bool> closed = false;
  Event idle;
  server_->Drain([&] {
    EXPECT_TRUE(closed);
    idle.Tell();
  });
  EXPECT_EQ(client.ReadFrame().close_code(), 1001);
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
  WebSocketClient socket(port_);
  socket.Upgrade("/ws/1");
  WebSocketClient other(port_);
  other.Send("GET /plain HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
  socket.SendText("echo");
  EXPECT_EQ(socket.ReadText(), "echo");
  socket.Leave();
  EXPECT_THAT(other.ReadAll(), HasSubstr("plain"));
}

// The server stops while sockets are open, in every state.
TEST_F(WebSocketsTest, PeersCanDisconnectAtAnyPoint) {
  Serve(Echo);
  const std::string frames = Masked(kText, std::string(2000, 'x')) + Masked(kFin | kPing, "ping") +
                             Masked(kFin | kContinuation, "x") + Masked(kFin | kClose, "\x03\xE8");
  std::mt19937 random(20240602);
  std::vector<std::unique_ptr<WebSocketClient>> staying;
  for (int connection = 0; connection < 300; ++connection) {
    auto client = std::make_unique<WebSocketClient>(port_);
    client->Upgrade("/ws/1");
    client->Send(frames.substr(0, std::uniform_int_distribution<size_t>(0, frames.size())(random)));
    if (random() % 3 == 0) client->Abort();
    if (random() % 3 == 0) staying.push_back(std::move(client));
  }
  WebSocketClient client(port_);
  client.Upgrade("/ws/1");
  client.SendText("still there");
  EXPECT_EQ(client.ReadText(), "still there");
}

}  // namespace
}  // namespace callslip::gateway
