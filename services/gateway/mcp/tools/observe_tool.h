#pragma once

#include <memory>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "common/clock.h"
#include "gateway/mcp/protocol/tool.h"
#include "gateway/tracker_client/tracker_client.h"

namespace callslip::gateway {

// Reports on commands, one by its correlation id or all that are pending or failed, and on the
// workers that execute them.
class ObserveTool final : public Tool {
 public:
  ObserveTool(TrackerClient* tracker, Clock* clock)
      : tracker_(tracker), clock_(clock), made_(clock->Now()) {}

  const Json& Definition() const override;
  bool ReadOnly() const override { return true; }
  absl::Duration LongestWait(const Json& arguments) const override;
  std::optional<Wait> WaitOf(const Json& arguments) const override;
  ToolResult AfterWait(const std::string& command_id, const absl::StatusOr<v1::Command>& command,
                       const std::string& hint) const override;
  boost::asio::awaitable<ToolResult> Call(std::shared_ptr<CallContext> context,
                                          Json arguments) const override;

  // The client that lists commands, and the owner of the commands.
  struct Whose {
    std::string client_id;
    std::string owner;  // Empty: the client's own; `*`: all clients'.
    std::string label;  // One session; empty: all sessions.
  };

 private:
  boost::asio::awaitable<ToolResult> One(std::shared_ptr<CallContext> context, Wait wait) const;
  boost::asio::awaitable<ToolResult> Pending(Whose whose) const;
  boost::asio::awaitable<ToolResult> Failed(Whose whose) const;

  TrackerClient* const tracker_;
  Clock* const clock_;
  const absl::Time made_;  // When the gateway started.
};

}  // namespace callslip::gateway
