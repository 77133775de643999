#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "boost/asio/awaitable.hpp"
#include "common/clock.h"
#include "gateway/api/session_hub.h"
#include "gateway/mcp/protocol/call_context.h"
#include "rpc_client/tracker_calls.h"

namespace callslip::gateway {

// A session with a turn to wait for.
struct AwaitedSession {
  std::string id;
  std::string turn_id;  // The awaited turn; empty until it has begun.
  v1::QueueStatus status;
  bool ended = false;
};

// The outcome of a wait.
struct WaitedFor {
  std::vector<AwaitedSession> sessions;  // In the order of the request.
  int64_t max_seq = 0;                   // The session's, if there was only one.
  bool ended = false;                    // False if the time was over before.
};

// The sessions to wait for, and for how long.
struct TurnWait {
  std::vector<std::string> ids;  // 1 to kMaxAwaited.
  bool any = false;              // Until one of them has ended; otherwise all.
  absl::Duration at_most;
};
inline constexpr size_t kMaxAwaited = 8;  // The most children of a session.

// Waits until the current or next turn of these sessions has ended; a session with neither counts
// as ended. The caller receives progress every 15 s. An unreachable tracker does not end the wait
// early. Errors are the tracker's.
boost::asio::awaitable<absl::StatusOr<WaitedFor>> AwaitTurns(TrackerCalls* sessions,
                                                             std::shared_ptr<SessionHub> hub,
                                                             Clock* clock,
                                                             std::shared_ptr<CallContext> context,
                                                             TurnWait wait);

}  // namespace callslip::gateway
