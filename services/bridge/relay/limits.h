#ifndef CALLSLIP_BRIDGE_RELAY_LIMITS_H_
#define CALLSLIP_BRIDGE_RELAY_LIMITS_H_

#include <cstddef>

#include "absl/time/time.h"

namespace callslip::bridge {

// Calls that were read and not yet answered, on the wire or waiting for their turn. A burst of an
// agent is some hundred calls; a call costs its bytes and about 1 KB.
inline constexpr size_t kMaxUnfinishedCalls = 1024;

// Calls on the wire side by side. Each has a thread and a connection, about 40 KB.
inline constexpr int kMaxOpenCalls = 64;

// How many of those may be slow or blocking ones, so that a fast call always finds a free thread
// beside any number of waits.
inline constexpr int kMaxOpenWaits = 48;

// Event streams that are open without a call to wait for (`subscriptions/listen`). They are waits,
// too, and must leave room for others.
inline constexpr int kMaxOpenStreams = 16;

// How long such a stream may be silent: the gateway sends a sign of life every 15 s.
inline constexpr absl::Duration kMaxStreamSilence = absl::Seconds(40);

// How long a call waits for a gateway that cannot be reached, capped at half of the call's own
// timeout. A restart takes one or two seconds; a gateway that is down should be reported soon. The
// first call of a session (`initialize`, `server/discover`) waits for nearly all of its timeout:
// the gateway may be starting, and an agent that fails to connect does not try again.
inline constexpr absl::Duration kConnectPatience = absl::Seconds(5);
inline constexpr absl::Duration kFirstBackoff = absl::Milliseconds(50);
inline constexpr absl::Duration kLongestBackoff = absl::Seconds(1);

// Of all files of one upload; the gateway takes no more. A piece of a file with JSON around it fits
// into a body.
inline constexpr size_t kMaxUploadBytes = size_t{32} << 20;
inline constexpr size_t kFilePieceBytes = size_t{1} << 20;

// How long a client has to say which folders are its roots: it asks nobody for that.
inline constexpr absl::Duration kRootsPatience = absl::Seconds(3);

// How long after a call's deadline its thread gives up by itself, in case nobody stopped it.
inline constexpr absl::Duration kReadBackstop = absl::Seconds(5);

// The second that is left after stdin closed: calls in flight may still finish, then the session
// is ended, then the process exits whatever state it is in.
inline constexpr absl::Duration kDrainGrace = absl::Milliseconds(400);
inline constexpr absl::Duration kEndSessionTimeout = absl::Milliseconds(200);
inline constexpr absl::Duration kExitWithin = absl::Milliseconds(900);

// For the spans of the last calls to be sent to their collector.
inline constexpr absl::Duration kSpansWithin = absl::Milliseconds(200);

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_RELAY_LIMITS_H_
