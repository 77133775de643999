#pragma once

#include <string>

#include "absl/status/status.h"
#include "callslip/tracker/v1/command.pb.h"
#include "common/call_verdict.h"
#include "gateway/json/command_json.h"
#include "gateway/mcp/protocol/tool.h"
#include "gateway/mcp/tools/result_content.h"

// The results of tools, as MCP's CallToolResult. Every answer has `status`, `final` and, for a
// command that has not completed, its `correlation_id`; a failure also has `error` (a code),
// `message`, `hint` and `may_have_executed`. structuredContent holds all of it; the text repeats
// it, since some clients show their models only one of the two.
namespace callslip::gateway {

// The resource that holds the result of a command.
std::string ResultUri(const std::string& command_id);

// The current state of a command. A completed one comes with its result and little else: as JSON,
// without a redundant `success`; as an image; or as a link to its resource if it exceeds
// kMaxInlineResultBytes. A result with only the text `page` becomes that text in both. A pending
// command comes with `hint`, if that is not empty.
ToolResult CommandResult(const v1::Command& command, const std::string& hint = "");

// A command that was just registered: `queued`, or `waiting_for_user` if the user completes it.
ToolResult QueuedResult(const v1::Command& command);

// The result for invalid arguments or a failed call; `final` and `may_have_executed` come from
// VerdictOf(). `hint` replaces the error's own hint unless empty.
ToolResult ErrorResult(const absl::Status& status, Executed executed, const std::string& hint = "",
                       const std::string& correlation_id = "");

// The error of a wait, like ErrorResult(), but with status `pending` if waiting again can succeed.
ToolResult VainWaitResult(const absl::Status& status, Executed executed,
                          const std::string& correlation_id = "");

}  // namespace callslip::gateway
