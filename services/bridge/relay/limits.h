#pragma once

#include <cstddef>

#include "absl/time/time.h"

namespace callslip::bridge {

// Calls that were read and not yet answered, on the wire or queued. A burst of an agent is some
// hundred calls; a call costs its bytes and about 1 KB.
inline constexpr size_t kMaxUnfinishedCalls = 1024;

// Concurrent calls on the wire. Each has a thread and a connection, about 40 KB.
inline constexpr int kMaxOpenCalls = 64;

// The most slow or blocking calls among those, so that a fast call always finds a free thread next
// to any number of waits.
inline constexpr int kMaxOpenWaits = 48;

// Open event streams without a call to wait for (`subscriptions/listen`). They are waits too, and
// must leave threads for others.
inline constexpr int kMaxOpenStreams = 16;

// How long such a stream may be silent: the gateway sends a keep-alive every 15 s.
inline constexpr absl::Duration kMaxStreamSilence = absl::Seconds(40);

// How long a call waits for an unreachable gateway, capped at half of the call's own timeout. A
// restart takes one or two seconds; a gateway that is down should be reported soon. The first call
// of a session (`initialize`, `server/discover`) waits for nearly all of its timeout: the gateway
// may be starting, and an agent that fails to connect does not try again.
inline constexpr absl::Duration kConnectPatience = absl::Seconds(5);
inline constexpr absl::Duration kFirstBackoff = absl::Milliseconds(50);
inline constexpr absl::Duration kMaxBackoff = absl::Seconds(1);

// All files of one upload; the gateway accepts no more. A piece of a file with JSON around it fits
// into a request body.
inline constexpr size_t kMaxUploadBytes = size_t{32} << 20;
inline constexpr size_t kFilePieceBytes = size_t{1} << 20;

// How long a client may take to report its roots: it does not ask its user for them.
inline constexpr absl::Duration kRootsPatience = absl::Seconds(3);

// How long after a call's deadline its thread gives up by itself, in case no other thread stopped
// it.
inline constexpr absl::Duration kReadBackstop = absl::Seconds(5);

// The one second that is left after stdin has closed: calls in flight may still finish, then the
// session is ended, then the process exits in any case.
inline constexpr absl::Duration kDrainGrace = absl::Milliseconds(400);
inline constexpr absl::Duration kEndSessionTimeout = absl::Milliseconds(200);
inline constexpr absl::Duration kExitWithin = absl::Milliseconds(900);

// The time for sending the spans of the last calls to their collector.
inline constexpr absl::Duration kSpansWithin = absl::Milliseconds(200);

}  // namespace callslip::bridge
