#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bridge/doctor/link.h"
#include "bridge/http/gateway_client.h"

namespace callslip::bridge {

// The addresses at which another program listens instead of the gateway, as reported by the
// gateway. Nullopt if it does not answer.
std::optional<std::vector<std::string>> AddressesOfOthers(GatewayClient& gateway);

// Checks all links, from the agent outwards. Takes a few seconds at most. A link beyond a broken
// one is unknown.
std::vector<Link> Examine(GatewayClient& gateway);

// True if no link is known to be broken.
bool IsHealthy(const std::vector<Link>& links);

// A readable report with one or two lines for each link.
std::string ReportText(const std::vector<Link>& links);

// {"healthy": true, "links": [{"link", "state": "ok" | "broken" | "unknown" | "none", "detail",
// "hint"?}]}
std::string ReportJson(const std::vector<Link>& links);

}  // namespace callslip::bridge
