#include "gateway/json/tracker_error.h"

#include "absl/strings/str_cat.h"
#include "common/error_details.h"

namespace callslip::gateway {

TrackerError TrackerErrorOf(const absl::Status& status) {
  const ErrorDetails details = DetailsOf(status);
  if (details.reason.empty()) {
    return {absl::StatusCode::kUnavailable, "tracker_unreachable",
            absl::StrCat("The gateway cannot reach the tracker: ", std::string(status.message())),
            "Check that callslip-tracker runs at the gateway's --tracker address and, where it has "
            "a certificate, that the gateway's --tls-ca is of who has signed it, for that address; "
            "the gateway's log says more under `grpc`. Then try again.",
            absl::Seconds(1)};
  }
  if (absl::IsUnauthenticated(status)) {
    return {
        absl::StatusCode::kUnavailable, "tracker_refuses_gateway",
        absl::StrCat("The tracker does not let this gateway in: ", std::string(status.message())),
        "Give the gateway's --token-file a line of the role gateway that the tracker's has, too, "
        "or connect it over the tracker's unix socket.",
        absl::Seconds(1)};
  }
  return {status.code(), details.reason, std::string(status.message()), details.hint,
          details.retry_after};
}

}  // namespace callslip::gateway
