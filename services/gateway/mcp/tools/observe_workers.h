#ifndef CALLSLIP_GATEWAY_MCP_TOOLS_OBSERVE_WORKERS_H_
#define CALLSLIP_GATEWAY_MCP_TOOLS_OBSERVE_WORKERS_H_

#include <string>

#include "auth/principal.h"
#include "boost/asio/awaitable.hpp"
#include "gateway/mcp/protocol/tool.h"
#include "gateway/tracker_client/tracker_client.h"

namespace callslip::gateway {

// `observe {what: "workers"}`: the browsers that there are, and what each is doing. Administrators
// see the commands of all clients, others their own and how many there are besides.
boost::asio::awaitable<ToolResult> ObserveWorkers(TrackerClient* tracker, Principal principal);

// `observe {what: "browser_log"}`: what browsers have told besides; `kind` empty means all of it.
boost::asio::awaitable<ToolResult> ObserveBrowserLog(TrackerClient* tracker, Principal principal,
                                                     std::string kind);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_MCP_TOOLS_OBSERVE_WORKERS_H_
