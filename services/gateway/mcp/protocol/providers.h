#pragma once

#include <memory>
#include <string>

#include "boost/asio/awaitable.hpp"
#include "gateway/mcp/protocol/call_context.h"
#include "gateway/mcp/protocol/json_rpc.h"

// Interfaces for everything that an MCP server offers besides tools.
namespace callslip::gateway {

class ResourceProvider {
 public:
  virtual ~ResourceProvider() = default;

  // { "resources": […], "nextCursor"? } of one page; `cursor` is empty for the first.
  virtual boost::asio::awaitable<RpcOutcome> List(std::shared_ptr<CallContext> context,
                                                  std::string cursor) const = 0;
  // An array of resource templates.
  virtual Json Templates() const = 0;
  // { "contents": […] }, or an error with kResourceNotFound.
  virtual boost::asio::awaitable<RpcOutcome> Read(std::shared_ptr<CallContext> context,
                                                  std::string uri) const = 0;
};

class PromptProvider {
 public:
  virtual ~PromptProvider() = default;

  // An array of prompts.
  virtual Json List() const = 0;
  // A GetPromptResult.
  virtual RpcOutcome Get(const CallContext& context, const std::string& name) const = 0;
  // A CompleteResult.
  virtual RpcOutcome Complete(const Json& params) const = 0;
};

// Tasks as defined by the extension of 2026-07-28.
class TaskProvider {
 public:
  virtual ~TaskProvider() = default;

  virtual bool Owns(const std::string& task_id) const = 0;
  // A DetailedTask.
  virtual boost::asio::awaitable<RpcOutcome> Get(std::shared_ptr<CallContext> context,
                                                 std::string task_id) const = 0;
  // Both return an empty object.
  virtual boost::asio::awaitable<RpcOutcome> Update(std::shared_ptr<CallContext> context,
                                                    std::string task_id, Json responses) const = 0;
  virtual boost::asio::awaitable<RpcOutcome> Cancel(std::shared_ptr<CallContext> context,
                                                    std::string task_id) const = 0;
};

}  // namespace callslip::gateway
