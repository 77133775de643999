#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runner/agent/agent_fixture.h"

namespace callslip::runner {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class AgentSessionTest : public AgentFixture {};

TEST_F(AgentSessionTest, TakesPromptsAndReportsUpdates) {
  Start();
  Open();
  EXPECT_EQ(Turn("hello world"), "end_turn");
  EXPECT_THAT(told_.said, ElementsAre("hello", " world"));
  ASSERT_EQ(told_.updates.size(), 4);
  EXPECT_EQ(std::get<ToolCall>(told_.updates[1]).raw_input["about"], "hello world");
  EXPECT_EQ(std::get<ToolCallChange>(told_.updates[2]).status, "completed");
  EXPECT_EQ(Turn(R"([{"say": "more"}, {"stop": "max_tokens"}])"), "max_tokens");
}

TEST_F(AgentSessionTest, LateOutputBelongsToTheTurn) {
  Start();
  Open();
  EXPECT_EQ(Turn(R"([{"say": "in time"}, {"late": "late"}])"), "end_turn");
  PassUntil([this] { return told_.said.size() == 2; });
  EXPECT_THAT(told_.said, ElementsAre("in time", "late"));
}

TEST_F(AgentSessionTest, CrashEndsTurnWithItsExitCode) {
  Start();
  Open();
  EXPECT_EQ(Turn(R"([{"say": "begun"}, {"exit": 3}])"), "agent_crashed");
  const auto& error = std::get<AgentError>(*turn_);
  EXPECT_THAT(error.message, HasSubstr("code 3"));
  EXPECT_FALSE(error.prompt_unsent);
  EXPECT_THAT(told_.said, ElementsAre("begun"));
  RunUntil([this] { return end_.has_value(); });
  EXPECT_THAT(told_.ends, ElementsAre("agent_crashed"));
  session_->Prompt(Json::array(), [this](AgentSession::TurnEnd end) { turn_ = std::move(end); });
  EXPECT_TRUE(std::get<AgentError>(*turn_).prompt_unsent);
}

TEST_F(AgentSessionTest, PartlyWrittenPromptIsUnsent) {
  Start();
  Open();
  agent_->Stop();
  // More than the pipe holds, for an agent that no longer reads.
  Prompt(absl::StrCat(R"([{"sleep": 1}, {"say": ")", std::string(4 << 20, 'x'), "\"}]"));
  PassUntil([this] { return turn_.has_value(); });
  EXPECT_EQ(Outcome(), "agent_stopped");
  EXPECT_TRUE(std::get<AgentError>(*turn_).prompt_unsent);
}

TEST_F(AgentSessionTest, ErrorsAreMappedToReasons) {
  Start();
  Open();
  EXPECT_EQ(Turn(R"([{"error": {"code": -32603, "message": "Rate limit exceeded"}}])"),
            "rate_limited");
  EXPECT_EQ(Turn(R"([{"error": {"code": -32603, "message": "x", "data": {"status": 429}}}])"),
            "rate_limited");
  EXPECT_EQ(Turn(R"([{"error": {"code": -32000, "message": "x"}}])"), "auth_required");
  EXPECT_EQ(Turn(R"([{"error": {"code": -32603, "message": "no", "data": {"details": "x y"}}}])"),
            "agent_error");
  EXPECT_EQ(std::get<AgentError>(*turn_).message, "no: x y (-32603)");
  EXPECT_EQ(Turn("it goes on"), "end_turn");
}

TEST_F(AgentSessionTest, CancelledTurnEndsAsCancelled) {
  Start();
  Open();
  Prompt(R"([{"say": "begun"}, {"sleep": 60000}])");
  RunUntil([this] { return !told_.said.empty(); });
  session_->Cancel();
  session_->Cancel();
  PassUntil([this] { return turn_.has_value(); });
  EXPECT_EQ(Outcome(), "cancelled");
  EXPECT_EQ(Turn("next"), "end_turn");
}

