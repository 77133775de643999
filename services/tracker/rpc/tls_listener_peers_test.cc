// Peers that use the tracker's TLS port incorrectly: each is refused, and does not affect others.
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/error_details.h"
#include "common/file_limit.h"
#include "gtest/gtest.h"
#include "tracker/rpc/tls_listener_fixture.h"

namespace callslip::tracker {
namespace {

class TlsListenerPeersTest : public TlsListenerTest {
 protected:
  using Options = Peer::Options;
  using RawPeer = std::shared_ptr<gateway::RawConnection>;

  // Connects over TLS and gets no answer.
  RawPeer Unwanted(const Options& options) const {
    const auto peer = PeerWith(options);
    EXPECT_EQ(Greet(*peer), "");
    return peer;
  }
  RawPeer Showing(const TestAuthority::Pair& certificate) const {
    return Unwanted({.certificate = certificate});
  }
  // Sends these bytes without TLS and gets an alert at most.
  RawPeer Saying(const std::string& bytes) const {
    const RawPeer peer = Silent(bytes);
    EXPECT_EQ(peer->ReadAll().find("HTTP"), std::string::npos);
    return peer;
  }
  // Sends these bytes, if any, and stays connected.
  RawPeer Silent(const std::string& bytes) const {
    auto peer = std::make_shared<gateway::RawConnection>(port());
    peer->Send(bytes);
    return peer;
  }
  RawPeer Resetting(const std::string& bytes) const {
    const RawPeer peer = Silent(bytes);
    peer->Abort();
    return peer;
  }

  struct BadPeer {
    const char* name;
    std::function<RawPeer()> come;
  };
  std::vector<BadPeer> BadPeers() const {
    const auto version = [this](int number) {
      return Options{
          .min_version = number, .max_version = number, .security_level = 0, .certificate = good_};
    };
    const auto ciphers = [this](const char* names) {
      return Options{.max_version = TLS1_2_VERSION,
                     .security_level = 0,
                     .ciphers = names,
                     .certificate = good_};
    };
    return {
        {"TLS 1.0", [=, this] { return Unwanted(version(TLS1_VERSION)); }},
        {"TLS 1.1", [=, this] { return Unwanted(version(TLS1_1_VERSION)); }},
        {"no forward secrecy", [=, this] { return Unwanted(ciphers("AES128-SHA256")); }},
        {"no authentication", [=, this] { return Unwanted(ciphers("aNULL")); }},
        {"HTTP/1.1",
         [=, this] { return Unwanted({.protocols = "\x8http/1.1", .certificate = good_}); }},
        {"no certificate", [=, this] { return Unwanted({}); }},
        {"no certificate, TLS 1.2",
         [=, this] { return Unwanted({.max_version = TLS1_2_VERSION}); }},
        {"another authority", [=, this] { return Showing(other_authority_.Issue()); }},
        {"self-signed", [=, this] { return Showing(TestAuthority::SelfSigned({})); }},
        {"expired", [=, this] { return Showing(authority_.Issue({.begins = -3, .ends = -1})); }},
        {"not yet valid",
         [=, this] { return Showing(authority_.Issue({.begins = 1, .ends = 2})); }},
        {"a server's", [=, this] { return Showing(authority_.Issue({.purposes = "serverAuth"})); }},
        {"plain HTTP/1.1", [=, this] { return Saying("GET / HTTP/1.1\r\nHost: test\r\n\r\n"); }},
        {"plain HTTP/2", [=, this] { return Saying("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"); }},
        {"SSH", [=, this] { return Saying("SSH-2.0-OpenSSH_9.2\r\n"); }},
        {"zeros", [=, this] { return Saying(std::string(100'000, '\0')); }},
        {"a record of nothing",
         [=, this] { return Saying(std::string("\x16\3\1\xFF\xFF") + std::string(70'000, 'x')); }},
        {"half of a handshake", [=, this] { return Silent(std::string("\x16\3\1\2\0\1", 6)); }},
        {"silence", [=, this] { return Silent(""); }},
        {"a reset", [=, this] { return Resetting(std::string("\x16\3\1\2\0\1", 6)); }},
    };
  }

  const TestAuthority::Pair good_ = authority_.Issue({.names = "DNS:client.test"});
  const TestAuthority other_authority_;
};

TEST_F(TlsListenerPeersTest, BadPeersAreRefusedAndOthersAreServed) {
  ServeTls(/*asks_for_certificates=*/true);
  EXPECT_NE(Greet(*PeerWith({.certificate = good_})), "") << "a good one is served";
  const auto steady = Connect("client.test");
  std::vector<RawPeer> peers;
  for (const BadPeer& bad : BadPeers()) {
    SCOPED_TRACE(bad.name);
    peers.push_back(bad.come());
    EXPECT_OK(Ask(steady));
  }
  EXPECT_GE(peers.size(), 20u);
  EXPECT_OK(Ask(Connect("client.test")));
}

TEST_F(TlsListenerPeersTest, UnknownCertificateIsRefusedByEveryMethod) {
  ServeTls(/*asks_for_certificates=*/true);
  const auto stranger = Connect("stranger.test");
  EXPECT_EQ(DetailsOf(Ask(stranger)).reason, "certificate_unknown");
  // A token identifies the stranger; an unknown token does not.
  EXPECT_OK(Ask(stranger, "client"));
  EXPECT_EQ(DetailsOf(Ask(stranger, "unknown")).reason, "token_unknown");
  tcp_ = stranger;
  for (const google::protobuf::MethodDescriptor* method : AllMethods()) {
    if (method->service()->full_name() == "grpc.health.v1.Health") continue;
    EXPECT_EQ(DetailsOf(Outcome(*method, {"nobody", "stranger", ""})).reason, "certificate_unknown")
        << method->full_name();
  }
}

TEST_F(TlsListenerPeersTest, HundredsOfUnfinishedHandshakesBlockNoOtherPeer) {
  RaiseFileLimit();
  ServeTls(/*asks_for_certificates=*/true);
  const auto steady = Connect("client.test");
  std::vector<RawPeer> peers;
  for (int i = 0; i < 500; ++i) {
    peers.push_back(Silent(i % 2 == 0 ? std::string("\x16\3\1\2\0\1", 6) : ""));
    if (i % 100 == 0) {
      EXPECT_OK(Ask(steady));
      EXPECT_OK(Ask(Connect("client.test")));
    }
  }
  EXPECT_OK(Ask(Connect("client.test")));
}

// The other direction: a client, such as the gateway, checks the tracker that it has reached.

TEST_F(TlsListenerPeersTest, ClientRefusesATrackerOfAnotherAuthority) {
  ServeTls(/*asks_for_certificates=*/false);
  EXPECT_OK(Ask(Connect(), "client"));
  Write("other-ca", other_authority_.certificate());
  EXPECT_TRUE(
      absl::IsUnavailable(Ask(Connect(TlsFiles{.authorities = Path("other-ca")}), "client")));
}

TEST_F(TlsListenerPeersTest, ClientRefusesATrackerWithAnotherName) {
  server_pair_ = authority_.Issue({.names = "DNS:other.example"});
  ServeTls(/*asks_for_certificates=*/false);
  EXPECT_TRUE(absl::IsUnavailable(Ask(Connect(), "client")));
}

}  // namespace
}  // namespace callslip::tracker
