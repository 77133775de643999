#pragma once

#include <cstdint>
#include <string>

#include "nlohmann/json.hpp"

namespace callslip::bench {

// A tool call as clients of 2026-07-28 send it: without a session, so that any number of
// connections may send the same bytes.
std::string ToolCall(uint16_t port, const std::string& tool, const nlohmann::json& arguments);

// As large as SampleRequest(), the resulting request to the tracker.
std::string InteractCall(uint16_t port);
std::string ObserveCall(uint16_t port, const std::string& correlation_id, int wait_ms = 0);

// The structuredContent of an answer.
nlohmann::json StructuredContent(const std::string& body);

}  // namespace callslip::bench
