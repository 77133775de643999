// Connections over TLS: which servers a client trusts.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "http_client/http_answer.h"
#include "http_client/http_connection.h"
#include "support/temporary_folder.h"
#include "support/test_authority.h"
#include "tls/server_tls.h"

namespace callslip {
namespace {

using ::testing::HasSubstr;

class HttpConnectionTlsTest : public testing::Test {
 protected:
  HttpConnectionTlsTest() {
    Write("ca", authority_.certificate());
    listener_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = {};
    socklen_t size = sizeof(address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(listener_, 1), 0);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  ~HttpConnectionTlsTest() override {
    if (thread_.joinable()) thread_.join();
    close(listener_);
  }

  std::string Path(const std::string& name) const {
    return absl::StrCat(folder_.path(), "/", name);
  }
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(Path(name)) << text;
  }

  // Serves one peer with this certificate. Answers each of its requests with the size of the
  // request, until the peer disconnects.
  void Serve(const TestAuthority::Pair& pair, bool asks_for_certificate = false,
             int max_version = TLS1_3_VERSION) {
    Write("cert", pair.certificate);
    Write("key", pair.key);
    auto tls = ServerTls::Load({.certificate = Path("cert"),
                                .key = Path("key"),
                                .authorities = asks_for_certificate ? Path("ca") : ""},
                               absl::InfiniteDuration());
    ASSERT_TRUE(tls.ok()) << tls.status();
    thread_ = std::thread([this, tls = *tls, max_version] {
      const int peer = accept(listener_, nullptr, nullptr);
      const SslPtr session = tls->NewSession();
      SSL_set_security_level(session.get(), 0);
      SSL_set_min_proto_version(session.get(), TLS1_VERSION);
      SSL_set_max_proto_version(session.get(), max_version);
      UseSocket(session.get(), peer);
      std::string buffer(64 << 10, '\0');
      while (true) {
        const int size = SSL_read(session.get(), buffer.data(), static_cast<int>(buffer.size()));
        if (size <= 0) break;
        const std::string body = std::to_string(size);
        const std::string answer =
            absl::StrCat("HTTP/1.1 200 OK\r\nContent-Length: ", body.size(), "\r\n\r\n", body);
        SSL_write(session.get(), answer.data(), static_cast<int>(answer.size()));
      }
      close(peer);
    });
  }

  absl::StatusOr<std::unique_ptr<HttpConnection>> Connect(const std::string& host, TlsFiles files) {
    const auto tls = ClientTls::Load(files);
    if (!tls.ok()) return tls.status();
    Endpoint endpoint = EndpointOf(absl::StrCat("https://", host, ":", port_));
    endpoint.tls = *tls;
    return HttpConnection::Connect(endpoint, absl::Minutes(10));
  }
  absl::StatusOr<std::unique_ptr<HttpConnection>> Connect(const std::string& host) {
    return Connect(host, {.authorities = Path("ca")});
  }

  // The error of the connection to `host`; empty if it succeeds.
  std::string Refusal(const std::string& host) {
    return std::string(Connect(host).status().message());
  }

  static std::string Ask(HttpConnection& connection, absl::string_view head,
                         absl::string_view body) {
    if (!connection.Send(head, body)) return "";
    ResponseHead response;
    std::string text;
    ReadHttpAnswer(connection, response, [&](const ResponseHead&, absl::string_view bytes) {
      absl::StrAppend(&text, bytes);
      return true;
    });
    return text;
  }

