#ifndef CALLSLIP_GATEWAY_MCP_BROWSER_TOOLS_H_
#define CALLSLIP_GATEWAY_MCP_BROWSER_TOOLS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "gateway/mcp/arguments.h"
#include "gateway/mcp/browser_actions.h"
#include "gateway/mcp/tool.h"
#include "gateway/tracker_client/tracker_client.h"

namespace callslip::gateway {

// A tool whose calls are commands for the browser.
class BrowserTool : public Tool {
 public:
  BrowserTool(TrackerClient* tracker, Clock* clock) : tracker_(tracker), clock_(clock) {}

  bool MayBeTask() const override { return true; }
  bool MayWait(const Json& arguments) const override;

 protected:
  // A command to be registered, and how long to wait for its end.
  struct BrowserCall {
    v1::RegisterCommandRequest registration;
    absl::Duration wait;
  };

  // Registers the command and answers with its correlation id or, where the call waits, with its
  // end. Answers a call that was not to be understood with what is wrong with it.
  boost::asio::awaitable<ToolResult> Submit(std::shared_ptr<CallContext> context,
                                            absl::StatusOr<BrowserCall> call) const;

  // Reads the arguments of the action, and those that all such tools take. What is wrong with them
  // is in `arguments.status()`.
  static BrowserCall ReadCall(const BrowserAction& action, Arguments& arguments);

  TrackerClient* const tracker_;

 private:
  Clock* const clock_;
};

// Any action in the browser. Also cancels commands.
class InteractTool final : public BrowserTool {
 public:
  using BrowserTool::BrowserTool;

  const Json& Definition() const override;
  boost::asio::awaitable<ToolResult> Call(std::shared_ptr<CallContext> context,
                                          Json arguments) const override;

 private:
  static absl::StatusOr<BrowserCall> Read(const Json& json);
  boost::asio::awaitable<ToolResult> Cancel(std::string client_id,
                                            absl::StatusOr<v1::CancelCommandRequest> request) const;
};

// What only looks at the page.
class AnalyzeTool final : public BrowserTool {
 public:
  using BrowserTool::BrowserTool;

  const Json& Definition() const override;
  boost::asio::awaitable<ToolResult> Call(std::shared_ptr<CallContext> context,
                                          Json arguments) const override;

 private:
  static absl::StatusOr<BrowserCall> Read(const Json& json);
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_MCP_BROWSER_TOOLS_H_
