#pragma once

#include "absl/time/time.h"
#include "common/limits.h"
#include "rpc_client/deadlines.h"

namespace callslip::gateway {

// The gateway's timeouts. Each wait is shorter than the one around it, so that the inner one always
// ends first and states the reason:
//
//               tracker's wait  <  gRPC deadline  <  bridge
//   fast         8 s                9 s              10 s
//   slow        30 s               31 s              35 s
//   blocking    55 s               56 s              65 s
inline constexpr absl::Duration kFastWait = absl::Seconds(8);
inline constexpr absl::Duration kFastRpc = absl::Seconds(9);
inline constexpr absl::Duration kSlowWait = absl::Seconds(30);
inline constexpr absl::Duration kSlowRpc = absl::Seconds(31);
inline constexpr absl::Duration kBlockingWait = kMaxWait;
inline constexpr absl::Duration kBlockingRpc = absl::Seconds(56);

// Readiness must respond before the probes that ask for it time out.
inline constexpr absl::Duration kReadinessDeadline = absl::Seconds(1);
// For a call that only adds a hint to a response that is late already: it must fit in what is left
// of 2 s after a wait and its margin.
inline constexpr absl::Duration kHintDeadline = absl::Milliseconds(300);
// The longest hold of an extension's poll: extensions in the field abort theirs after 8 s.
inline constexpr absl::Duration kMaxPollHold = absl::Seconds(5);

static_assert(kUnaryDeadline < absl::Seconds(2));
// The bridge's timeouts, 10 s, 35 s and 65 s, are from bridge/relay/timeout_policy.h.
// A hint may follow, and an analyze call registers two commands before it waits.
static_assert(kFastWait < kFastRpc && kFastRpc < absl::Milliseconds(10'000 - 300));
static_assert(kSlowWait < kSlowRpc && kSlowRpc < absl::Milliseconds(35'000 - 2 * 1'500 - 300));
static_assert(kBlockingWait < kBlockingRpc && kBlockingRpc < absl::Seconds(65));

}  // namespace callslip::gateway
