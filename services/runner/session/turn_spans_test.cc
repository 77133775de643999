#include "runner/session/turn_spans.h"

#include <map>
#include <string>
#include <vector>

#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/system_executor.hpp"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rpc_client/traced_executor.h"
#include "telemetry/session_trace.h"
#include "telemetry/testing/fake_span_sink.h"

namespace callslip::runner {
namespace {

using ::testing::IsEmpty;

namespace v1 = callslip::tracker::v1;

constexpr absl::Time kCreated = absl::FromUnixSeconds(1'800'000'000);

v1::FinishTurnRequest Failed(const std::string& reason) {
  v1::FinishTurnRequest end;
  end.set_outcome(v1::FinishTurnRequest::OUTCOME_FAILED);
  end.set_reason(reason);
  return end;
}

std::string TextOf(const Span& span, absl::string_view key) {
  for (const SpanAttribute& each : span.attributes) {
    if (each.key == key) return std::get<std::string>(each.value);
  }
  return "";
}

class TurnSpansTest : public testing::Test {
 protected:
  std::map<std::string, Span> Take() {
    std::map<std::string, Span> spans;
    for (Span& span : sink_.Take()) spans[span.name] = std::move(span);
    return spans;
  }

  FakeSpanSink sink_;
  TurnSpans spans_{"opencode", "s", kCreated};
};

TEST_F(TurnSpansTest, TurnContainsPromptAndPromptContainsTools) {
  spans_.BeginTurn("t");
  const std::string turn_is = spans_.UnderWay();
  const std::string told = spans_.BeginPrompt();
  EXPECT_EQ(spans_.UnderWay(), told);
  spans_.Take(ToolCall{.id = "1", .title = "secret", .kind = "read", .status = "pending"});
  spans_.Take(ToolCallChange{.id = "1", .status = "completed"});
  spans_.Take(ToolCall{.id = "2", .kind = "secret", .status = "failed"});
  spans_.BeginQuestion();
  spans_.EndPrompt(PromptEnd{.stop_reason = "end_turn"});
  spans_.BeginCommand("cmd-0-0");
  spans_.EndTurn({});
  auto spans = Take();
  ASSERT_EQ(spans.size(), 6);
  EXPECT_EQ(spans["execute_tool execute"].parent, spans["turn"].context);
  EXPECT_EQ(TextOf(spans["execute_tool execute"], "gen_ai.tool.call.id"), "cmd-0-0");
  const Span& turn = spans["turn"];
  const Span& prompt = spans["invoke_agent opencode"];
  EXPECT_EQ(turn.parent, TraceOfSession("s", kCreated));
  EXPECT_EQ(TextOf(turn, "callslip.turn.id"), "t");
  EXPECT_EQ(TextOf(turn, "callslip.turn.outcome"), "completed");
  EXPECT_EQ(prompt.parent, turn.context);
  EXPECT_EQ(prompt.context.ToString(), told);
  EXPECT_EQ(turn.context.ToString(), turn_is);
  EXPECT_EQ(spans_.UnderWay(), "");
  for (const char* below : {"execute_tool read", "execute_tool other", "permission"}) {
    EXPECT_EQ(spans[below].parent, prompt.context) << below;
  }
  EXPECT_FALSE(spans["execute_tool read"].failed);
  EXPECT_EQ(TextOf(spans["execute_tool other"], "error.type"), "tool_error");
}

TEST_F(TurnSpansTest, CallsBelongToPromptElseTurnElseSession) {
  const boost::asio::any_io_executor executor = spans_.Traced(boost::asio::system_executor());
  const auto current = [&] { return TracedExecutor::TraceOf(executor).ToString(); };
  const std::string session = TraceOfSession("s", kCreated).ToString();
  EXPECT_EQ(current(), session);
  spans_.BeginTurn("t");
  const std::string turn = spans_.UnderWay();
  EXPECT_EQ(current(), turn);
  const std::string prompt = spans_.BeginPrompt();
  EXPECT_EQ(current(), prompt);
  spans_.EndPrompt(PromptEnd{.stop_reason = "end_turn"});
  EXPECT_EQ(current(), turn);
  spans_.EndTurn({});
  EXPECT_EQ(current(), session);
}

TEST(TurnSpansWithoutSinkTest, ExecutorIsUnchanged) {
  const TurnSpans spans("opencode", "s", kCreated);
  const boost::asio::any_io_executor executor = boost::asio::system_executor();
  EXPECT_EQ(spans.Traced(executor), executor);
}

TEST_F(TurnSpansTest, FailedSpansHaveErrorCodes) {
  spans_.BeginTurn("t");
  spans_.BeginPrompt();
  spans_.Take(ToolCall{.id = "1", .kind = "edit"});
  spans_.EndPrompt(AgentError{"agent_crashed", "secret"});
  spans_.EndTurn(Failed("agent_crashed"));
  for (const auto& [name, span] : Take()) {
    EXPECT_TRUE(span.failed) << name;
    EXPECT_EQ(TextOf(span, "error.type"), "agent_crashed") << name;
  }
}

TEST_F(TurnSpansTest, UpdatesBetweenTurnsCreateNoSpans) {
  spans_.Take(ToolCall{.id = "1", .kind = "read"});
  spans_.BeginQuestion();
  EXPECT_THAT(Take(), IsEmpty());
}

TEST(TurnSpans, DoNothingWithoutSink) {
  TurnSpans spans("opencode", "s", kCreated);
  EXPECT_EQ(spans.Traceparent(), "");
  spans.BeginTurn("t");
  EXPECT_EQ(spans.BeginPrompt(), "");
  spans.Take(ToolCall{.id = "1", .kind = "read"});
  spans.EndPrompt(PromptEnd{});
  spans.EndTurn({});
}

}  // namespace
}  // namespace callslip::runner
