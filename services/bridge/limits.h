#ifndef CALLSLIP_BRIDGE_LIMITS_H_
#define CALLSLIP_BRIDGE_LIMITS_H_

#include <cstddef>

#include "absl/time/time.h"

namespace callslip::bridge {

// The longest line in either direction. The official clients close the pipe on one of more than
// 10 MiB.
inline constexpr size_t kMaxLineBytes = size_t{10} * 1024 * 1024;

// The largest answer, or event of a stream, taken from the gateway. Above kMaxLineBytes, so that an
// answer that has to be shortened can be read; the largest result there is has 8 MiB, and up to
// twice that as text in JSON.
inline constexpr size_t kMaxAnswerBytes = size_t{32} * 1024 * 1024;

// The status line and headers of an answer. The gateway's have some hundred bytes; a proxy before
// it may add its own.
inline constexpr int kMaxAnswerHeadBytes = 64 * 1024;

// What is received of an answer at a time. Nearly all answers fit.
inline constexpr size_t kReceiveBytes = size_t{16} * 1024;

// The answer to a question without a body, such as one of GET /healthz.
inline constexpr size_t kMaxAskedBytes = size_t{64} * 1024;

// A token stands in a header, and the gateway takes no longer one.
inline constexpr size_t kMaxTokenBytes = 512;

// What is read of a token file; the gateway's own may not be larger.
inline constexpr size_t kMaxTokenFileBytes = size_t{64} * 1024;

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

// One attempt to connect. Short, since a call that is being connected cannot be interrupted and
// the bridge has one second to exit; a lost packet is made good by the next attempt.
inline constexpr absl::Duration kConnectTimeout = absl::Milliseconds(500);

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

// Connections that were idle for longer are not used again: the gateway may be about to close
// them, and a call that meets the closing one is lost in an ambiguous way.
inline constexpr absl::Duration kMaxIdleConnection = absl::Seconds(2);

// How long after a call's deadline its thread gives up by itself, in case nobody stopped it.
inline constexpr absl::Duration kReadBackstop = absl::Seconds(5);

// The second that is left after stdin closed: calls in flight may still finish, then the session
// is ended, then the process exits whatever state it is in.
inline constexpr absl::Duration kDrainGrace = absl::Milliseconds(400);
inline constexpr absl::Duration kEndSessionTimeout = absl::Milliseconds(200);
inline constexpr absl::Duration kExitWithin = absl::Milliseconds(900);

// For the spans of the last calls to be sent to their collector.
inline constexpr absl::Duration kSpansWithin = absl::Milliseconds(200);

// --autostart. A service that ends by itself is started again after a delay; so is the supervisor.
inline constexpr absl::Duration kFirstServiceDelay = absl::Milliseconds(100);
inline constexpr absl::Duration kLongestServiceDelay = absl::Seconds(5);
inline constexpr absl::Duration kSupervisorPause = absl::Seconds(1);

// How often the supervisor looks after the files that they share: they are removed from /tmp after
// days without use. How much is kept of the log, once as it is and once more of what was before.
inline constexpr absl::Duration kTendFilesEvery = absl::Minutes(1);
inline constexpr size_t kMaxLogBytes = size_t{4} * 1024 * 1024;

// How long a bridge waits for the first answer of the gateway that it has started.
inline constexpr absl::Duration kStartPatience = absl::Seconds(30);

// When the last bridge has gone nobody waits for answers: the services end soon, or are killed.
inline constexpr char kServiceDrainGrace[] = "500ms";
inline constexpr absl::Duration kServicesEndWithin = absl::Seconds(3);

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_LIMITS_H_
