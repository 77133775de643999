#pragma once

#include <functional>
#include <string>

#include "common/clock.h"
#include "gateway/mcp/mcp_server.h"

namespace callslip::gateway {

// Adds what the official conformance suite (tests/conformance) asks of a server: tools, resources,
// prompts and tasks whose names it knows, each of which shows one feature of the protocol. Served
// by callslip-gateway-conformance only; no part of the product.
//
// `announce` is told the name of a list, "tools" or "prompts", when a tool pretends that it has
// changed. `clock` must outlive the catalog.
void AddConformanceFixtures(Clock* clock, std::function<void(const std::string& list)> announce,
                            McpCatalog& catalog);

}  // namespace callslip::gateway
