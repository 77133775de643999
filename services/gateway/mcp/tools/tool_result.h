#ifndef CALLSLIP_GATEWAY_MCP_TOOLS_TOOL_RESULT_H_
#define CALLSLIP_GATEWAY_MCP_TOOLS_TOOL_RESULT_H_

#include <string>

#include "absl/status/status.h"
#include "callslip/tracker/v1/command.pb.h"
#include "common/call_verdict.h"
#include "gateway/json/command_json.h"
#include "gateway/mcp/protocol/tool.h"
#include "gateway/mcp/tools/result_content.h"

// What tools say, as MCP's CallToolResult. Every answer has `status`, `final` and, where a command
// is concerned that has not completed, its `correlation_id`; a failure also has `error` (a code),
// `message`, `hint` and `may_have_executed`. All of it stands in structuredContent; the text beside
// it says the same, since there are clients whose models see only the one or the other.
namespace callslip::gateway {

// The resource that holds the result of a command.
std::string ResultUri(const std::string& command_id);

// A command as it is now. A completed one comes with its result and little else: as JSON, without a
// `success` that says nothing; as an image where it is one; or as a link to its resource where it
// exceeds kMaxInlineResultBytes. What is only `page`, a text, is that text in both. A pending one
// comes with `hint`, where that is not empty.
ToolResult CommandResult(const v1::Command& command, const std::string& hint = "");

// A command that was registered just now: `queued`, or `waiting_for_user` where a person finishes
// it.
ToolResult QueuedResult(const v1::Command& command);

// A result for arguments that don't fit, or for a call that failed; `final` and `may_have_executed`
// are those of VerdictOf(). `hint` replaces the error's own where it is not empty.
ToolResult ErrorResult(const absl::Status& status, Executed executed, const std::string& hint = "",
                       const std::string& correlation_id = "");

// The error of a wait, as ErrorResult() tells it, but `pending` where waiting again may tell more.
ToolResult VainWaitResult(const absl::Status& status, Executed executed,
                          const std::string& correlation_id = "");

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_MCP_TOOLS_TOOL_RESULT_H_
