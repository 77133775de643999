#pragma once

#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "common/rpc_credentials.h"
#include "support/test_authority.h"
#include "support/tls_connection.h"
#include "tracker/rpc/access_fixture.h"

namespace callslip::tracker {

// A tracker with tokens and TLS, whose files are in `folder_`: `ca`, `cert`, `key`. These of
// AccessTest's principals also have certificates: client, worker and gateway, with the names
// client.test, worker.test and gateway.test.
class TlsListenerTest : public AccessTest {
 protected:
  using Peer = gateway::TlsConnection;

  // Call it first in a test.
  void ServeTls(bool asks_for_certificates) {
    UseTokens();
    credentials_->Replace(EntriesWithCertificates());
    Write("ca", authority_.certificate());
    Write(server_pair_);
    Serve(TlsFiles{Path("cert"), Path("key"), asks_for_certificates ? Path("ca") : ""});
  }

  static std::vector<TokenFile::Entry> EntriesWithCertificates() {
    std::vector<TokenFile::Entry> entries = Entries();
    for (const Role role : {Role::kClient, Role::kWorker, Role::kGateway}) {
      const std::string name(RoleName(role));
      entries.push_back({{name, role, {}}, "", name + ".test"});
    }
    return entries;
  }

  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }
  // Atomically.
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name + ".next")) << text;
    EXPECT_EQ(std::rename(Path(name + ".next").c_str(), Path(name).c_str()), 0);
  }
  void Write(const TestAuthority::Pair& pair) const {
    Write("key", pair.key);
    Write("cert", pair.certificate);
  }

  uint16_t port() const { return bound_[0].port; }

  // A separate connection like a gateway's, with a certificate for `name` unless that is empty.
  std::shared_ptr<grpc::Channel> Connect(const std::string& name = "") const {
    TlsFiles files{.authorities = Path("ca")};
    if (!name.empty()) {
      const TestAuthority::Pair pair = authority_.Issue({.names = "DNS:" + name});
      files.certificate = Path(name);
      files.key = Path(name + "-key");
      Write(name, pair.certificate);
      Write(name + "-key", pair.key);
    }
    return Connect(files);
  }
  std::shared_ptr<grpc::Channel> Connect(const TlsFiles& files) const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(bound_[0].ToString(), ChannelCredentials(files), arguments);
  }

  // A peer for HTTP/2, well-behaved unless `options` say otherwise.
  std::shared_ptr<Peer> PeerWith(Peer::Options options) const {
    if (options.protocols.empty()) options.protocols = "\x2h2";
    return std::make_shared<Peer>(port(), options);
  }
  // The server's response to a correct HTTP/2 start; empty if the peer is refused.
  static std::string Greet(Peer& peer) {
    peer.Send(std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") +
              std::string("\0\0\0\4\0\0\0\0\0", 9));
    return peer.Read(9);
  }

  // Calls with a principal's token, over a connection without a token of its own.
  absl::Status Ask(const std::shared_ptr<grpc::Channel>& channel, const std::string& token = "") {
    v1::ListCommandsRequest request;
    return CallOver(channel, &v1::CommandService::Stub::ListCommands,
                    token.empty() ? "" : TokenOf(token), request)
        .status();
  }

  const TestAuthority authority_;
  TestAuthority::Pair server_pair_ = authority_.Issue();
};

}  // namespace callslip::tracker
