#ifndef CALLSLIP_GATEWAY_MCP_PROTOCOL_TOOL_H_
#define CALLSLIP_GATEWAY_MCP_PROTOCOL_TOOL_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "boost/asio/awaitable.hpp"
#include "callslip/tracker/v1/command.pb.h"
#include "gateway/json/parse.h"
#include "gateway/mcp/protocol/call_context.h"

namespace callslip::gateway {

namespace v1 = callslip::tracker::v1;

// What a tool answers.
struct ToolResult {
  // A CallToolResult: `content`, `structuredContent`, `isError`; see tool_result.h. Or the error
  // of the protocol that kept the tool from being called.
  RpcOutcome result;
  // The command that was registered, where the answer is a task. Only if CallContext::as_task().
  std::optional<v1::Command> task;
};

// A tool of the MCP server. Stateless; used by many calls at once.
class Tool {
 public:
  virtual ~Tool() = default;

  // Its entry in tools/list.
  virtual const Json& Definition() const = 0;
  // Its entry for an agent that lives in a session (CallContext::session_id()).
  virtual const Json& DefinitionForAgent() const { return Definition(); }
  const std::string& Name() const { return Definition()["name"].get_ref<const std::string&>(); }

  // Whether tools/list has it.
  virtual bool IsListed() const { return true; }
  // Whether principals who may only look may call it.
  virtual bool ReadOnly() const { return false; }
  // Whether its calls can become tasks.
  virtual bool MayBeTask() const { return false; }
  // For how long a call with these arguments, which are any JSON value, waits at most for anybody
  // but the tracker. The bridge's times are longer: see bridge/relay/timeout_policy.h.
  virtual absl::Duration LongestWait(const Json& arguments) const = 0;

  // What a call with these arguments waits for, where it does nothing else: the end of a command,
  // for so long at the most. Such a call, of somebody who does not listen meanwhile, costs no
  // coroutine: thousands wait at a time. Its result is AfterWait(), of the command as it is then
  // and, where it has waited in vain, with a hint at what to do.
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

  // Never fails as a call: what goes wrong is in the result, so that the model gets to read it.
  // `arguments` is any JSON value.
  virtual boost::asio::awaitable<ToolResult> Call(std::shared_ptr<CallContext> context,
                                                  Json arguments) const = 0;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_MCP_PROTOCOL_TOOL_H_
