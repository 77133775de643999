#pragma once

#include "absl/time/time.h"
#include "auth/principal.h"
#include "boost/asio/awaitable.hpp"
#include "gateway/mcp/protocol/tool.h"
#include "gateway/tracker_client/tracker_client.h"

namespace callslip::gateway {

// `observe {what: "health"}`: the state of gateway and tracker, in some 200 tokens. For
// administrators; others are refused with `role_not_allowed`. A tracker that does not respond is
// part of the result, not an error.
boost::asio::awaitable<ToolResult> ObserveHealth(TrackerClient* tracker, Principal principal,
                                                 absl::Duration uptime);

}  // namespace callslip::gateway
