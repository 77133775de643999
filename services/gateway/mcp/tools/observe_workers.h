#pragma once

#include <string>

#include "auth/principal.h"
#include "boost/asio/awaitable.hpp"
#include "gateway/mcp/protocol/tool.h"
#include "gateway/tracker_client/tracker_client.h"

namespace callslip::gateway {

// `observe {what: "workers"}`: the browsers, and the current work of each. Administrators see the
// commands of all clients; others see their own and the number of the rest.
boost::asio::awaitable<ToolResult> ObserveWorkers(TrackerClient* tracker, Principal principal);

// `observe {what: "browser_log"}`: the log entries that browsers have sent; all kinds if `kind` is
// empty.
boost::asio::awaitable<ToolResult> ObserveBrowserLog(TrackerClient* tracker, Principal principal,
                                                     std::string kind);

}  // namespace callslip::gateway
