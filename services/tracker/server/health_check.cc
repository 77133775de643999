#include "tracker/server/health_check.h"

#include "absl/strings/str_cat.h"
#include "common/rpc_credentials.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "grpc/support/time.h"
#include "grpcpp/grpcpp.h"

namespace callslip::tracker {

absl::Status CheckHealth(const Address& address, const std::optional<TlsFiles>& tls,
                         absl::Duration timeout) {
  using grpc::health::v1::HealthCheckResponse;
  const auto stub = grpc::health::v1::Health::NewStub(
      grpc::CreateChannel(address.ToString(), OwnChannelCredentials(tls)));
  grpc::ClientContext context;
  context.set_deadline(gpr_time_from_millis(absl::ToInt64Milliseconds(timeout), GPR_TIMESPAN));
  HealthCheckResponse response;
  const grpc::Status status = stub->Check(&context, {}, &response);
  if (!status.ok()) {
    return absl::UnavailableError(absl::StrCat("the tracker at ", address.ToString(),
                                               " does not answer: ", status.error_message()));
  }
  if (response.status() != HealthCheckResponse::SERVING) {
    return absl::UnavailableError(
        absl::StrCat("the tracker at ", address.ToString(), " is not serving"));
  }
  return absl::OkStatus();
}

}  // namespace callslip::tracker
