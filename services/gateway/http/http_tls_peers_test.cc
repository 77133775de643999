// Peers that speak TLS incorrectly, or not at all. Each is refused or disconnected within its time,
// leaves no memory allocated, and does not affect other peers.
#include <unistd.h>

#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "common/file_limit.h"
#include "gateway/http/http_tls_fixture.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

using Options = TlsConnection::Options;

// A ClientHello as OpenSSL writes it.
std::string ClientHello() {
  const SslContextPtr context(SSL_CTX_new(TLS_client_method()));
  const SslPtr session(SSL_new(context.get()));
  SSL_set_bio(session.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  SSL_set_connect_state(session.get());
  SSL_do_handshake(session.get());
  char* text = nullptr;
  const long size = BIO_get_mem_data(SSL_get_wbio(session.get()), &text);
  return {text, static_cast<size_t>(size)};
}

std::string Repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

std::string Bytes(std::initializer_list<int> bytes) {
  std::string text;
  for (const int byte : bytes) text.push_back(static_cast<char>(byte));
  return text;
}

// How much the memory of this process may grow, apart from that of open connections.
#ifdef __SANITIZE_ADDRESS__  // It keeps up to 256 MiB that was freed.
constexpr int64_t kMaxGrowth = int64_t{320} << 20;
#else
constexpr int64_t kMaxGrowth = int64_t{8} << 20;
#endif

int64_t ResidentBytes() {
  int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

class TlsPeersTest : public HttpTlsTest {
 protected:
  using PeerPtr = std::shared_ptr<RawConnection>;

  TlsPeersTest() {
    RaiseFileLimit();
    limits_.handshake_time = limits_.header_time = std::chrono::seconds(1);
    limits_.idle = limits_.body_time = limits_.write_time = std::chrono::seconds(1);
  }

  Options Good() const { return {.certificate = good_}; }

  // Sends these bytes, and nothing more.
  PeerPtr Saying(const std::string& bytes) const {
    auto peer = std::make_shared<RawConnection>(port_);
    peer->Send(bytes);
    return peer;
  }

  // Gets no answer.
  PeerPtr Unwanted(Options options) const {
    auto peer = std::make_shared<TlsConnection>(port_, options);
    peer->Send(Get("/echo"));
    EXPECT_EQ(peer->ReadTo("\r\n\r\n"), "");
    return peer;
  }
  PeerPtr Showing(const TestAuthority::Pair& certificate) const {
    return Unwanted({.certificate = certificate});
  }

  // Completes the handshake, then sends these bytes outside of TLS.
  PeerPtr Established(const std::string& raw_bytes, Options options) const {
    auto peer = std::make_shared<TlsConnection>(port_, options);
    EXPECT_TRUE(peer->Shake());
    peer->SendRaw(raw_bytes);
    return peer;
  }
  PeerPtr Established(const std::string& raw_bytes) const { return Established(raw_bytes, Good()); }

  // Completes the handshake, then sends this over TLS.
  std::shared_ptr<TlsConnection> Asking(const std::string& request) const {
    auto peer = std::make_shared<TlsConnection>(port_, Good(), /*receive_buffer=*/4096);
    peer->Send(request);
    return peer;
  }

  PeerPtr Renegotiating() const {
    Options options = Good();
    options.max_version = TLS1_2_VERSION;
    auto peer = std::make_shared<TlsConnection>(port_, options);
    EXPECT_TRUE(peer->Shake());
    SSL_renegotiate(peer->session());
    EXPECT_FALSE(peer->Shake());
    return peer;
  }

  PeerPtr Resetting() const {
    PeerPtr peer = Saying(ClientHello());
    peer->Abort();
    return peer;
  }

  PeerPtr LeavingMidRequest() const {
    auto peer = Asking("POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 10\r\n\r\nabc");
    peer->Leave();
    return peer;
  }

  PeerPtr EndingMidRequest() const {
    auto peer = Asking("POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 10\r\n\r\nabc");
    peer->SayEnd();
    return peer;
  }

  std::vector<std::function<PeerPtr()>> BadPeers() const {
    const std::string hello = ClientHello();
    const std::string host = "Host: test\r\n";
    const auto version = [](int number) {
      return Options{.min_version = number, .max_version = number, .security_level = 0};
    };
    const auto ciphers = [](const char* names) {
      return Options{.max_version = TLS1_2_VERSION, .security_level = 0, .ciphers = names};
    };
    return {
        // Old versions.
        [=, this] { return Unwanted(version(TLS1_VERSION)); },
        [=, this] { return Unwanted(version(TLS1_1_VERSION)); },
        [=, this] {
          return Saying(Bytes({0x80, 0x2e, 1, 0, 2, 0, 0x15, 0, 0, 0, 0x10}));
        },  // SSL 2.
        [=, this] {
          return Saying(Bytes({0x16, 3, 0, 0, 4, 1, 0, 0, 0}));
        },  // SSL 3.
        // Ciphers and protocols that are not accepted.
        [=, this] { return Unwanted(ciphers("AES128-SHA256")); },
        [=, this] { return Unwanted(ciphers("ECDHE-ECDSA-AES128-SHA256")); },
        [=, this] { return Unwanted(ciphers("aNULL")); },
        [=, this] { return Unwanted({.protocols = "\x2h2", .certificate = good_}); },
        // A missing certificate, or one that is not accepted.
        [=, this] { return Unwanted({}); },
        [=, this] { return Unwanted({.max_version = TLS1_2_VERSION}); },
        [=, this] { return Showing(other_authority_.Issue()); },
        [=, this] { return Showing(TestAuthority::SelfSigned({})); },
        [=, this] { return Showing(authority_.Issue({.begins = -3, .ends = -1})); },
        [=, this] { return Showing(authority_.Issue({.begins = 1, .ends = 2})); },
        [=, this] { return Showing(authority_.Issue({.purposes = "serverAuth"})); },
        // Other protocols than TLS.
        [=, this] { return Saying(Get("/echo")); },
        [=, this] { return Saying("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"); },
        [=, this] { return Saying("SSH-2.0-OpenSSH_9.2\r\n"); },
        [=, this] { return Saying(std::string(100'000, '\0')); },
        [=, this] { return Saying(Repeated("garbage", 10'000)); },
        // Handshakes that fail or do not end.
        [=, this] { return Saying(""); },
        [=, this] { return Saying(hello); },
        [=, this] { return Saying(hello.substr(0, hello.size() - 1)); },
        [=, this] { return Saying(hello + hello); },
        [=, this] { return Saying(hello + std::string(20'000, 'x')); },
        [=, this] { return Resetting(); },
        [=, this] {
          return Saying(Bytes({0x16, 3, 1, 0xFF, 0xFF}) + std::string(70'000, 'x'));
        },
        [=, this] {
          return Saying(Repeated(Bytes({0x16, 3, 3, 0, 0}), 1000));
        },
        [=, this] {
          return Saying(Repeated(Bytes({0x14, 3, 3, 0, 1, 1}), 1000));
        },
        [=, this] {
          return Saying(Repeated(Bytes({0x15, 3, 3, 0, 2, 1, 0}), 1000));
        },
        // Invalid records after the handshake.
        [=, this] { return Established(""); },
        [=, this] {
          return Established(Bytes({0x17, 3, 3, 0xFF, 0xFF}) + std::string(70'000, 'x'));
        },
        [=, this] {
          return Established(Bytes({0x17, 3, 3, 0, 32}) + std::string(32, 'x'));
        },
        [=, this] {
          return Established(Bytes({0x16, 3, 3, 0, 4, 1, 0, 0, 0}));
        },
        [=, this] {
          return Established(Repeated(Bytes({0x15, 3, 3, 0, 2, 1, 0}), 1000));
        },
        [=, this] { return Established(hello); },
        [=, this] { return Established(Get("/echo")); },
        [=, this] { return Renegotiating(); },
        // Requests that are not valid or do not end.
        [=, this] { return Asking("GET /echo HT"); },
        [=, this] { return LeavingMidRequest(); },
        [=, this] { return EndingMidRequest(); },
        [=, this] { return Asking(Get("/stream")); },  // And never reads.
        [=, this] {
          return Asking("POST /echo HTTP/1.1\r\n" + host + "Content-Length: 10\r\n\r\nabc");
        },
    };
  }

  const TestAuthority::Pair good_ = authority_.Issue();
  const TestAuthority other_authority_;
};

TEST_F(TlsPeersTest, BadPeersAreDisconnectedAndGoodPeersStay) {
  limits_.idle = std::chrono::seconds(30);  // For the steady peer.
  Serve(/*asks_for_certificates=*/true);
  TlsConnection steady(port_, Good());
  const auto call = [&] {
    steady.Send(Post("steady"));
    EXPECT_TRUE(absl::StartsWith(steady.ReadTo("steady"), "HTTP/1.1 200"));
  };
  const auto round = [&] {
    std::vector<PeerPtr> peers;
    for (const auto& make : BadPeers()) {
      peers.push_back(make());
      call();
    }
    EXPECT_GE(peers.size(), 40u);
    // The server closes all connections but the steady one, also those whose peers stay.
    Await([&] { return Connections() == 1; });
    call();
    EXPECT_TRUE(Serves(Good()));
    Await([&] { return Connections() == 1; });
  };
  round();
  const int64_t before = ResidentBytes();
  for (int i = 0; i < 2; ++i) round();
  EXPECT_LT(ResidentBytes() - before, kMaxGrowth);
}

TEST_F(TlsPeersTest, ThousandHalfOpenHandshakesDoNotBlockOtherPeers) {
  limits_.handshakes = 100;
  Serve();
  const auto round = [&] {
    std::vector<PeerPtr> peers;
    for (int i = 0; i < 1000; ++i) {
      peers.push_back(Saying(i % 2 == 0 ? ClientHello() : ""));
      if (i % 100 == 0) {
        EXPECT_TRUE(Serves());
      }
    }
    EXPECT_TRUE(Serves());
    // A connection over the limit may not be closed yet.
    EXPECT_LE(Connections(), 102);
    // The rest is closed within its time, though the peers stay.
    Await([&] { return Connections() == 0; });
  };
  round();
  const int64_t before = ResidentBytes();
  round();
  EXPECT_LT(ResidentBytes() - before, kMaxGrowth);
}

TEST_F(TlsPeersTest, ConnectionsWithFailedHandshakesMakeRoom) {
  limits_.connections = 2;
  limits_.linger_time = std::chrono::hours(1);
  Serve();
  for (const std::string& bytes : {Get("/echo"), std::string("SSH-2.0-OpenSSH_9.2\r\n")}) {
    std::vector<PeerPtr> refused;
    for (int i = 0; i < 4; ++i) {
      refused.push_back(Saying(bytes));
      // The refusal arrives whole; the connection stays open.
      refused.back()->ReadAll();
    }
    EXPECT_TRUE(Serves());
  }
}

TEST_F(TlsPeersTest, ClientHelloInSingleBytesIsAnswered) {
  Serve();
  RawConnection slow(port_);
  for (const char byte : ClientHello()) slow.Send(std::string(1, byte));
  const std::string head = slow.Read(5);
  ASSERT_EQ(head.size(), 5u);
  EXPECT_EQ(head[0], 0x16);  // A handshake's record, not an alert.
}

}  // namespace
}  // namespace callslip::gateway
