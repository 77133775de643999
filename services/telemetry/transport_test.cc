#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/mutex.h"
#include "common/rpc_credentials.h"
#include "grpcpp/generic/async_generic_service.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "support/temporary_folder.h"
#include "support/test_authority.h"
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

TEST_P(TransportTest, RefusedConnectionIsRetryable) {
  SilentPort port;
  port.Close();
  EXPECT_EQ(MakeFor(port)->Send("", absl::Seconds(5)).status.code(),
            absl::StatusCode::kUnavailable);
}

TEST_P(TransportTest, HangingCollectorTimesOut) {
  const SilentPort port;
  EXPECT_EQ(MakeFor(port)->Send("", absl::Milliseconds(200)).status.code(),
            absl::StatusCode::kUnavailable);
}

TEST_P(TransportTest, AbortEndsPendingSend) {
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
TEST_P(TransportTest, AbortIgnoresRefusedCall) {
  const SilentPort port;
  const std::unique_ptr<OtlpTransport> transport = MakeFor(port);
  transport->Abort();
  EXPECT_FALSE(transport->Send("", absl::Minutes(10)).status.ok());
  transport->Abort();
}

// The answer of HttpTransport to a collector that sends this response.
OtlpAnswer AnswerTo(const std::string& response) {
  const SilentPort port;
  std::thread collector([&] {
    const int connection = port.Accept();
    std::string request;
    char bytes[1024];
    while (!absl::EndsWith(request, "end of the request")) {
      const ssize_t size = read(connection, bytes, sizeof(bytes));
      if (size <= 0) break;
      request.append(bytes, static_cast<size_t>(size));
    }
    EXPECT_EQ(write(connection, response.data(), response.size()), ssize(response));
    close(connection);
  });
  const std::unique_ptr<OtlpTransport> transport =
      std::move(HttpTransport({.origin = port.origin(), .path = "/v1/traces"})).value();
  const OtlpAnswer answer = transport->Send("the end of the request", absl::Seconds(30));
  collector.join();
  return answer;
}

TEST(HttpTransportTest, StatusCodeDecidesRetryAndHeaderSetsDelay) {
  for (const int status : {429, 502, 503, 504}) {
    const OtlpAnswer answer = AnswerTo(
        absl::StrCat("HTTP/1.1 ", status, " No\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n"));
    EXPECT_EQ(answer.status.code(), absl::StatusCode::kUnavailable) << status;
    EXPECT_EQ(answer.retry_after, absl::Seconds(7)) << status;
  }
  const OtlpAnswer refused = AnswerTo("HTTP/1.1 400 No\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(refused.status.code(), absl::StatusCode::kInternal);
}

TEST(HttpTransportTest, PartialSuccessReportsRejectedSpans) {
  // ExportTraceServiceResponse { partial_success { rejected_spans: 5 } }
  const std::string body("\x0a\x02\x08\x05", 4);
  const auto response = [&](absl::string_view type) {
    return absl::StrCat("HTTP/1.1 200 OK\r\nContent-Type: ", type, "\r\nContent-Length: 4\r\n\r\n",
                        body);
  };
  EXPECT_EQ(AnswerTo(response("application/x-protobuf")).rejected, 5);
  EXPECT_EQ(AnswerTo(response("text/plain")).rejected, 0);
}

// A collector over gRPC that answers all calls with `status`.
class GrpcCollector final : public grpc::CallbackGenericService {
 public:
  explicit GrpcCollector(grpc::Status status, std::optional<TlsFiles> tls = std::nullopt)
      : status_(std::move(status)) {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", ServerCredentials(tls), &port);
    builder.RegisterCallbackGenericService(this);
    server_ = builder.BuildAndStart();
    origin_ = absl::StrCat(tls.has_value() ? "https" : "http", "://127.0.0.1:", port);
  }
  ~GrpcCollector() override { server_->Shutdown(); }

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext*) override {
    return new Reactor(status_);
  }
  const std::string& origin() const { return origin_; }

 private:
  class Reactor final : public grpc::ServerGenericBidiReactor {
   public:
    explicit Reactor(const grpc::Status& status) {
      if (status.ok()) {
        StartWriteAndFinish(&empty_, {}, status);
      } else {
        Finish(status);
      }
    }
    void OnDone() override { delete this; }

   private:
    const grpc::Slice nothing_;
    const grpc::ByteBuffer empty_{&nothing_, 1};
  };

  const grpc::Status status_;
  std::unique_ptr<grpc::Server> server_;
  std::string origin_;
};

OtlpAnswer SendTo(const GrpcCollector& collector, const TlsFiles& tls = {}) {
  const OtlpTarget target = {.origin = collector.origin(), .path = "/Service/Export", .tls = tls};
  return std::move(GrpcTransport(target)).value()->Send("", absl::Seconds(30));
}

TEST(GrpcTransportTest, ExhaustedCollectorIsRetriedOnlyWithRetryInfo) {
  const auto code = grpc::StatusCode::RESOURCE_EXHAUSTED;
  EXPECT_EQ(SendTo(GrpcCollector({code, "full"})).status.code(), absl::StatusCode::kInternal);
  // google.rpc.Status { details { type_url: "type.googleapis.com/google.rpc.RetryInfo" } }
  const std::string type = "type.googleapis.com/google.rpc.RetryInfo";
  const std::string any = absl::StrCat("\x0a", std::string(1, ssize(type)), type);
  const std::string details = absl::StrCat("\x1a", std::string(1, ssize(any)), any);
  EXPECT_EQ(SendTo(GrpcCollector({code, "full", details})).status.code(),
            absl::StatusCode::kUnavailable);
}

TEST(GrpcTransportTest, PresentsCertificateIfCollectorRequiresIt) {
  const TemporaryFolder folder;
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder.path() + "/" + name) << text;
    return folder.path() + "/" + name;
  };
  const TestAuthority authority;
  const TestAuthority::Pair theirs = authority.Issue();
  const TestAuthority::Pair ours = authority.Issue();
  const std::string authorities = write("authorities", authority.certificate());
  const GrpcCollector collector(grpc::Status::OK,
                                TlsFiles{.certificate = write("theirs", theirs.certificate),
                                         .key = write("their-key", theirs.key),
                                         .authorities = authorities});
  EXPECT_TRUE(SendTo(collector, {.certificate = write("ours", ours.certificate),
                                 .key = write("our-key", ours.key),
                                 .authorities = authorities})
                  .status.ok());
  EXPECT_EQ(SendTo(collector, {.authorities = authorities}).status.code(),
            absl::StatusCode::kUnavailable);
}

INSTANTIATE_TEST_SUITE_P(Http, TransportTest, ::testing::Values(&HttpTransport));
INSTANTIATE_TEST_SUITE_P(Grpc, TransportTest, ::testing::Values(&GrpcTransport));

}  // namespace
}  // namespace callslip
