#ifndef CALLSLIP_GATEWAY_MCP_OBSERVE_TOOL_H_
#define CALLSLIP_GATEWAY_MCP_OBSERVE_TOOL_H_

#include <string>

#include "gateway/mcp/tool.h"

namespace callslip::gateway {

// Says what became of commands: one by its correlation id, or all that are pending or failed.
class ObserveTool final : public Tool {
 public:
  explicit ObserveTool(TrackerClient* tracker) : tracker_(tracker) {}

  const Json& Definition() const override;
  boost::asio::awaitable<ToolResult> Call(std::string client_id, Json arguments) const override;

 private:
  boost::asio::awaitable<ToolResult> CommandResult(std::string client_id,
                                                   std::string correlation_id,
                                                   absl::Duration wait) const;
  boost::asio::awaitable<ToolResult> PendingCommands(std::string client_id) const;
  boost::asio::awaitable<ToolResult> FailedCommands(std::string client_id) const;

  TrackerClient* const tracker_;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_MCP_OBSERVE_TOOL_H_
