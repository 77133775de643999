#include "http_client/http_connection.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "http_client/http_answer.h"

namespace callslip {
namespace {

constexpr absl::Duration kPatience = absl::Minutes(10);

TEST(EndpointOfTest, KnowsDefaultPorts) {
  const auto text = [](absl::string_view origin) {
    const Endpoint endpoint = EndpointOf(origin);
    return absl::StrCat(endpoint.is_tls ? "tls " : "tcp ", endpoint.host, " ", endpoint.port);
  };
  EXPECT_EQ(text("http://127.0.0.1:7890"), "tcp 127.0.0.1 7890");
  EXPECT_EQ(text("http://h"), "tcp h 80");
  EXPECT_EQ(text("https://h"), "tls h 443");
  EXPECT_EQ(text("https://[::1]:7890"), "tls ::1 7890");
  EXPECT_EQ(text("http://[::1]"), "tcp ::1 80");
  EXPECT_EQ(EndpointOf("unix:/run/s").unix_path, "/run/s");
}

TEST(EndpointOfTest, KnowsWhichEndpointsArePrivate) {
  for (const char* origin : {"http://127.0.0.1:7890", "http://localhost", "http://[::1]:1",
                             "https://h", "unix:/run/s"}) {
    EXPECT_TRUE(EndpointOf(origin).IsPrivate()) << origin;
  }
  for (const char* origin : {"http://h", "http://10.0.0.1:7890", "http://[fd00::1]:1"}) {
    EXPECT_FALSE(EndpointOf(origin).IsPrivate()) << origin;
  }
}

TEST(HttpConnectionTest, FailsIfNothingListens) {
  // A socket that has an address but does not listen.
  const int deaf = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  socklen_t size = sizeof(address);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(deaf, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(getsockname(deaf, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string origin = absl::StrCat("http://127.0.0.1:", ntohs(address.sin_port));
  EXPECT_TRUE(absl::IsUnavailable(HttpConnection::Connect(EndpointOf(origin), kPatience).status()));
  close(deaf);
}

// The server sends the bytes that the test chooses, whatever the request is.
class HttpAnswerTest : public testing::Test {
 protected:
  HttpAnswerTest() {
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = {};
    socklen_t size = sizeof(address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(listener, 1), 0);
    getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    connection_ =
        HttpConnection::Connect(
            EndpointOf(absl::StrCat("http://127.0.0.1:", ntohs(address.sin_port))), kPatience)
            .value();
    peer_ = accept(listener, nullptr, nullptr);
    close(listener);
  }
  ~HttpAnswerTest() override { close(peer_); }

  void Say(const std::string& bytes) {
    EXPECT_EQ(send(peer_, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }
  void SayEnd() { shutdown(peer_, SHUT_WR); }

  HttpAnswerEnd Read() {
    body_.clear();
    return ReadHttpAnswer(*connection_, head_,
                          [this](const ResponseHead&, absl::string_view bytes) {
                            absl::StrAppend(&body_, bytes);
                            return body_.size() < kEnough;
                          });
  }

  static constexpr size_t kEnough = 100;
  std::unique_ptr<HttpConnection> connection_;
  int peer_ = -1;
  ResponseHead head_;
  std::string body_;
};

TEST_F(HttpAnswerTest, ReadsSuccessiveAnswers) {
  EXPECT_TRUE(connection_->IsQuiet());
  Say("HTTP/1.1 200 OK\r\ncontent-type: Text/HTML ; charset=x\r\nMCP-SESSION-ID: s\r\n"
      "Content-Length: 2\r\n\r\nab");
  EXPECT_EQ(Read(), HttpAnswerEnd::kWhole);
  EXPECT_EQ(head_.status, 200);
  EXPECT_EQ(head_.content_type, "text/html");
  EXPECT_EQ(head_.session_id, "s");
  EXPECT_EQ(body_, "ab");
  Say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nc\r\n2;x=y\r\nde\r\n0\r\n\r\n");
  EXPECT_EQ(Read(), HttpAnswerEnd::kWhole);
  EXPECT_EQ(head_.session_id, "");
  EXPECT_EQ(body_, "cde");
  EXPECT_TRUE(connection_->IsQuiet());
}

TEST_F(HttpAnswerTest, SkipsInformationalAnswers) {
  Say("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n");
  EXPECT_EQ(Read(), HttpAnswerEnd::kWhole);
  EXPECT_EQ(head_.status, 204);
}

TEST_F(HttpAnswerTest, DetectsLastAnswerOfConnection) {
  Say("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\na");
  EXPECT_EQ(Read(), HttpAnswerEnd::kLast);
  Say("HTTP/1.1 202 Accepted\r\n\r\n");
  EXPECT_EQ(Read(), HttpAnswerEnd::kLast);
  Say("HTTP/1.1 200 OK\r\n\r\nuntil the end");
  SayEnd();
  EXPECT_EQ(Read(), HttpAnswerEnd::kLast);
  EXPECT_EQ(body_, "until the end");
  EXPECT_FALSE(connection_->IsQuiet());
}

TEST_F(HttpAnswerTest, StopsWhenSinkAsks) {
  Say(absl::StrCat("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", std::string(kEnough, 'x')));
  EXPECT_EQ(Read(), HttpAnswerEnd::kStopped);
}

TEST_F(HttpAnswerTest, RejectsOtherProtocols) {
  Say("SSH-2.0-OpenSSH_9.2\r\n\r\n");
  EXPECT_EQ(Read(), HttpAnswerEnd::kBroken);
}

TEST_F(HttpAnswerTest, DetectsTruncatedAnswer) {
  Say("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
  SayEnd();
  EXPECT_EQ(Read(), HttpAnswerEnd::kBroken);
}

TEST_F(HttpAnswerTest, ShutdownEndsReading) {
  connection_->Shutdown();
  EXPECT_EQ(Read(), HttpAnswerEnd::kBroken);
}

}  // namespace
}  // namespace callslip
