#pragma once

#include "absl/time/time.h"

namespace callslip {

// For a call that does not wait. Long enough for a restarting tracker to come back; short enough
// that with a frozen one every call of a gateway still settles within its wait and 2 s.
inline constexpr absl::Duration kUnaryDeadline = absl::Milliseconds(1500);
// The margin between a call's deadline and the wait that it requests.
inline constexpr absl::Duration kRpcMargin = absl::Seconds(1);

}  // namespace callslip
