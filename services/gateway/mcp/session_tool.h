#ifndef CALLSLIP_GATEWAY_MCP_SESSION_TOOL_H_
#define CALLSLIP_GATEWAY_MCP_SESSION_TOOL_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "common/clock.h"
#include "gateway/api/session_hub.h"
#include "gateway/mcp/tool.h"
#include "gateway/tracker_client/session_client.h"

namespace callslip::gateway {

// Lets an agent work with the session of another one of the same client: see what there is, read
// it, hand its agent a message, and wait until that has had its turn.
class SessionTool final : public Tool {
 public:
  SessionTool(SessionClient* sessions, std::shared_ptr<SessionHub> hub, Clock* clock)
      : sessions_(sessions), hub_(std::move(hub)), clock_(clock) {}

  const Json& Definition() const override;
  absl::Duration LongestWait(const Json& arguments) const override;
  boost::asio::awaitable<ToolResult> Call(std::shared_ptr<CallContext> context,
                                          Json arguments) const override;

 private:
  using Answer = boost::asio::awaitable<ToolResult>;

  Answer List(v1::ListSessionsRequest request) const;
  Answer Read(v1::ReadEventsRequest request) const;
  Answer Enqueue(v1::AddMessageRequest request) const;
  Answer Wait(std::shared_ptr<CallContext> context, std::string session_id,
              absl::Duration at_most) const;

  SessionClient* const sessions_;
  const std::shared_ptr<SessionHub> hub_;
  Clock* const clock_;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_MCP_SESSION_TOOL_H_
