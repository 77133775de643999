#include "runner/tracker/health_check.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "callslip/tracker/v1/runner_service.grpc.pb.h"
#include "grpc/support/time.h"
#include "grpcpp/grpcpp.h"
#include "rpc_client/channel.h"

namespace callslip::runner {

namespace v1 = callslip::tracker::v1;

absl::Status CheckServes(const RunnerConfig& config, const std::string& runner_id,
                         const std::string& token, absl::Duration timeout) {
  const auto stub =
      v1::RunnerService::NewStub(ConnectChannel({config.tracker}, config.TrackerTls()));
  grpc::ClientContext context;
  context.set_deadline(gpr_time_from_millis(absl::ToInt64Milliseconds(timeout), GPR_TIMESPAN));
  context.set_wait_for_ready(true);
  if (!token.empty()) context.AddMetadata("authorization", absl::StrCat("Bearer ", token));
  v1::ListRunnersResponse response;
  const grpc::Status status = stub->ListRunners(&context, {}, &response);
  if (!status.ok()) {
    return absl::UnavailableError(absl::StrCat("the tracker at ", config.tracker.ToString(),
                                               " does not answer: ", status.error_message()));
  }
  const bool serves = std::any_of(response.runners().begin(), response.runners().end(),
                                  [&](const v1::Runner& runner) {
                                    return runner.runner_id() == runner_id && runner.connected();
                                  });
  if (serves) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("the tracker at ", config.tracker.ToString(), " has no runner ", runner_id));
}

}  // namespace callslip::runner