TEST_F(AgentSessionTest, AgentThatIgnoresCancelIsKilled) {
  Start(R"({"ignores": ["cancel"]})");
  Open();
  Prompt(R"([{"say": "begun"}, {"sleep": 60000}])");
  RunUntil([this] { return !told_.said.empty(); });
  session_->Cancel();
  timers_.Advance(absl::Seconds(9));
  context_.poll();
  EXPECT_FALSE(turn_.has_value());
  timers_.Advance(absl::Seconds(1));
  RunUntil([this] { return end_.has_value(); });
  EXPECT_EQ(Outcome(), "cancel_ignored");
}

TEST_F(AgentSessionTest, OpenPermissionQuestionNeverTimesOut) {
  turn_idle_ = absl::Minutes(5);
  Start();
  Open();
  Prompt(R"([{"ask": {"toolCallId": "t", "kind": "edit", "title": "Edit a"}}])");
  RunUntil([this] { return !told_.questions.empty(); });
  EXPECT_EQ(told_.questions[0].first.tool_call.kind, "edit");
  timers_.Advance(absl::Hours(24));
  EXPECT_THAT(told_.silences, IsEmpty());
  ASSERT_FALSE(turn_.has_value());
  told_.questions[0].second("yes");
  told_.questions[0].second("no");
  PassUntil([this] { return turn_.has_value(); });
  EXPECT_EQ(Outcome(), "end_turn");
  EXPECT_THAT(told_.said, ElementsAre(HasSubstr(R"("optionId":"yes")")));
}

TEST_F(AgentSessionTest, CancelAnswersAllQuestions) {
  Start();
  Open();
  Prompt(R"([{"ask": {"toolCallId": "t"}}])");
  RunUntil([this] { return !told_.questions.empty(); });
  session_->Cancel();
  told_.questions[0].second("yes");
  PassUntil([this] { return turn_.has_value(); });
  EXPECT_EQ(Outcome(), "cancelled");
  EXPECT_THAT(told_.said, ElementsAre(HasSubstr("cancelled")));
}

TEST_F(AgentSessionTest, WithdrawnQuestionIsOver) {
  Start();
  Open();
  Prompt(R"([{"ask": {"toolCallId": "t", "title": "Edit a"}, "withdraw": 1}])");
  PassUntil([this] { return turn_.has_value(); });
  EXPECT_EQ(Outcome(), "end_turn");
  EXPECT_THAT(told_.said, ElementsAre("withdrew it"));
  ASSERT_EQ(told_.questions.size(), 1u);
  EXPECT_THAT(told_.over, ElementsAre(told_.questions[0].first.number));
  // An answer after the end of the question has no effect.
  told_.questions[0].second("yes");
  EXPECT_EQ(Turn("it goes on"), "end_turn");
}

TEST_F(AgentSessionTest, QuestionsEndWithTheirTurn) {
  Start();
  Open();
  Prompt(R"([{"ask": {"toolCallId": "t", "title": "Edit a"}}])");
  RunUntil([this] { return !told_.questions.empty(); });
  session_->Cancel();
  EXPECT_THAT(told_.over, ElementsAre(told_.questions[0].first.number));
  PassUntil([this] { return turn_.has_value(); });
  EXPECT_EQ(Outcome(), "cancelled");
}

TEST_F(AgentSessionTest, HeldBackOutputIsReadLater) {
  Start();
  Open();
  session_->Hold();
  Prompt(R"([{"say": "held"}])");
  timers_.Advance(absl::Hours(1));
  // An agent could end a whole turn in this time.
  for (int i = 0; i < 100; ++i) context_.run_one_for(std::chrono::milliseconds(1));
  EXPECT_THAT(told_.said, IsEmpty());
  EXPECT_THAT(told_.silences, IsEmpty());
  session_->GoOn();
  PassUntil([this] { return turn_.has_value(); });
  EXPECT_EQ(Outcome(), "end_turn");
  EXPECT_THAT(told_.said, ElementsAre("held"));
}

