#ifndef CALLSLIP_GATEWAY_MCP_TOOLS_SESSION_WAIT_H_
#define CALLSLIP_GATEWAY_MCP_TOOLS_SESSION_WAIT_H_

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

// A session whose turn is waited for.
struct AwaitedSession {
  std::string id;
  std::string turn_id;  // The one that is waited for; empty until it has begun.
  v1::QueueStatus status;
  bool ended = false;
};

// How a wait came out.
struct WaitedFor {
  std::vector<AwaitedSession> sessions;  // As they were asked for.
  int64_t max_seq = 0;                   // Of the session, where it was one.
  bool ended = false;                    // False: the time was over before.
};

// What is waited for, and for how long.
struct TurnWait {
  std::vector<std::string> ids;  // 1 to kMaxAwaited.
  bool any = false;              // Until one of them has ended; otherwise all.
  absl::Duration at_most;
};
inline constexpr size_t kMaxAwaited = 8;  // As many as a session has children.

// Until the turns have ended that are under way in these sessions or come next; a session with
// neither counts as ended. The caller hears every 15 s that it goes on. A tracker that is away ends
// nothing before its time. Errors are the tracker's.
boost::asio::awaitable<absl::StatusOr<WaitedFor>> AwaitTurns(TrackerCalls* sessions,
                                                             std::shared_ptr<SessionHub> hub,
                                                             Clock* clock,
                                                             std::shared_ptr<CallContext> context,
                                                             TurnWait wait);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_MCP_TOOLS_SESSION_WAIT_H_
