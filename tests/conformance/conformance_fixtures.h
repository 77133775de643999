#pragma once

#include <functional>
#include <string>

#include "common/clock.h"
#include "gateway/mcp/mcp_server.h"

namespace callslip::gateway {

// Adds the tools, resources, prompts and tasks that the official conformance suite
// (tests/conformance) calls by name. Each shows one feature of the protocol. Served by
// callslip-gateway-conformance only; not part of the product.
//
// `announce` is called with the name of a list, "tools" or "prompts", when a tool pretends that it
// has changed. `clock` must outlive the catalog.
void AddConformanceFixtures(Clock* clock, std::function<void(const std::string& list)> announce,
                            McpCatalog& catalog);

}  // namespace callslip::gateway
