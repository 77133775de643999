#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/mutex.h"
#include "common/rpc_credentials.h"
#include "grpc/support/time.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"
#include "http_client/http_connection.h"
#include "telemetry/otlp_encoding.h"
#include "telemetry/otlp_transport.h"

namespace callslip {
namespace {

// The errors after which the OTLP specification allows a retry. A collector without room for now
// says so by a detail of its error.
bool IsToBeTriedAgain(const grpc::Status& status) {
  const grpc::StatusCode code = status.error_code();
  if (code == grpc::StatusCode::RESOURCE_EXHAUSTED) {
    return absl::StrContains(status.error_details(), "google.rpc.RetryInfo");
  }
  return code == grpc::StatusCode::CANCELLED || code == grpc::StatusCode::DEADLINE_EXCEEDED ||
         code == grpc::StatusCode::ABORTED || code == grpc::StatusCode::OUT_OF_RANGE ||
         code == grpc::StatusCode::UNAVAILABLE || code == grpc::StatusCode::DATA_LOSS;
}

std::string TextOf(const grpc::ByteBuffer& buffer) {
  grpc::Slice slice;
  if (!buffer.DumpToSingleSlice(&slice).ok()) return "";
  return std::string(reinterpret_cast<const char*>(slice.begin()), slice.size());
}

// Makes one call at a time. Sends the bytes as they are, without a stub or gRPC's own messages.
class Grpc final : public OtlpTransport {
 public:
  explicit Grpc(const OtlpTarget& target)
      : method_(target.path),
        headers_(target.headers),
        timeout_(target.timeout),
        stub_(Connect(target)) {}

  OtlpAnswer Send(const std::string& request, absl::Duration within) override {
    grpc::ClientContext context;
    const int64_t ms = absl::ToInt64Milliseconds(std::min(within, timeout_));
    context.set_deadline(gpr_time_from_millis(ms, GPR_TIMESPAN));
    for (const auto& [name, value] : headers_) context.AddMetadata(name, value);
    if (!Begin(&context)) return {.status = absl::CancelledError("stopping")};
    const grpc::Slice slice(request);
    const auto call =
        stub_.PrepareUnaryCall(&context, method_, grpc::ByteBuffer(&slice, 1), &queue_);
    call->StartCall();
    grpc::ByteBuffer response;
    grpc::Status status;
    call->Finish(&response, &status, this);
    void* tag = nullptr;
    bool ok = false;
    queue_.Next(&tag, &ok);
    End();
    if (status.ok()) return {.rejected = RejectedIn(TextOf(response))};
    const std::string said = absl::StrCat("the collector's gRPC status is ", status.error_code());
    return {.status = IsToBeTriedAgain(status) ? absl::UnavailableError(said)
                                               : absl::InternalError(said)};
  }

  void Abort() override {
    MutexLock lock(&mutex_);
    aborted_ = true;
    if (under_way_ != nullptr) under_way_->TryCancel();
  }

 private:
  static std::shared_ptr<grpc::Channel> Connect(const OtlpTarget& target) {
    const Endpoint endpoint = EndpointOf(target.origin);
    const bool is_v6 = endpoint.host.find(':') != std::string::npos;
    // OTLP over gRPC has a default port of its own.
    const size_t host_end = target.origin.find_last_of(is_v6 ? "]" : "/");
    const bool has_port = target.origin.find(':', host_end) != std::string::npos;
    const std::string port = has_port ? endpoint.port : "4317";
    const std::string host = is_v6 ? absl::StrCat("[", endpoint.host, "]") : endpoint.host;
    std::optional<TlsFiles> tls;
    if (endpoint.is_tls) tls = target.tls;
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(absl::StrCat(host, ":", port), ChannelCredentials(tls),
                                     arguments);
  }

  // Registers the call for Abort(). False after Abort(): no call may be made then.
  bool Begin(grpc::ClientContext* context) {
    MutexLock lock(&mutex_);
    if (aborted_) return false;
    under_way_ = context;
    return true;
  }
  void End() {
    MutexLock lock(&mutex_);
    under_way_ = nullptr;
  }

  const std::string method_;
  const std::vector<std::pair<std::string, std::string>> headers_;
  const absl::Duration timeout_;
  // Polled only during a call: a second queue that is always polled would slow down all calls of
  // the process (rpc_client/call_queue.h).
  grpc::CompletionQueue queue_;
  grpc::GenericStub stub_;
  Mutex mutex_;
  grpc::ClientContext* under_way_ ABSL_GUARDED_BY(mutex_) = nullptr;
  bool aborted_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<OtlpTransport>> GrpcTransport(const OtlpTarget& target) {
  return std::make_unique<Grpc>(target);
}

}  // namespace callslip