TEST_F(AgentSessionTest, OtherSessionsSeeCrashWhenProcessIsKilledForOne) {
  Start(R"({"ignores": ["cancel"]})");
  Open();
  const std::shared_ptr<AgentSession> first = session_;
  Told other;
  agent_->NewSession({.directory = "/tmp"}, &other, Take());
  session_.reset();
  RunUntil([this] { return session_ != nullptr; });
  const std::shared_ptr<AgentSession> second = std::exchange(session_, first);
  Prompt(R"([{"say": "begun"}, {"sleep": 60000}])");
  RunUntil([this] { return !told_.said.empty(); });
  session_->Cancel();
  timers_.Advance(absl::Seconds(10));
  RunUntil([this] { return end_.has_value(); });
  EXPECT_THAT(told_.ends, ElementsAre("cancel_ignored"));
  EXPECT_THAT(other.ends, ElementsAre("agent_crashed"));
}

TEST_F(AgentSessionTest, AgentCallsAreAnswered) {
  Start();
  Open();
  EXPECT_EQ(Turn(R"([{"call": "fs/read_text_file", "params": {"path": "/a"}},
                     {"call": "unheard/of", "params": {}}])"),
            "end_turn");
  EXPECT_THAT(told_.calls, ElementsAre("fs/read_text_file"));
  EXPECT_THAT(told_.said,
              ElementsAre(HasSubstr(R"("path":"/a")"), HasSubstr("there is no method unheard/of")));
}

TEST_F(AgentSessionTest, SilenceIsReportedAndEndsTurnAtIdleLimit) {
  turn_idle_ = absl::Minutes(30);
  Start();
  Open();
  Prompt(R"([{"say": "begun"}, {"answer": "never"}])");
  RunUntil([this] { return !told_.said.empty(); });
  timers_.Advance(absl::Minutes(29));
  EXPECT_THAT(told_.silences, ElementsAre(absl::Minutes(2)));
  EXPECT_FALSE(turn_.has_value());
  timers_.Advance(absl::Minutes(2));
  RunUntil([this] { return end_.has_value(); });
  EXPECT_EQ(Outcome(), "agent_silent");
}

TEST_F(AgentSessionTest, TurnHasNoTimeLimitByDefault) {
  Start();
  Open();
  Prompt(R"([{"say": "begun"}, {"answer": "never"}])");
  RunUntil([this] { return !told_.said.empty(); });
  timers_.Advance(absl::Hours(100));
  context_.poll();
  EXPECT_FALSE(turn_.has_value() || end_.has_value());
}

TEST_F(AgentSessionTest, ModesAndConfigOptionsAreReported) {
  Start(R"({"modes": true})");
  Open();
  EXPECT_EQ(session_->modes()["currentModeId"], "ask");
  ASSERT_EQ(session_->config_options().size(), 2);
  bool done = false;
  session_->SetConfigOption("brief", "true", [&](const RpcAnswer& answer) {
    done = std::holds_alternative<Json>(answer);
  });
  RunUntil([&] { return done; });
  EXPECT_EQ(session_->config_options()[1]["currentValue"], true);
  EXPECT_TRUE(std::holds_alternative<ConfigOptions>(told_.updates.back()));
}

