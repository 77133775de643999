#ifndef CALLSLIP_COMMON_ERROR_DETAILS_H_
#define CALLSLIP_COMMON_ERROR_DETAILS_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace callslip {

// What an error says besides its code and message. It travels on the absl::Status through our
// layers, as trailing metadata over gRPC (common/rpc_status.h) and as members of the error
// object over HTTP.
struct ErrorDetails {
  // One lower_snake_case word for programs, stable across releases, such as "queue_full".
  std::string reason;
  // One sentence for people and models: what to do next. May be empty.
  std::string hint;
  // When the same call may be worth repeating.
  std::optional<absl::Duration> retry_after;
  // How many entries the queue holds that refused the call.
  std::optional<int> depth;

  friend bool operator==(const ErrorDetails&, const ErrorDetails&) = default;
};

// The status `code` with `message` and `details`. `code` must not be OK.
absl::Status ErrorWithDetails(absl::StatusCode code, absl::string_view message,
                              const ErrorDetails& details);

// The details of `status`; all empty for a status that carries none.
ErrorDetails DetailsOf(const absl::Status& status);

}  // namespace callslip

#endif  // CALLSLIP_COMMON_ERROR_DETAILS_H_
