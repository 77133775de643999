#include "gateway/json/tracker_error.h"

#include "absl/strings/str_cat.h"
#include "common/error_details.h"
#include "common/log.h"

namespace callslip::gateway {

TrackerError TrackerErrorOf(const absl::Status& status) {
  const ErrorDetails details = DetailsOf(status);
  if (details.reason.empty()) {
    Log(LogLevel::kDebug, "the tracker was not heard",
        {{"code", absl::StatusCodeToString(status.code())},
         {"error", std::string(status.message())}});
    return {.code = absl::StatusCode::kUnavailable,
            .reason = "tracker_unreachable",
            .message = absl::IsDeadlineExceeded(status) ? "The tracker did not answer in time."
                                                        : "The gateway cannot reach the tracker.",
            .hint =
                "Check that callslip-tracker runs at the gateway's --tracker address and, where it "
                "has a certificate, that the gateway's --tls-ca is of who has signed it, for that "
                "address; the gateway's log says more under `grpc`. Then try again.",
            .retry_after = absl::Seconds(1),
            .repeatable = true};
  }
  if (absl::IsUnauthenticated(status)) {
    return {
        .code = absl::StatusCode::kUnavailable,
        .reason = "tracker_refuses_gateway",
        .message = absl::StrCat("The tracker does not let this gateway in: ",
                                std::string(status.message())),
        .hint =
            "Give the gateway's --token-file a line of the role gateway that the tracker's has, "
            "too, or connect it over the tracker's unix socket.",
        .retry_after = absl::Seconds(1),
        .repeatable = true};
  }
  return {.code = status.code(),
          .reason = details.reason,
          .message = std::string(status.message()),
          .hint = details.hint,
          .retry_after = details.retry_after,
          .repeatable = details.retry_after.has_value() || absl::IsUnavailable(status) ||
                        absl::IsCancelled(status)};
}

bool PassesWithTime(const absl::Status& status) {
  const bool gateway_stops = absl::IsCancelled(status) && !DetailsOf(status).reason.empty();
  // An administrator must give the gateway another token.
  if (gateway_stops || absl::IsUnauthenticated(status)) return false;
  return TrackerErrorOf(status).repeatable;
}

}  // namespace callslip::gateway
