#ifndef CALLSLIP_GATEWAY_MCP_MCP_HANDLER_H_
#define CALLSLIP_GATEWAY_MCP_MCP_HANDLER_H_

#include <memory>
#include <vector>

#include "boost/asio/awaitable.hpp"
#include "gateway/http/http_message.h"
#include "gateway/mcp/json_rpc.h"
#include "gateway/mcp/tool.h"

namespace callslip::gateway {

// POST /mcp: the Model Context Protocol over Streamable HTTP, for clients of 2025-03-26,
// 2025-06-18 and 2025-11-25. Answers with plain JSON and keeps no session, so that any number of
// gateways can serve one client, and a restart goes unnoticed.
class McpHandler {
 public:
  explicit McpHandler(std::vector<std::unique_ptr<Tool>> tools);

  boost::asio::awaitable<HttpResponse> Handle(std::shared_ptr<const HttpRequest> request) const;

 private:
  boost::asio::awaitable<HttpResponse> Answer(JsonRpcMessage message) const;
  boost::asio::awaitable<HttpResponse> CallTool(JsonRpcMessage message) const;
  Json Initialize(const Json& params) const;
  Json ListTools() const;

  const std::vector<std::unique_ptr<Tool>> tools_;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_MCP_MCP_HANDLER_H_
