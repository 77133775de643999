#pragma once

#include <map>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "boost/asio/any_io_executor.hpp"
#include "callslip/tracker/v1/queue_service.pb.h"
#include "common/trace_context.h"
#include "runner/acp/agent_update.h"
#include "runner/agent/agent.h"
#include "telemetry/active_span.h"

namespace callslip::runner {

// The spans of a session's turns, in the session's trace, by OpenTelemetry's conventions for
// agents:
//
//   turn                    of a message, until the tracker knows its end
//     invoke_agent NAME     each prompt of the turn
//       execute_tool KIND   the agent's reports on a tool call, until it has ended
//       permission          while the agent waits for an answer
//     execute_tool execute  a shell command of the answer
//
// The spans contain neither messages nor the titles of tool calls. No effect if no spans are
// recorded.
class TurnSpans {
 public:
  TurnSpans(std::string agent, std::string session_id, absl::Time created);

  // Makes the tracker calls of coroutines part of the current prompt or turn, else of the session.
  boost::asio::any_io_executor Traced(boost::asio::any_io_executor executor) const;

  // The first span of the session, as the parent of the agent's calls; empty if none are recorded.
  std::string Traceparent() const;

  // The current prompt or turn, for the log; empty if neither is recorded.
  std::string UnderWay() const;

  void BeginTurn(const std::string& turn_id);
  // Returns the traceparent for the agent.
  std::string BeginPrompt();
  void Take(const ToolCall& call);
  void Take(const ToolCallChange& change);
  ActiveSpan BeginQuestion() const;
  // For a command of the answer that has ended.
  ActiveSpan BeginCommand(const std::string& id) const;
  void EndPrompt(const AgentSession::TurnEnd& end);
  void EndTurn(const callslip::tracker::v1::FinishTurnRequest& end);

 private:
  ActiveSpan ToolSpan(const std::string& id, const std::string& name, TraceContext context) const;
  void BeginTool(const std::string& id, const std::string& kind);
  void EndTool(const std::string& id, const std::string& status);
  ActiveSpan Begin(SpanKind kind, const std::string& name, TraceContext& context) const;
  void SetCurrent(const TraceContext& context);

  const std::string agent_;
  const std::string session_id_;
  const absl::Time created_;
  TraceContext turn_context_;    // Set during a turn.
  TraceContext prompt_context_;  // Set during a prompt.
  // One of them, or of the session. Null if no spans are recorded.
  std::shared_ptr<TraceContext> current_;
  ActiveSpan turn_;
  ActiveSpan prompt_;
  std::map<std::string, ActiveSpan> tools_;  // By tool call id.
};

}  // namespace callslip::runner
