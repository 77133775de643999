#pragma once

#include <cstddef>

#include "absl/time/time.h"

namespace callslip::bridge {

// The largest answer, or event of a stream, accepted from the gateway. Above kMaxLineBytes, so that
// an answer that must be shortened can be read; the largest result has 8 MiB, and up to twice that
// as text in JSON.
inline constexpr size_t kMaxAnswerBytes = size_t{32} * 1024 * 1024;

// The answer to a request without a body, such as GET /healthz.
inline constexpr size_t kMaxAskedBytes = size_t{64} * 1024;

// A token is sent in a header, and the gateway accepts no longer one.
inline constexpr size_t kMaxTokenBytes = 512;

// The part of a token file that is read; the gateway's own may not be larger.
inline constexpr size_t kMaxTokenFileBytes = size_t{64} * 1024;

// One attempt to connect. Short, since connecting cannot be interrupted and the bridge has one
// second to exit; the next attempt makes up for a lost packet.
inline constexpr absl::Duration kConnectTimeout = absl::Milliseconds(500);

// Connections idle for longer are not reused: the gateway may be about to close them, and the fate
// of a call sent at that moment is unknown.
inline constexpr absl::Duration kMaxIdleConnection = absl::Seconds(2);

}  // namespace callslip::bridge
