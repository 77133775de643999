#include "runner/session/turn_spans.h"

#include <utility>
#include <variant>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/text_scan.h"
#include "rpc_client/traced_executor.h"
#include "telemetry/session_trace.h"

namespace callslip::runner {
namespace {

namespace v1 = callslip::tracker::v1;

// The protocol's kinds. A kind invented by an agent is not used as the name of a span.
constexpr absl::string_view kKinds[] = {"delete", "edit",   "execute", "fetch",      "move",
                                        "read",   "search", "think",   "switch_mode"};
// Concurrent tool calls; more are not recorded.
constexpr size_t kMaxTools = 64;
constexpr size_t kIdBytes = 64;

bool IsOver(absl::string_view status) { return status == "completed" || status == "failed"; }

}  // namespace

TurnSpans::TurnSpans(std::string agent, std::string session_id, absl::Time created)
    : agent_(std::move(agent)), session_id_(std::move(session_id)), created_(created) {
  if (Spans() != nullptr) {
    current_ = std::make_shared<TraceContext>(TraceOfSession(session_id_, created_));
  }
}

boost::asio::any_io_executor TurnSpans::Traced(boost::asio::any_io_executor executor) const {
  if (current_ == nullptr) return executor;
  return TracedExecutor(std::move(executor), current_);
}

void TurnSpans::SetCurrent(const TraceContext& context) {
  if (current_ != nullptr) *current_ = context;
}

std::string TurnSpans::Traceparent() const {
  return TraceOfSession(session_id_, created_).ToString();
}

std::string TurnSpans::UnderWay() const { return (prompt_ ? prompt_ : turn_).context().ToString(); }

ActiveSpan TurnSpans::Begin(SpanKind kind, const std::string& name, TraceContext& context) const {
  ActiveSpan span = ActiveSpan::Start(kind, name, context);
  span.Set("gen_ai.conversation.id", session_id_);
  return span;
}

void TurnSpans::BeginTurn(const std::string& turn_id) {
  turn_context_ = TraceOfSession(session_id_, created_);
  turn_ = Begin(SpanKind::kInternal, "turn", turn_context_);
  turn_.Set("callslip.turn.id", turn_id);
  SetCurrent(turn_context_);
}

std::string TurnSpans::BeginPrompt() {
  prompt_context_ = turn_context_;
  prompt_ = Begin(SpanKind::kClient, absl::StrCat("invoke_agent ", agent_), prompt_context_);
  prompt_.Set("gen_ai.operation.name", std::string("invoke_agent"));
  prompt_.Set("gen_ai.agent.name", agent_);
  SetCurrent(prompt_context_);
  return prompt_context_.ToString();
}

ActiveSpan TurnSpans::ToolSpan(const std::string& id, const std::string& name,
                               TraceContext context) const {
  ActiveSpan span = Begin(SpanKind::kInternal, absl::StrCat("execute_tool ", name), context);
  span.Set("gen_ai.operation.name", std::string("execute_tool"));
  span.Set("gen_ai.tool.name", name);
  span.Set("gen_ai.tool.call.id", std::string(CutText(id, kIdBytes)));
  return span;
}

void TurnSpans::BeginTool(const std::string& id, const std::string& kind) {
  if (!prompt_ || tools_.size() >= kMaxTools || tools_.contains(id)) return;
  const std::string name = absl::c_linear_search(kKinds, kind) ? kind : "other";
  tools_.emplace(id, ToolSpan(id, name, prompt_context_));
}

ActiveSpan TurnSpans::BeginCommand(const std::string& id) const {
  return turn_ ? ToolSpan(id, "execute", turn_context_) : ActiveSpan();
}

void TurnSpans::EndTool(const std::string& id, const std::string& status) {
  const auto tool = tools_.find(id);
  if (tool == tools_.end() || !IsOver(status)) return;
  if (status == "failed") tool->second.Fail("tool_error");
  tools_.erase(tool);
}

void TurnSpans::Take(const ToolCall& call) {
  if (!prompt_) return;
  BeginTool(call.id, call.kind);
  EndTool(call.id, call.status);
}

void TurnSpans::Take(const ToolCallChange& change) {
  if (prompt_ && change.status.has_value()) EndTool(change.id, *change.status);
}

ActiveSpan TurnSpans::BeginQuestion() const {
  if (!prompt_) return {};
  TraceContext context = prompt_context_;
  return Begin(SpanKind::kInternal, "permission", context);
}

void TurnSpans::EndPrompt(const AgentSession::TurnEnd& end) {
  SetCurrent(turn_context_);
  if (!prompt_) return;
  const auto* error = std::get_if<AgentError>(&end);
  const bool is_cancelled = error == nullptr && std::get<PromptEnd>(end).stop_reason == "cancelled";
  // Agents are not required to report the end of each call.
  for (auto& [id, tool] : tools_) {
    if (error != nullptr || is_cancelled) tool.Fail(is_cancelled ? "cancelled" : error->reason);
  }
  tools_.clear();
  if (error != nullptr) prompt_.Fail(error->reason);
  prompt_.End();
}

void TurnSpans::EndTurn(const v1::FinishTurnRequest& end) {
  if (current_ != nullptr) SetCurrent(TraceOfSession(session_id_, created_));
  if (!turn_) return;
  switch (end.outcome()) {
    case v1::FinishTurnRequest::OUTCOME_FAILED:
      turn_.Set("callslip.turn.outcome", std::string("failed"));
      turn_.Fail(end.reason());
      break;
    case v1::FinishTurnRequest::OUTCOME_CANCELLED:
      turn_.Set("callslip.turn.outcome", std::string("cancelled"));
      break;
    default: turn_.Set("callslip.turn.outcome", std::string("completed"));
  }
  turn_.End();
}

}  // namespace callslip::runner
