#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace callslip {

// The details of an error besides its code and message. They travel on the absl::Status through our
// layers, as trailing metadata over gRPC (common/rpc_status.h) and as members of the error object
// over HTTP.
struct ErrorDetails {
  // One lower_snake_case word for programs, stable across releases, such as "queue_full".
  std::string reason;
  // One sentence for people and models with the next step. May be empty.
  std::string hint;
  // When repeating the same call may succeed.
  std::optional<absl::Duration> retry_after;
  // The number of entries in the queue that refused the call.
  std::optional<int> depth;

  friend bool operator==(const ErrorDetails&, const ErrorDetails&) = default;
};

// The status `code` with `message` and `details`. `code` must not be OK.
absl::Status ErrorWithDetails(absl::StatusCode code, absl::string_view message,
                              const ErrorDetails& details);

// The details of `status`; all empty if it carries none.
ErrorDetails DetailsOf(const absl::Status& status);

}  // namespace callslip
