#pragma once

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
  // A command to register, and how long to wait for its end.
  struct BrowserCall {
    v1::RegisterCommandRequest registration;
    absl::Duration wait;
  };

  // Registers the command and answers with its correlation id, or with its outcome if the call
  // waits. Answers an invalid call with its error.
  boost::asio::awaitable<ToolResult> Submit(std::shared_ptr<CallContext> context,
                                            absl::StatusOr<BrowserCall> call) const;

  // Propagates the trace context of the call to the command.
  static void SetTrace(const CallContext& context, v1::RegisterCommandRequest& registration);

  // Reads the arguments of the action, and those common to all such tools. Errors are in
  // `arguments.status()`.
  static BrowserCall ReadCall(const BrowserAction& action, Arguments& arguments);

  // Answers a call that has registered `command` or found it existing: with its outcome if the call
  // waits or the command has ended already, else with its correlation id or as a task.
  boost::asio::awaitable<ToolResult> Answer(std::shared_ptr<CallContext> context,
                                            v1::Command command, bool existed,
                                            absl::Duration wait) const;
  // The error result of a command that the tracker did not accept, or that got no response.
  static ToolResult NotRegistered(const absl::Status& status, const std::string& request_id);
  // Takes the agent's request id, or makes a new one. Two submissions with the same id are the same
  // command, so that the gateway may submit it twice.
  static void SetRequestId(Arguments& arguments, std::string* request_id);

  TrackerClient* const tracker_;
  Clock* const clock_;
};

// Any action in the browser. Also cancels commands.
class InteractTool final : public BrowserTool {
 public:
  // `files` holds the files of an upload. It must outlive the tool.
  InteractTool(TrackerClient* tracker, Clock* clock, FileStore* files)
      : BrowserTool(tracker, clock), files_(files) {}

  const Json& Definition() const override;
  boost::asio::awaitable<ToolResult> Call(std::shared_ptr<CallContext> context,
                                          Json arguments) const override;

 private:
  // Reads a call of the client `client`.
  absl::StatusOr<BrowserCall> Read(const std::string& client, const Json& json) const;
  boost::asio::awaitable<ToolResult> Cancel(std::string client_id,
                                            absl::StatusOr<v1::CancelCommandRequest> request) const;

  FileStore* const files_;
};

// Actions that only read the page, and requests to the user in front of it. Its handling of
// annotations is in annotations_call.cc.
class AnalyzeTool final : public BrowserTool {
 public:
  using BrowserTool::BrowserTool;

  const Json& Definition() const override;
  boost::asio::awaitable<ToolResult> Call(std::shared_ptr<CallContext> context,
                                          Json arguments) const override;

 private:
  struct AnnotationsCall {
    v1::RequestAnnotationsRequest request;
    std::string message;  // For the user. May be empty.
    bool waits = false;
    absl::Duration wait;  // The wait of this call.
  };

  static absl::StatusOr<BrowserCall> Read(const Json& json);
  static absl::StatusOr<AnnotationsCall> ReadAnnotations(const Json& json);

  boost::asio::awaitable<ToolResult> Annotations(std::shared_ptr<CallContext> context,
                                                 absl::StatusOr<AnnotationsCall> call) const;
  // Returns the existing annotations without waiting for others.
  boost::asio::awaitable<ToolResult> ListAnnotations(v1::RequestAnnotationsRequest request) const;
  // Asks the browser to switch on its draw mode. Repeating it is harmless.
  boost::asio::awaitable<absl::Status> StartDrawMode(std::shared_ptr<CallContext> context,
                                                     std::string correlation_id,
                                                     AnnotationsCall call) const;
};

}  // namespace callslip::gateway
