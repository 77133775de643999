#ifndef CALLSLIP_BRIDGE_HTTP_LIMITS_H_
#define CALLSLIP_BRIDGE_HTTP_LIMITS_H_

#include <cstddef>

#include "absl/time/time.h"

namespace callslip::bridge {

// The largest answer, or event of a stream, taken from the gateway. Above kMaxLineBytes, so that an
// answer that has to be shortened can be read; the largest result there is has 8 MiB, and up to
// twice that as text in JSON.
inline constexpr size_t kMaxAnswerBytes = size_t{32} * 1024 * 1024;

// The answer to a question without a body, such as one of GET /healthz.
inline constexpr size_t kMaxAskedBytes = size_t{64} * 1024;

// A token stands in a header, and the gateway takes no longer one.
inline constexpr size_t kMaxTokenBytes = 512;

// What is read of a token file; the gateway's own may not be larger.
inline constexpr size_t kMaxTokenFileBytes = size_t{64} * 1024;

// One attempt to connect. Short, since a call that is being connected cannot be interrupted and
// the bridge has one second to exit; a lost packet is made good by the next attempt.
inline constexpr absl::Duration kConnectTimeout = absl::Milliseconds(500);

// Connections that were idle for longer are not used again: the gateway may be about to close
// them, and a call that meets the closing one is lost in an ambiguous way.
inline constexpr absl::Duration kMaxIdleConnection = absl::Seconds(2);

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_HTTP_LIMITS_H_
