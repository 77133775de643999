#pragma once

#include <memory>
#include <utility>

#include "common/clock.h"
#include "gateway/api/session_hub.h"
#include "gateway/mcp/protocol/tool.h"
#include "gateway/mcp/tools/session_control.h"
#include "gateway/mcp/tools/session_wait.h"
#include "rpc_client/tracker_calls.h"

namespace callslip::gateway {

// Lets an agent work with the sessions of other agents of the same client: list and read them, send
// an agent a message, wait until its turn ends, and get its answer; and create, stop and end
// sessions. An agent that runs in a session creates children of it.
class SessionTool final : public Tool {
 public:
  SessionTool(TrackerCalls* sessions, std::shared_ptr<SessionHub> hub, Clock* clock)
      : sessions_(sessions), hub_(std::move(hub)), clock_(clock), control_(sessions) {}

  const Json& Definition() const override;
  const Json& DefinitionForAgent() const override;
  absl::Duration LongestWait(const Json& arguments) const override;
  boost::asio::awaitable<ToolResult> Call(std::shared_ptr<CallContext> context,
                                          Json arguments) const override;

 private:
  using Answer = boost::asio::awaitable<ToolResult>;

  Answer List(v1::ListSessionsRequest request) const;
  Answer Read(v1::ReadEventsRequest request) const;
  Answer Enqueue(v1::AddMessageRequest request) const;
  // The agent's answer in the last turn of the one session that the call waits for.
  Answer LastAnswer(std::shared_ptr<CallContext> context, TurnWait wait) const;

  TrackerCalls* const sessions_;
  const std::shared_ptr<SessionHub> hub_;
  Clock* const clock_;
  const SessionControl control_;
};

}  // namespace callslip::gateway
