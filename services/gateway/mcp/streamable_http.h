#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "boost/asio/awaitable.hpp"
#include "gateway/api/recent_mcp_clients.h"
#include "gateway/http/byte_budget.h"
#include "gateway/http/responder.h"
#include "gateway/mcp/mcp_server.h"
#include "gateway/mcp/protocol/sessions.h"

namespace callslip::gateway {

// The Streamable HTTP transport of MCP at POST and DELETE /mcp, for clients of 2025-03-26,
// 2025-06-18, 2025-11-25 and 2026-07-28. There is no GET stream: clients that open one suffer more
// when it breaks than they would without it.
class StreamableHttp {
 public:
  // All must outlive this. `waiting` is the memory budget for batch answers that wait for the rest
  // of their batch.
  StreamableHttp(McpServer* server, Sessions* sessions, RecentMcpClients* clients,
                 std::shared_ptr<ByteBudget> waiting)
      : server_(server), sessions_(sessions), clients_(clients), waiting_(std::move(waiting)) {}

  void HandlePost(const HttpRequest& request, Responder responder) const;
  // Ends a session.
  boost::asio::awaitable<HttpResponse> HandleDelete(
      std::shared_ptr<const HttpRequest> request) const;

 private:
  // An accepted request to be answered, or the response to any other message.
  using Taken = std::variant<HttpResponse, std::shared_ptr<Exchange>>;

  Taken TakeModern(const HttpRequest& request, JsonRpcMessage message,
                   const boost::asio::any_io_executor& executor) const;
  Taken TakeLegacy(Exchange::Origin origin, JsonRpcMessage message,
                   const boost::asio::any_io_executor& executor) const;
  // The origin of the request, or the error response.
  std::variant<HttpResponse, Exchange::Origin> LegacyOrigin(const HttpRequest& request) const;

  // Not a coroutine, because thousands of requests wait here at a time.
  void Answer(std::shared_ptr<Exchange> exchange, Responder responder) const;
  boost::asio::awaitable<HttpResponse> AnswerNow(std::shared_ptr<Exchange> exchange) const;
  boost::asio::awaitable<HttpResponse> HandleBatch(Exchange::Origin origin, JsonRpcBody body,
                                                   std::shared_ptr<void> place) const;
  HttpResponse Initialize(const HttpRequest& request, const JsonRpcMessage& message) const;
  // Handles a message that is not a request and gets no answer.
  void Take(const std::string& session_id, JsonRpcMessage message) const;

  McpServer* const server_;
  Sessions* const sessions_;
  RecentMcpClients* const clients_;
  const std::shared_ptr<ByteBudget> waiting_;
};

}  // namespace callslip::gateway
