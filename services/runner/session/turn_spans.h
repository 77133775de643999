#ifndef CALLSLIP_RUNNER_SESSION_TURN_SPANS_H_
#define CALLSLIP_RUNNER_SESSION_TURN_SPANS_H_

#include <map>
#include <string>

#include "absl/time/time.h"
#include "callslip/tracker/v1/queue_service.pb.h"
#include "common/trace_context.h"
#include "runner/acp/agent_update.h"
#include "runner/agent/agent.h"
#include "telemetry/active_span.h"

namespace callslip::runner {

// The spans of a session's turns, by OpenTelemetry's conventions for agents, in the session's
// trace:
//
//   turn                  of a message, until the tracker knows its end
//     invoke_agent NAME   each prompt of it
//       execute_tool KIND what the agent has said of a tool call, until that has ended
//       permission        as long as the agent waits for somebody's answer
//     execute_tool execute  a shell command of its answer
//
// Neither what is said nor the titles of tool calls are in them. Does nothing where no spans are
// recorded.
class TurnSpans {
 public:
  TurnSpans(std::string agent, std::string session_id, absl::Time created);

  // The first span of the session, for what the agent calls; empty where none are recorded.
  std::string Traceparent() const;

  // The prompt or the turn that is under way, for the log; empty where neither is recorded.
  std::string UnderWay() const;

  void BeginTurn(const std::string& turn_id);
  // Returns what the agent is told of the trace.
  std::string BeginPrompt();
  void Take(const ToolCall& call);
  void Take(const ToolCallChange& change);
  ActiveSpan BeginQuestion() const;
  // Of the answer that has ended.
  ActiveSpan BeginCommand(const std::string& id) const;
  void EndPrompt(const AgentSession::TurnEnd& end);
  void EndTurn(const callslip::tracker::v1::FinishTurnRequest& end);

 private:
  ActiveSpan ToolSpan(const std::string& id, const std::string& name, TraceContext context) const;
  void BeginTool(const std::string& id, const std::string& kind);
  void EndTool(const std::string& id, const std::string& status);
  ActiveSpan Begin(SpanKind kind, const std::string& name, TraceContext& context) const;

  const std::string agent_;
  const std::string session_id_;
  const absl::Time created_;
  TraceContext turn_context_;    // While there is a turn.
  TraceContext prompt_context_;  // While there is a prompt.
  ActiveSpan turn_;
  ActiveSpan prompt_;
  std::map<std::string, ActiveSpan> tools_;  // By the ids of their calls.
};

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_SESSION_TURN_SPANS_H_
