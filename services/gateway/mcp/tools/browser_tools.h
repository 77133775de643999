#ifndef CALLSLIP_GATEWAY_MCP_TOOLS_BROWSER_TOOLS_H_
#define CALLSLIP_GATEWAY_MCP_TOOLS_BROWSER_TOOLS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "gateway/files/file_store.h"
#include "gateway/mcp/protocol/tool.h"
#include "gateway/mcp/tools/arguments.h"
#include "gateway/mcp/tools/browser_actions.h"
#include "gateway/tracker_client/tracker_client.h"

namespace callslip::gateway {

// A tool whose calls are commands for the browser.
class BrowserTool : public Tool {
 public:
  BrowserTool(TrackerClient* tracker, Clock* clock) : tracker_(tracker), clock_(clock) {}

  bool MayBeTask() const override { return true; }
  absl::Duration LongestWait(const Json& arguments) const override;

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

  // Has the command go on with what the call came with.
  static void SetTrace(const CallContext& context, v1::RegisterCommandRequest& registration);

  // Reads the arguments of the action, and those that all such tools take. What is wrong with them
  // is in `arguments.status()`.
  static BrowserCall ReadCall(const BrowserAction& action, Arguments& arguments);

  // Answers a call that has made `command`, or found it there, with its end, where the call waits
  // for that or it came before; else with its correlation id or as a task.
  boost::asio::awaitable<ToolResult> Answer(std::shared_ptr<CallContext> context,
                                            v1::Command command, bool existed,
                                            absl::Duration wait) const;
  // The tracker did not take it, or was not heard.
  static ToolResult NotRegistered(const absl::Status& status, const std::string& request_id);
  // The agent's, or a new one: what is handed in twice with it is the same command, so that the
  // gateway may do that.
  static void SetRequestId(Arguments& arguments, std::string* request_id);

  TrackerClient* const tracker_;
  Clock* const clock_;
};

// Any action in the browser. Also cancels commands.
class InteractTool final : public BrowserTool {
 public:
  // `files` has those of an upload, and outlives the tool.
  InteractTool(TrackerClient* tracker, Clock* clock, FileStore* files)
      : BrowserTool(tracker, clock), files_(files) {}

  const Json& Definition() const override;
  boost::asio::awaitable<ToolResult> Call(std::shared_ptr<CallContext> context,
                                          Json arguments) const override;

 private:
  // Of a call of `client`'s.
  absl::StatusOr<BrowserCall> Read(const std::string& client, const Json& json) const;
  boost::asio::awaitable<ToolResult> Cancel(std::string client_id,
                                            absl::StatusOr<v1::CancelCommandRequest> request) const;

  FileStore* const files_;
};

// What only looks at the page, and asks the person in front of it. What it does with annotations is
// in annotations_call.cc.
class AnalyzeTool final : public BrowserTool {
 public:
  using BrowserTool::BrowserTool;

  const Json& Definition() const override;
  boost::asio::awaitable<ToolResult> Call(std::shared_ptr<CallContext> context,
                                          Json arguments) const override;

 private:
  struct AnnotationsCall {
    v1::RequestAnnotationsRequest request;
    std::string message;  // For the person. May be empty.
    bool waits = false;
    absl::Duration wait;  // In this call.
  };

  static absl::StatusOr<BrowserCall> Read(const Json& json);
  static absl::StatusOr<AnnotationsCall> ReadAnnotations(const Json& json);

  boost::asio::awaitable<ToolResult> Annotations(std::shared_ptr<CallContext> context,
                                                 absl::StatusOr<AnnotationsCall> call) const;
  // Those that are there, without a wait for others.
  boost::asio::awaitable<ToolResult> ListAnnotations(v1::RequestAnnotationsRequest request) const;
  // Has the browser switch its draw mode on. Repeating it is harmless.
  boost::asio::awaitable<absl::Status> StartDrawMode(std::shared_ptr<CallContext> context,
                                                     std::string correlation_id,
                                                     AnnotationsCall call) const;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_MCP_TOOLS_BROWSER_TOOLS_H_
