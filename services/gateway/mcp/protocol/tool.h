#pragma once

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "boost/asio/awaitable.hpp"
#include "callslip/tracker/v1/command.pb.h"
#include "gateway/json/parse.h"
#include "gateway/mcp/protocol/call_context.h"

namespace callslip::gateway {

namespace v1 = callslip::tracker::v1;

// The outcome of a tool call.
struct ToolResult {
  // A CallToolResult: `content`, `structuredContent`, `isError`; see tool_result.h. Or the protocol
  // error that prevented the call.
  RpcOutcome result;
  // The registered command, if the answer is a task. Only if CallContext::as_task().
  std::optional<v1::Command> task;
};

// A tool of the MCP server. Stateless; serves many calls at once.
class Tool {
 public:
  virtual ~Tool() = default;

  // Its entry in tools/list.
  virtual const Json& Definition() const = 0;
  // Its entry for an agent that runs in a session (CallContext::session_id()).
  virtual const Json& DefinitionForAgent() const { return Definition(); }
  const std::string& Name() const { return Definition()["name"].get_ref<const std::string&>(); }

  // Whether tools/list includes it.
  virtual bool IsListed() const { return true; }
  // Whether principals with read-only access may call it.
  virtual bool ReadOnly() const { return false; }
  // Whether its calls can become tasks.
  virtual bool MayBeTask() const { return false; }
  // The longest wait of a call with these arguments (any JSON value), not counting waits for the
  // tracker. The bridge's timeouts are longer: see bridge/relay/timeout_policy.h.
  virtual absl::Duration LongestWait(const Json& arguments) const = 0;

  // The wait of a call that does nothing else: for the end of a command, for at most this time.
  // Such a call costs no coroutine if its caller does not listen meanwhile: thousands wait at a
  // time. Its result is AfterWait(), with the command's state at that time and, after a wait in
  // vain, a hint.
  struct Wait {
    std::string command_id;
    absl::Duration at_most;
  };
  virtual std::optional<Wait> WaitOf(const Json& /*arguments*/) const { return std::nullopt; }
  virtual ToolResult AfterWait(const std::string& /*command_id*/,
                               const absl::StatusOr<v1::Command>& /*command*/,
                               const std::string& /*hint*/) const {
    return {};
  }

  // Never fails as a call: errors are part of the result, so that the model can read them.
  // `arguments` is any JSON value.
  virtual boost::asio::awaitable<ToolResult> Call(std::shared_ptr<CallContext> context,
                                                  Json arguments) const = 0;
};

}  // namespace callslip::gateway
