#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "common/mutex.h"
#include "gtest/gtest.h"
#include "telemetry/otlp_transport.h"

namespace callslip {
namespace {

// A port of loopback on which connections are accepted by the kernel, and never answered.
class SilentPort {
 public:
  SilentPort() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in name = {.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(name);
    auto* address = reinterpret_cast<sockaddr*>(&name);
    EXPECT_EQ(bind(fd_, address, size), 0);
    EXPECT_EQ(listen(fd_, 8), 0);
    EXPECT_EQ(getsockname(fd_, address, &size), 0);
    origin_ = absl::StrCat("http://127.0.0.1:", ntohs(name.sin_port));
  }
  ~SilentPort() { Close(); }
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }
  // Blocks until a client has connected; its bytes stay unread.
  int Accept() const { return accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC); }
  const std::string& origin() const { return origin_; }

 private:
  int fd_;
  std::string origin_;
};

using Make = absl::StatusOr<std::unique_ptr<OtlpTransport>> (*)(const OtlpTarget&);

class TransportTest : public ::testing::TestWithParam<Make> {
 protected:
  std::unique_ptr<OtlpTransport> MakeFor(const SilentPort& port) {
    return std::move(GetParam()({.origin = port.origin(), .path = "/v1/traces"})).value();
  }
};

TEST_P(TransportTest, NobodyListensIsToBeTriedAgain) {
  SilentPort port;
  port.Close();
  EXPECT_EQ(MakeFor(port)->Send("", absl::Seconds(5)).status.code(),
            absl::StatusCode::kUnavailable);
}

TEST_P(TransportTest, ACollectorThatHangsIsLeftInTime) {
  const SilentPort port;
  EXPECT_EQ(MakeFor(port)->Send("", absl::Milliseconds(200)).status.code(),
            absl::StatusCode::kUnavailable);
}

TEST_P(TransportTest, AnAbortEndsWhatIsBeingSent) {
  const SilentPort port;
  const std::unique_ptr<OtlpTransport> transport = MakeFor(port);
  std::thread sender([&] { EXPECT_FALSE(transport->Send("", absl::Minutes(10)).status.ok()); });
  const int connection = port.Accept();
  transport->Abort();
  sender.join();
  close(connection);
  EXPECT_FALSE(transport->Send("", absl::Minutes(10)).status.ok());
}

// A call that Send() has refused does not outlive it.
TEST_P(TransportTest, ACallThatIsNotBegunIsNobodysToEnd) {
  const SilentPort port;
  const std::unique_ptr<OtlpTransport> transport = MakeFor(port);
  transport->Abort();
  EXPECT_FALSE(transport->Send("", absl::Minutes(10)).status.ok());
  transport->Abort();
}

INSTANTIATE_TEST_SUITE_P(Http, TransportTest, ::testing::Values(&HttpTransport));
INSTANTIATE_TEST_SUITE_P(Grpc, TransportTest, ::testing::Values(&GrpcTransport));

}  // namespace
}  // namespace callslip
