#include "bench/tool_calls.h"

#include "bench/load_client.h"

namespace callslip::bench {

using nlohmann::json;

std::string ToolCall(uint16_t port, const std::string& tool, const json& arguments) {
  const json body = {{"jsonrpc", "2.0"},
                     {"id", 1},
                     {"method", "tools/call"},
                     {"params",
                      {{"name", tool},
                       {"arguments", arguments},
                       {"_meta",
                        {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                         {"io.modelcontextprotocol/clientCapabilities", json::object()}}}}}};
  return PostRequest(
      "/mcp", body.dump(), port,
      "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: " + tool + "\r\n");
}

std::string InteractCall(uint16_t port) {
  return ToolCall(port, "interact", {{"action", "click"}, {"selector", "#submit"}});
}

std::string ObserveCall(uint16_t port, const std::string& correlation_id, int wait_ms) {
  json arguments = {{"what", "command_result"}, {"correlation_id", correlation_id}};
  if (wait_ms > 0) arguments["wait_ms"] = wait_ms;
  return ToolCall(port, "observe", arguments);
}

json StructuredContent(const std::string& body) {
  return json::parse(body)["result"]["structuredContent"];
}

}  // namespace callslip::bench
