#ifndef CALLSLIP_GATEWAY_MCP_INTERACT_TOOL_H_
#define CALLSLIP_GATEWAY_MCP_INTERACT_TOOL_H_

#include <string>

#include "gateway/mcp/tool.h"

namespace callslip::gateway {

// Registers a browser action and answers at once with its correlation id; with `wait_ms` it waits
// for the end of the command first.
class InteractTool final : public Tool {
 public:
  explicit InteractTool(TrackerClient* tracker) : tracker_(tracker) {}

  const Json& Definition() const override;
  boost::asio::awaitable<ToolResult> Call(std::string client_id, Json arguments) const override;

 private:
  TrackerClient* const tracker_;
};

// As interact, for what only looks at the page.
class AnalyzeTool final : public Tool {
 public:
  explicit AnalyzeTool(TrackerClient* tracker) : tracker_(tracker) {}

  const Json& Definition() const override;
  boost::asio::awaitable<ToolResult> Call(std::string client_id, Json arguments) const override;

 private:
  TrackerClient* const tracker_;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_MCP_INTERACT_TOOL_H_