  const TemporaryFolder folder_;
  const TestAuthority authority_;
  int listener_ = -1;
  uint16_t port_ = 0;
  std::thread thread_;
};

TEST_F(HttpConnectionTlsTest, CarriesSuccessiveExchanges) {
  Serve(authority_.Issue());
  auto connection = Connect("127.0.0.1");
  ASSERT_TRUE(connection.ok()) << connection.status();
  EXPECT_EQ(Ask(**connection, "head", "body"), "8");
  EXPECT_TRUE((*connection)->IsQuiet());
  EXPECT_EQ(Ask(**connection, "head", ""), "4");
  EXPECT_TRUE((*connection)->IsQuiet());
}

TEST_F(HttpConnectionTlsTest, AcceptsHostNames) {
  Serve(authority_.Issue({.names = "DNS:localhost"}));
  EXPECT_EQ(Refusal("localhost"), "");
}

TEST_F(HttpConnectionTlsTest, RefusesCertificateOfOtherAddress) {
  Serve(authority_.Issue({.names = "DNS:other.test,IP:10.0.0.1"}));
  EXPECT_THAT(Refusal("127.0.0.1"), HasSubstr("is not accepted: IP address mismatch"));
}

TEST_F(HttpConnectionTlsTest, RefusesCertificateOfOtherHostName) {
  Serve(authority_.Issue({.names = "DNS:other.test"}));
  EXPECT_THAT(Refusal("localhost"), HasSubstr("is not accepted: hostname mismatch"));
}

TEST_F(HttpConnectionTlsTest, RefusesOtherAuthority) {
  Serve(TestAuthority().Issue());
  EXPECT_THAT(Refusal("127.0.0.1"), HasSubstr("--tls-ca names a private authority"));
}

TEST_F(HttpConnectionTlsTest, RefusesServerNotTrustedBySystem) {
  Serve(authority_.Issue());
  EXPECT_THAT(std::string(Connect("127.0.0.1", {}).status().message()),
              HasSubstr("is not accepted"));
}

TEST_F(HttpConnectionTlsTest, RefusesSelfSignedCertificate) {
  Serve(TestAuthority::SelfSigned({}));
  EXPECT_THAT(Refusal("127.0.0.1"), HasSubstr("is not accepted: self-signed certificate"));
}

TEST_F(HttpConnectionTlsTest, RefusesExpiredCertificate) {
  Serve(authority_.Issue({.begins = -3, .ends = -1}));
  EXPECT_THAT(Refusal("127.0.0.1"), HasSubstr("is not accepted: certificate has expired"));
}

TEST_F(HttpConnectionTlsTest, RefusesClientCertificate) {
  Serve(authority_.Issue({.purposes = "clientAuth"}));
  EXPECT_THAT(Refusal("127.0.0.1"), HasSubstr("is not accepted"));
}

TEST_F(HttpConnectionTlsTest, RefusesOldTlsVersions) {
  Serve(authority_.Issue(), /*asks_for_certificate=*/false, TLS1_1_VERSION);
  EXPECT_THAT(Refusal("127.0.0.1"), HasSubstr("no TLS with 127.0.0.1"));
}

TEST_F(HttpConnectionTlsTest, RefusesServerWithoutTls) {
  thread_ = std::thread([this] {
    const int peer = accept(listener_, nullptr, nullptr);
    const std::string answer = "HTTP/1.1 400 Bad Request\r\n\r\n";
    send(peer, answer.data(), answer.size(), MSG_NOSIGNAL);
    char byte;
    while (recv(peer, &byte, 1, 0) > 0) {
    }
    close(peer);
  });
  EXPECT_THAT(Refusal("127.0.0.1"), HasSubstr("no TLS with 127.0.0.1"));
}

TEST_F(HttpConnectionTlsTest, PresentsCertificateWhenAsked) {
  Serve(authority_.Issue(), /*asks_for_certificate=*/true);
  const TestAuthority::Pair own = authority_.Issue({.names = "DNS:agent.test"});
  Write("own-cert", own.certificate);
  Write("own-key", own.key);
  auto connection =
      Connect("127.0.0.1",
              {.certificate = Path("own-cert"), .key = Path("own-key"), .authorities = Path("ca")});
  ASSERT_TRUE(connection.ok()) << connection.status();
  EXPECT_EQ(Ask(**connection, "head", "body"), "8");
}

TEST_F(HttpConnectionTlsTest, ErrorsNameWrongFile) {
  EXPECT_THAT(std::string(Connect("h", {.authorities = Path("none")}).status().message()),
              HasSubstr("--tls-ca"));
  EXPECT_THAT(std::string(Connect("h", {.certificate = "c"}).status().message()),
              HasSubstr("set both or none"));
}

}  // namespace
}  // namespace callslip
