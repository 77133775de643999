#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "boost/asio/awaitable.hpp"
#include "common/clock.h"
#include "gateway/mcp/protocol/call_metrics.h"
#include "gateway/mcp/protocol/exchange.h"
#include "gateway/mcp/protocol/providers.h"
#include "gateway/mcp/protocol/sessions.h"
#include "gateway/mcp/protocol/tool.h"
#include "gateway/mcp/subscriptions.h"
#include "gateway/mcp/tools/tasks.h"

namespace callslip::gateway {

// Everything that an MCP server offers.
struct McpCatalog {
  std::vector<std::unique_ptr<Tool>> tools;
  std::vector<std::unique_ptr<ResourceProvider>> resources;
  std::unique_ptr<PromptProvider> prompts;  // Null if there are none.
  std::unique_ptr<TaskProvider> tasks;      // Asked before the commands; may be null.
  bool announces_lists = false;
};

// The methods of the Model Context Protocol in both eras, independent of the transport.
class McpServer {
 public:
  McpServer(McpCatalog catalog, TrackerClient* tracker, Clock* clock, Sessions* sessions);

  // Negotiates the version with a legacy client.
  RpcOutcome Initialize(const Json& params) const;

  // The longest time for which the caller may receive nothing, not counting the tracker's response
  // time. Zero if the request does not wait.
  absl::Duration LongestWait(const JsonRpcMessage& request) const;

  // Starts the span of `exchange` if spans are recorded.
  void Trace(Exchange& exchange) const {
    if (Spans() != nullptr) BeginSpan(exchange);
  }

  // The command that a request waits for, if its tool does nothing else.
  struct Wait {
    const Tool* tool;
    Tool::Wait command;
  };
  std::optional<Wait> WaitOf(const Exchange& exchange) const;
  // Waits, then finishes the exchange. Uses no coroutine, because many requests wait at a time.
  void BeginWait(std::shared_ptr<Exchange> exchange, Wait wait) const;

  // Answers any other request.
  boost::asio::awaitable<RpcOutcome> Handle(std::shared_ptr<Exchange> exchange);

  // Checks the headers that repeat the arguments of a modern tools/call.
  std::optional<RpcError> CheckParamHeaders(const HttpRequest& request,
                                            const JsonRpcMessage& message) const;

  Subscriptions& subscriptions() { return subscriptions_; }
  const CallMetrics& calls() const { return calls_; }

 private:
  // The outcome of a wait whose command is still queued: there may be no worker for it.
  boost::asio::awaitable<RpcOutcome> AfterVainWait(std::shared_ptr<Exchange> exchange, Wait wait,
                                                   v1::Command command) const;
  using Outcome = boost::asio::awaitable<RpcOutcome>;
  using Method = Outcome (McpServer::*)(std::shared_ptr<Exchange>);

  static const std::map<std::string, Method>& LegacyMethods();
  static const std::map<std::string, Method>& ModernMethods();

  void BeginSpan(Exchange& exchange) const;
  static const std::map<std::string, Method>& MethodsOf(Era era) {
    return era == Era::kModern ? ModernMethods() : LegacyMethods();
  }
  Json Capabilities(Era era) const;
  const Tool* FindTool(const JsonRpcMessage& message) const;
  // Returns `outcome`, counted as a call of `tool`, which may be null.
  RpcOutcome Counted(const Tool* tool, RpcOutcome outcome) const;

  Outcome Ping(std::shared_ptr<Exchange> exchange);
  Outcome Discover(std::shared_ptr<Exchange> exchange);
  Outcome SetLogLevel(std::shared_ptr<Exchange> exchange);
  Outcome ListTools(std::shared_ptr<Exchange> exchange);
  Outcome CallTool(std::shared_ptr<Exchange> exchange);
  Outcome ListResources(std::shared_ptr<Exchange> exchange);
  Outcome ListResourceTemplates(std::shared_ptr<Exchange> exchange);
  Outcome ReadResource(std::shared_ptr<Exchange> exchange);
  Outcome Subscribe(std::shared_ptr<Exchange> exchange);
  Outcome ListPrompts(std::shared_ptr<Exchange> exchange);
  Outcome GetPrompt(std::shared_ptr<Exchange> exchange);
  Outcome Complete(std::shared_ptr<Exchange> exchange);
  Outcome LegacyTask(std::shared_ptr<Exchange> exchange);
  Outcome ListTasks(std::shared_ptr<Exchange> exchange);
  Outcome ModernTask(std::shared_ptr<Exchange> exchange);
  Outcome Listen(std::shared_ptr<Exchange> exchange);

  const McpCatalog catalog_;
  const std::set<const Tool*> tools_with_headers_;  // Tools with arguments repeated in headers.
  const CommandTasks tasks_;
  TrackerClient* const tracker_;
  Sessions* const sessions_;
  Subscriptions subscriptions_;
  mutable CallMetrics calls_;
};

}  // namespace callslip::gateway
