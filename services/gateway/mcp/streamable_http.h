#ifndef CALLSLIP_GATEWAY_MCP_STREAMABLE_HTTP_H_
#define CALLSLIP_GATEWAY_MCP_STREAMABLE_HTTP_H_

#include <memory>
#include <string>
#include <vector>

#include "boost/asio/awaitable.hpp"
#include "gateway/http/http_message.h"
#include "gateway/mcp/mcp_server.h"
#include "gateway/mcp/sessions.h"

namespace callslip::gateway {

// The Streamable HTTP transport of MCP at POST and DELETE /mcp, for clients of 2025-03-26,
// 2025-06-18, 2025-11-25 and 2026-07-28. There is no GET stream: clients that open one fare worse
// when it breaks than without.
class StreamableHttp {
 public:
  StreamableHttp(McpServer* server, Sessions* sessions) : server_(server), sessions_(sessions) {}

  boost::asio::awaitable<HttpResponse> HandlePost(std::shared_ptr<const HttpRequest> request) const;
  // Ends a session.
  boost::asio::awaitable<HttpResponse> HandleDelete(
      std::shared_ptr<const HttpRequest> request) const;

 private:
  boost::asio::awaitable<HttpResponse> HandleModern(std::shared_ptr<const HttpRequest> request,
                                                    JsonRpcMessage message) const;
  boost::asio::awaitable<HttpResponse> HandleLegacy(std::shared_ptr<const HttpRequest> request,
                                                    JsonRpcBody body) const;
  boost::asio::awaitable<HttpResponse> HandleBatch(Exchange::Origin origin, JsonRpcBody body) const;
  HttpResponse Initialize(const HttpRequest& request, const JsonRpcMessage& message) const;
  // What is no request: nothing comes back.
  void Take(const std::string& session_id, JsonRpcMessage message) const;

  McpServer* const server_;
  Sessions* const sessions_;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_MCP_STREAMABLE_HTTP_H_
