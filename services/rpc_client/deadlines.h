#ifndef CALLSLIP_RPC_CLIENT_DEADLINES_H_
#define CALLSLIP_RPC_CLIENT_DEADLINES_H_

#include "absl/time/time.h"

namespace callslip {

// A call that does not wait. Long enough for a tracker that is restarted to be back; short enough
// that with a frozen one every call of a gateway still settles within its wait and 2 s.
inline constexpr absl::Duration kUnaryDeadline = absl::Milliseconds(1500);
// What the deadline of a call adds to the wait that it asks for.
inline constexpr absl::Duration kRpcMargin = absl::Seconds(1);

}  // namespace callslip

#endif  // CALLSLIP_RPC_CLIENT_DEADLINES_H_