TEST_F(AgentSessionTest, ClosedSessionReportsNothing) {
  Start();
  Open();
  const auto first = session_;
  Open();
  session_ = first;
  Prompt(R"([{"say": "begun"}, {"ask": {"toolCallId": "t"}}])");
  RunUntil([this] { return !told_.questions.empty(); });
  session_->Close();
  EXPECT_EQ(Outcome(), "cancelled");
  EXPECT_EQ(agent_->sessions(), 1);
  told_.questions[0].second("yes");
  Prompt("too late");
  EXPECT_EQ(Outcome(), "agent_stopped");
  EXPECT_TRUE(std::get<AgentError>(*turn_).prompt_unsent);
  bool refused = false;
  session_->SetMode(
      "ask", [&](const RpcAnswer& answer) { refused = std::holds_alternative<RpcError>(answer); });
  EXPECT_TRUE(refused);
  agent_->Kill();
  RunUntil([this] { return end_.has_value(); });
  EXPECT_EQ(end_->reason, "agent_stopped");
  EXPECT_THAT(told_.ends, ElementsAre("agent_stopped"));  // Of the second session.
  EXPECT_THAT(told_.said, ElementsAre("begun"));
}

TEST_F(AgentSessionTest, TurnOfClosedSessionDoesNotContinue) {
  for (const bool ignores : {false, true}) {
    for (const bool is_cancelled : {false, true}) {
      SCOPED_TRACE(absl::StrCat(ignores, " ", is_cancelled));
      told_ = Told();
      Start(ignores ? R"({"ignores": ["cancel"]})" : "{}");
      Open();
      const auto first = session_;
      Told other;
      session_.reset();
      agent_->NewSession({.directory = "/tmp"}, &other, Take());
      RunUntil([this] { return session_ != nullptr; });
      const auto second = std::exchange(session_, first);
      Prompt(R"([{"say": "begun"}, {"sleep": 60000}])");
      RunUntil([this] { return !told_.said.empty(); });
      if (is_cancelled) session_->Cancel();
      session_->Close();
      EXPECT_EQ(Outcome(), "cancelled");
      session_ = second;
      if (ignores) {
        timers_.Advance(absl::Seconds(9));
        context_.poll();
        EXPECT_FALSE(end_.has_value());
        timers_.Advance(absl::Seconds(1));
        RunUntil([this] { return end_.has_value(); });
        EXPECT_EQ(end_->reason, "cancel_ignored");
        EXPECT_THAT(other.ends, ElementsAre("agent_crashed"));
      } else {
        EXPECT_EQ(Turn("another"), "end_turn");
        timers_.Advance(absl::Minutes(1));
        context_.poll();
        EXPECT_FALSE(end_.has_value());
        agent_->Stop();
        PassUntil([this] { return end_.has_value(); });
      }
    }
  }
}

TEST_F(AgentSessionTest, SessionCanOutliveItsAgent) {
  Start();
  Open();
  agent_->Kill();
  RunUntil([this] { return end_.has_value(); });
  agent_.reset();
  session_->Cancel();
  session_->Close();
  Prompt("to nobody");
  EXPECT_EQ(Outcome(), "agent_stopped");
}

TEST_F(AgentSessionTest, IdleLimitBelowFirstWarningApplies) {
  turn_idle_ = absl::Minutes(1);
  Start();
  Open();
  Prompt(R"([{"say": "begun"}, {"answer": "never"}])");
  RunUntil([this] { return !told_.said.empty(); });
  timers_.Advance(absl::Seconds(61));
  RunUntil([this] { return end_.has_value(); });
  EXPECT_EQ(Outcome(), "agent_silent");
  EXPECT_THAT(told_.silences, IsEmpty());
}

TEST_F(AgentSessionTest, NumberContaining429IsNoRateLimit) {
  Start();
  Open();
  EXPECT_EQ(Turn(R"([{"error": {"code": -32603, "message": "line 14290"}}])"), "agent_error");
  EXPECT_EQ(Turn(R"([{"error": {"code": 429, "message": "x"}}])"), "rate_limited");
  EXPECT_EQ(Turn(R"([{"error": {"code": -32603, "message": "over quota"}}])"), "rate_limited");
  EXPECT_EQ(Turn(R"([{"error": {"code": -32603, "message": "HTTP 429"}}])"), "rate_limited");
}

}  // namespace
}  // namespace callslip::runner
