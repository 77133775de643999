#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "common/status_macros.h"
#include "common/version.h"
#include "http_client/http_answer.h"
#include "http_client/http_connection.h"
#include "telemetry/otlp_encoding.h"
#include "telemetry/otlp_transport.h"

namespace callslip {
namespace {

// The kernel takes a timeout of zero as unlimited.
constexpr absl::Duration kShortest = absl::Milliseconds(1);

// Of an answer: it has two numbers and a sentence.
constexpr size_t kMaxBodyBytes = 4096;

// The status codes after which the OTLP specification allows a retry.
bool IsToBeTriedAgain(int status) {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

class Http final : public OtlpTransport {
 public:
  Http(const OtlpTarget& target, Endpoint endpoint)
      : endpoint_(std::move(endpoint)), timeout_(target.timeout), head_(HeadOf(target)) {}

  OtlpAnswer Send(const std::string& request, absl::Duration within) override {
    within = std::min(within, timeout_);
    const absl::Time until = clock_.Now() + within;
    std::shared_ptr<HttpConnection> connection = Kept();
    if (connection == nullptr) {
      auto connected = HttpConnection::Connect(endpoint_, std::max(within, kShortest));
      if (!connected.ok()) return {.status = connected.status()};
      connection = *std::move(connected);
      if (!Keep(connection)) return {.status = absl::CancelledError("stopping")};
    }
    connection->SetSilence(std::max(until - clock_.Now(), kShortest));
    return SendOver(*connection, request, until);
  }

  void Abort() override {
    MutexLock lock(&mutex_);
    aborted_ = true;
    endpoint_.lookup->Cancel();
    if (connection_ != nullptr) connection_->Shutdown();
  }

 private:
  static std::string HeadOf(const OtlpTarget& target) {
    std::string head = absl::StrCat(
        "POST ", target.path,
        " HTTP/1.1\r\nHost: ", target.origin.substr(target.origin.find("//") + 2),
        "\r\nUser-Agent: callslip/", kVersion, "\r\nContent-Type: application/x-protobuf\r\n");
    for (const auto& [name, value] : target.headers) {
      absl::StrAppend(&head, name, ": ", value, "\r\n");
    }
    return head;
  }

  std::shared_ptr<HttpConnection> Kept() {
    MutexLock lock(&mutex_);
    if (connection_ != nullptr && !connection_->IsQuiet()) connection_ = nullptr;
    return connection_;
  }
  bool Keep(std::shared_ptr<HttpConnection> connection) {
    MutexLock lock(&mutex_);
    connection_ = std::move(connection);
    return !aborted_;
  }

  OtlpAnswer SendOver(HttpConnection& connection, const std::string& request, absl::Time until) {
    const std::string head = absl::StrCat(head_, "Content-Length: ", request.size(), "\r\n\r\n");
    ResponseHead answer;
    std::string body;
    auto end = HttpAnswerEnd::kBroken;
    if (connection.Send(head, request)) {
      end = ReadHttpAnswer(connection, answer, [&](const auto&, absl::string_view bytes) {
        absl::StrAppend(&body, bytes.substr(0, kMaxBodyBytes - body.size()));
        return clock_.Now() < until;
      });
    }
    if (end != HttpAnswerEnd::kWhole) Keep(nullptr);
    if (end == HttpAnswerEnd::kBroken || end == HttpAnswerEnd::kStopped) {
      return {.status = absl::UnavailableError("the collector did not answer")};
    }
    if (answer.status >= 200 && answer.status < 300) {
      const bool is_otlp = answer.content_type == "application/x-protobuf";
      return {.rejected = is_otlp ? RejectedIn(body) : 0};
    }
    const std::string said = absl::StrCat("the collector answered ", answer.status);
    if (!IsToBeTriedAgain(answer.status)) return {.status = absl::InternalError(said)};
    return {.status = absl::UnavailableError(said),
            .retry_after = absl::Seconds(answer.retry_after_seconds)};
  }

  RealClock clock_;
  const Endpoint endpoint_;
  const absl::Duration timeout_;
  const std::string head_;  // Without Content-Length.
  Mutex mutex_;
  std::shared_ptr<HttpConnection> connection_ ABSL_GUARDED_BY(mutex_);  // Null if not connected.
  bool aborted_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<OtlpTransport>> HttpTransport(const OtlpTarget& target) {
  Endpoint endpoint = EndpointOf(target.origin);
  if (endpoint.is_tls) {
    ASSIGN_OR_RETURN(endpoint.tls, ClientTls::Load(target.tls));
  }
  return std::make_unique<Http>(target, std::move(endpoint));
}

}  // namespace callslip
