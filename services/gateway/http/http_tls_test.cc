// HTTP over TLS, as its peers see it.
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "gateway/http/http_tls_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using TlsWebSocketClient = WebSocketClientOver<TlsConnection>;

TEST_F(HttpTlsTest, ServesBothVersionsAndKeepsConnections) {
  Serve();
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsConnection peer(
        port_, {.min_version = version, .max_version = version, .protocols = "\x2h2\x8http/1.1"});
    ASSERT_TRUE(peer.Shake());
    const unsigned char* protocol = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(peer.session(), &protocol, &size);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(protocol), size), "http/1.1");
    for (const char* body : {"first", "second"}) {
      peer.Send(Post(body));
      EXPECT_THAT(peer.ReadTo(body), StartsWith("HTTP/1.1 200 OK\r\n"));
    }
  }
}

TEST_F(HttpTlsTest, RequestsArriveHoweverTheyAreSplitIntoRecords) {
  Serve();
  TlsConnection peer(port_);
  const std::string long_body(8 << 20, 'b');
  peer.Send(Post(long_body));
  EXPECT_THAT(peer.ReadTo("\r\n\r\n"), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_EQ(peer.Read(long_body.size()), long_body);
  // Ten in one record, of which the first read takes a part.
  std::string ten;
  for (int i = 0; i < 10; ++i) ten += Post(std::string(500, static_cast<char>('0' + i)));
  peer.Send(ten);
  for (int i = 0; i < 10; ++i) {
    EXPECT_THAT(peer.ReadTo("\r\n\r\n"), StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_EQ(peer.Read(500), std::string(500, static_cast<char>('0' + i)));
  }
  // A record for each byte.
  for (const char byte : Post("bytes")) peer.Send(std::string(1, byte));
  EXPECT_THAT(peer.ReadTo("bytes"), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(HttpTlsTest, ClosingResponseEndsWithCloseNotify) {
  Serve();
  TlsConnection peer(port_);
  peer.Send("GET /echo HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(peer.ReadAll(), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_EQ(SSL_get_shutdown(peer.session()), SSL_RECEIVED_SHUTDOWN);
}

TEST_F(HttpTlsTest, HeldRequestIsCancelledWhenPeerLeaves) {
  Serve();
  using Leave = void (*)(TlsConnection&);
  const std::vector<Leave> ways = {
      [](TlsConnection& peer) { peer.SayEnd(); },  // The connection stays.
      [](TlsConnection& peer) { peer.Leave(); },   // Without close_notify.
      [](TlsConnection& peer) { peer.Abort(); },
      [](TlsConnection& peer) { shutdown(peer.fd(), SHUT_WR); },
      [](TlsConnection& peer) {
        peer.Send(Get("/echo"));  // Early, and then nothing more.
        peer.Leave();
      },
  };
  std::vector<std::unique_ptr<TlsConnection>> peers;
  for (const Leave leave : ways) {
    peers.push_back(std::make_unique<TlsConnection>(port_));
    peers.back()->Send(Get("/held"));
    Await([&] { return held_ == static_cast<int>(peers.size()); });
    leave(*peers.back());
    Await([&] { return left_ == static_cast<int>(peers.size()); });
  }
}

TEST_F(HttpTlsTest, PipelinedRequestIsAnsweredLater) {
  Serve();
  TlsConnection peer(port_);
  peer.Send(Get("/echo") + Post("second"));
  EXPECT_THAT(peer.ReadTo("second"), HasSubstr("HTTP/1.1 200 OK\r\nContent-Type"));
}

TEST_F(HttpTlsTest, FloodingStreamWaitsForSlowReaderAndEndsWithIt) {
  Serve();
  TlsConnection peer(port_, Options{}, /*receive_buffer=*/4096);
  peer.Send(Get("/stream"));
  EXPECT_THAT(peer.ReadTo("\r\n\r\n"), HasSubstr("Transfer-Encoding: chunked"));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(peer.Read(64 << 10).size(), 64u << 10);
  peer.Leave();
  Await([&] { return Connections() == 0; });
}

TEST_F(HttpTlsTest, WebSocketsWorkOverTls) {
  Serve();
  TlsWebSocketClient socket(port_);
  EXPECT_THAT(socket.Upgrade("/ws"), StartsWith("HTTP/1.1 101"));
  const std::string largest(limits_.web_socket.message_bytes, 'x');
  for (const std::string& text : {std::string("text"), std::string(), largest}) {
    socket.SendText(text);
    EXPECT_EQ(socket.ReadText(), text);
  }
  socket.Send(Masked(kFin | kPing, "ping"));
  EXPECT_EQ(socket.ReadFrame().payload, "ping");
  socket.Send(Masked(kFin | kClose, "\x03\xE8"));
  EXPECT_EQ(socket.ReadFrame().close_code(), 1000);
  EXPECT_EQ(socket.ReadAll(), "");
  EXPECT_EQ(SSL_get_shutdown(socket.session()), SSL_RECEIVED_SHUTDOWN);
  socket.Leave();
  Await([&] { return WebSockets() == 0; });
}

TEST_F(HttpTlsTest, WebSocketThatLosesItsPeerIsRemoved) {
  Serve();
  for (int i = 0; i < 3; ++i) {
    TlsWebSocketClient socket(port_);
    socket.Upgrade("/ws");
    if (i == 1) socket.Abort();
    if (i == 2) socket.SayEnd();
    if (i == 2) Await([&] { return WebSockets() == 0; });
  }
  Await([&] { return WebSockets() == 0; });
}

TEST_F(HttpTlsTest, PlainHttpRequestGetsTlsExpectedError) {
  Serve();
  RawConnection peer(port_);
  peer.Send(Get("/echo"));
  const std::string answer = peer.ReadAll();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 400 Bad Request\r\n"));
  EXPECT_THAT(answer, HasSubstr("tls_expected"));
  EXPECT_THAT(answer, HasSubstr("https://"));
}

TEST_F(HttpTlsTest, PeerNamesAreReadAndPeersWithoutCertificateRefused) {
  Serve(/*asks_for_certificates=*/true);
  TlsConnection peer(
      port_, {.certificate = authority_.Issue(
                  {.names = "DNS:agent.test,URI:spiffe://test/agent,email:a@b.test,IP:10.1.2.3"})});
  peer.Send(Get("/names"));
  EXPECT_THAT(peer.ReadTo("10.1.2.3"),
              EndsWith("agent.test spiffe://test/agent a@b.test 10.1.2.3"));
  EXPECT_FALSE(Serves());
}

TEST_F(HttpTlsTest, PeerNamesAreIgnoredWithoutAuthority) {
  Serve();
  TlsConnection peer(port_, {.certificate = authority_.Issue({.names = "DNS:agent.test"})});
  peer.Send("GET /names HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(peer.ReadAll(), Not(HasSubstr("agent.test")));
}

// Rotation.

TEST_F(HttpTlsTest, NewCertificatesApplyOnlyToNewConnections) {
  constexpr size_t kPeers = 50;
  Serve();
  std::vector<std::unique_ptr<TlsWebSocketClient>> sockets;
  std::vector<std::unique_ptr<TlsConnection>> waits;
  TlsConnection steady(port_);
  const auto call = [&](const std::string& body) {
    steady.Send(Post(body));
    EXPECT_THAT(steady.ReadTo(body), StartsWith("HTTP/1.1 200 OK\r\n"));
  };
  call("before");
  for (size_t i = 0; i < kPeers; ++i) {
    sockets.push_back(std::make_unique<TlsWebSocketClient>(port_));
    ASSERT_THAT(sockets.back()->Upgrade("/ws"), StartsWith("HTTP/1.1 101"));
    waits.push_back(std::make_unique<TlsConnection>(port_));
    waits.back()->Send(Get("/held"));
  }
  Await([&] { return held_ == kPeers; });

  ASSERT_TRUE(tls_->Look());  // The first look.
  for (int turn = 0; turn < 3; ++turn) {
    const TestAuthority::Pair next = authority_.Issue();
    Write(next);
    ASSERT_TRUE(tls_->Look());
    call(absl::StrCat("turn ", turn));
    TlsConnection newcomer(port_);
    newcomer.Send(Post("new"));
    EXPECT_THAT(newcomer.ReadTo("new"), StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_EQ(newcomer.ServerCertificate(), next.certificate);
    EXPECT_EQ(steady.ServerCertificate(), server_pair_.certificate);
    for (const auto& socket : sockets) {
      socket->SendText(next.certificate);
      EXPECT_EQ(socket->ReadText(), next.certificate);
    }
  }
  EXPECT_EQ(left_, 0);
  for (const auto& wait : waits) wait->Leave();
  Await([&] { return left_ == kPeers; });
}

TEST_F(HttpTlsTest, CertificateStaysWhenNewFilesAreInvalid) {
  Serve();
  const auto shown = [&] {
    TlsConnection peer(port_);
    EXPECT_TRUE(peer.Shake());
    return peer.ServerCertificate();
  };
  const TestAuthority::Pair next = authority_.Issue();
  const std::vector<TestAuthority::Pair> bad = {
      {next.certificate, server_pair_.key},                                 // Only one file is new.
      {next.certificate.substr(0, next.certificate.size() / 2), next.key},  // Half-written.
      {"", ""},
      {"no certificate", "no key"},
      {next.key, next.certificate}};
  for (const TestAuthority::Pair& pair : bad) {
    Write(pair);
    tls_->Look();
    EXPECT_EQ(shown(), server_pair_.certificate);
  }
  std::remove(Path("key").c_str());
  tls_->Look();
  EXPECT_EQ(shown(), server_pair_.certificate);
  Write(next);
  tls_->Look();
  EXPECT_EQ(shown(), next.certificate);
}

TEST_F(HttpTlsTest, LoadErrorNamesInvalidFile) {
  const TestAuthority::Pair other = authority_.Issue();
  Write(server_pair_);
  std::ofstream(Path("other")) << other.key;
  const auto message = [&](const TlsFiles& files) {
    return std::string(ServerTls::Load(files, absl::InfiniteDuration()).status().message());
  };
  EXPECT_THAT(message({.certificate = Path("none"), .key = Path("key")}), HasSubstr("--tls-cert"));
  EXPECT_THAT(message({.certificate = Path("cert"), .key = Path("none")}), HasSubstr("--tls-key"));
  EXPECT_THAT(message({.certificate = Path("cert"), .key = Path("other")}), HasSubstr("--tls-key"));
  EXPECT_THAT(message({Path("cert"), Path("key"), Path("key")}), HasSubstr("--tls-client-ca"));
}

}  // namespace
}  // namespace callslip::gateway
