#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "common/status_macros.h"
#include "http_client/http_answer.h"
#include "http_client/http_connection.h"
#include "telemetry/otlp_transport.h"

namespace callslip {
namespace {

// The kernel takes a timeout of zero as unlimited.
constexpr absl::Duration kShortest = absl::Milliseconds(1);

// The status codes after which the OTLP specification allows a retry.
bool IsToBeTriedAgain(int status) {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

class Http final : public OtlpTransport {
 public:
  Http(const OtlpTarget& target, Endpoint endpoint)
      : endpoint_(std::move(endpoint)), timeout_(target.timeout), head_(HeadOf(target)) {}

  absl::Status Send(const std::string& request, absl::Duration within) override {
    within = std::min(within, timeout_);
    const absl::Time until = clock_.Now() + within;
    std::shared_ptr<HttpConnection> connection = Kept();
    if (connection == nullptr) {
      ASSIGN_OR_RETURN(connection, HttpConnection::Connect(endpoint_, std::max(within, kShortest)));
      if (!Keep(connection)) return absl::CancelledError("stopping");
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
    std::string head =
        absl::StrCat("POST ", target.path,
                     " HTTP/1.1\r\nHost: ", target.origin.substr(target.origin.find("//") + 2),
                     "\r\nContent-Type: application/x-protobuf\r\n");
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

  absl::Status SendOver(HttpConnection& connection, const std::string& request, absl::Time until) {
    const std::string head = absl::StrCat(head_, "Content-Length: ", request.size(), "\r\n\r\n");
    ResponseHead answer;
    auto end = HttpAnswerEnd::kBroken;
    if (connection.Send(head, request)) {
      end = ReadHttpAnswer(connection, answer,
                           [&](const auto&, absl::string_view) { return clock_.Now() < until; });
    }
    if (end != HttpAnswerEnd::kWhole) Keep(nullptr);
    if (end == HttpAnswerEnd::kBroken || end == HttpAnswerEnd::kStopped) {
      return absl::UnavailableError("the collector did not answer");
    }
    if (answer.status >= 200 && answer.status < 300) return absl::OkStatus();
    const std::string said = absl::StrCat("the collector answered ", answer.status);
    return IsToBeTriedAgain(answer.status) ? absl::UnavailableError(said)
                                           : absl::InternalError(said);
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
    auto tls = ClientTls::Load({.authorities = target.ca_file});
    if (!tls.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("OTEL_EXPORTER_OTLP_CERTIFICATE: ", tls.status().message()));
    }
    endpoint.tls = *std::move(tls);
  }
  return std::make_unique<Http>(target, std::move(endpoint));
}

}  // namespace callslip
