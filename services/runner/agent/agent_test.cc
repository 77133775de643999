#include "runner/agent/agent.h"

#include <csignal>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "boost/asio/executor_work_guard.hpp"
#include "boost/asio/io_context.hpp"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/temporary_folder.h"

namespace callslip::runner {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// What a session was told.
class Told final : public AgentSession::Listener {
 public:
  void OnUpdate(AgentUpdate update) override {
    if (const auto* piece = std::get_if<MessagePiece>(&update)) {
      said.push_back(piece->content.value("text", ""));
    }
    updates.push_back(std::move(update));
  }
  void OnPermission(PermissionQuestion question,
                    std::function<void(PermissionChoice)> answer) override {
    questions.emplace_back(std::move(question), std::move(answer));
  }
  void OnClientCall(const std::string& method, const Json& params, Peer::Respond respond) override {
    calls.push_back(method);
    respond(Json{{"seen", params}});
  }
  void OnSilence(absl::Duration silent) override { silences.push_back(silent); }
  void OnEnd(const AgentError& error) override { ends.push_back(error.reason); }

  std::vector<std::string> said;
  std::vector<AgentUpdate> updates;
  std::vector<std::pair<PermissionQuestion, std::function<void(PermissionChoice)>>> questions;
  std::vector<std::string> calls;
  std::vector<absl::Duration> silences;
  std::vector<std::string> ends;
};

// With the scripted agent (tests/support/scripted_agent), and a time that stands still but for what
// a test moves it by.
class AgentTest : public testing::Test, public Agent::Listener {
 protected:
  AgentTest() { std::signal(SIGPIPE, SIG_IGN); }
  ~AgentTest() override {
    if (agent_ == nullptr || end_.has_value()) return;
    agent_->Stop();
    RunUntil([this] { return end_.has_value(); });
  }

  void OnReady() override { ready_ = true; }
  void OnEnd(const AgentError& error) override { end_ = error; }
  void OnNoise(absl::string_view /*line*/) override { ++noises_; }

  template <typename Done>
  void RunUntil(Done done) {
    while (!done()) context_.run_one();
  }
  // Also while time passes.
  template <typename Done>
  void PassUntil(Done done) {
    while (!done()) {
      if (context_.poll() == 0) context_.run_one_for(std::chrono::milliseconds(1));
      timers_.Advance(absl::Milliseconds(10));
    }
  }

  void Begin(const std::string& options = "{}", const std::string& auth_method = "") {
    end_.reset();
    ready_ = false;
    AgentSettings settings{.name = "scripted",
                           .command = {.arguments = {CALLSLIP_SCRIPTED_AGENT, options},
                                       .environment = {"PATH=/usr/bin:/bin", "ONLY=this"},
                                       .directory = "/tmp"},
                           .auth_method = auth_method};
    settings.patience.turn_idle = turn_idle_;
    agent_ = Agent::Start(context_, &timers_, CALLSLIP_KEEPER_BINARY, std::move(settings), this);
  }
  void Start(const std::string& options = "{}") {
    Begin(options);
    RunUntil([this] { return ready_ || end_.has_value(); });
    ASSERT_TRUE(ready_) << end_->message;
  }
  Agent::Opened Take() {
    return [this](std::variant<std::shared_ptr<AgentSession>, AgentError> opened) {
      if (auto* error = std::get_if<AgentError>(&opened)) {
        refused_ = *error;
      } else {
        session_ = std::get<std::shared_ptr<AgentSession>>(opened);
      }
    };
  }
  void Open() {
    session_.reset();
    refused_.reset();
    agent_->NewSession({.directory = "/tmp"}, &told_, Take());
    RunUntil([this] { return session_ != nullptr || refused_.has_value(); });
    ASSERT_NE(session_, nullptr) << refused_->message;
  }
  void Restore(const std::string& id) {
    session_.reset();
    refused_.reset();
    agent_->RestoreSession(id, {.directory = "/tmp"}, &told_, Take());
    RunUntil([this] { return session_ != nullptr || refused_.has_value(); });
  }
  void Prompt(const std::string& text) {
    turn_.reset();
    session_->Prompt(
        Json::array({acp::TextBlock(text)}), [this](bool whole) { written_ = whole; },
        [this](AgentSession::TurnEnd end) { turn_ = std::move(end); });
  }
  // The stop reason, or why it has failed.
  std::string Turn(const std::string& text) {
    Prompt(text);
    PassUntil([this] { return turn_.has_value(); });
    return Outcome();
  }
  std::string Outcome() const {
    if (const auto* end = std::get_if<PromptEnd>(&*turn_)) return end->stop_reason;
    return std::get<AgentError>(*turn_).reason;
  }

  boost::asio::io_context context_;
  // Between two agents there is nothing to do.
  const boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_ =
      boost::asio::make_work_guard(context_);
  FakeTimers timers_;
  Told told_;
  std::shared_ptr<Agent> agent_;
  std::shared_ptr<AgentSession> session_;
  absl::Duration turn_idle_ = absl::InfiniteDuration();
  bool ready_ = false;
  int noises_ = 0;
  bool written_ = false;
  std::optional<AgentError> end_;
  std::optional<AgentError> refused_;
  std::optional<AgentSession::TurnEnd> turn_;
};

TEST_F(AgentTest, TakesPromptsAndTellsWhatComesOfThem) {
  Start();
  Open();
  EXPECT_EQ(Turn("hello world"), "end_turn");
  EXPECT_TRUE(written_);
  EXPECT_THAT(told_.said, ElementsAre("hello", " world"));
  ASSERT_EQ(told_.updates.size(), 4);
  EXPECT_EQ(std::get<ToolCall>(told_.updates[1]).raw_input["about"], "hello world");
  EXPECT_EQ(std::get<ToolCallChange>(told_.updates[2]).status, "completed");
  EXPECT_EQ(Turn(R"([{"say": "more"}, {"stop": "max_tokens"}])"), "max_tokens");
}

TEST_F(AgentTest, ServesSeveralSessions) {
  Start();
  Open();
  const auto first = session_;
  Open();
  EXPECT_NE(first->id(), session_->id());
  EXPECT_EQ(agent_->sessions(), 2);
  EXPECT_EQ(Turn("to the second"), "end_turn");
  session_ = first;
  EXPECT_EQ(Turn("to the first"), "end_turn");
}

TEST_F(AgentTest, WhatIsNotThereIsTold) {
  AgentSettings settings{.name = "none",
                         .command = {.arguments = {"/nowhere/agent"}, .directory = "/tmp"}};
  agent_ = Agent::Start(context_, &timers_, CALLSLIP_KEEPER_BINARY, std::move(settings), this);
  RunUntil([this] { return end_.has_value(); });
  EXPECT_EQ(end_->reason, "command_missing");
  EXPECT_THAT(end_->message, HasSubstr("/nowhere/agent"));
}

TEST_F(AgentTest, OneThatSaysNothingIsEnded) {
  Begin(R"({"initialize": "never"})");
  timers_.Advance(absl::Seconds(60));
  RunUntil([this] { return end_.has_value(); });
  EXPECT_EQ(end_->reason, "start_timeout");
}

TEST_F(AgentTest, AnotherVersionIsRefused) {
  Begin(R"({"initialize": "version"})");
  RunUntil([this] { return end_.has_value(); });
  EXPECT_EQ(end_->reason, "unsupported_version");
}

TEST_F(AgentTest, SessionsThatDoNotBeginAreEnded) {
  Start(R"({"new": "never"})");
  timers_.Advance(absl::Hours(1));  // One that was idle has its time as well.
  agent_->NewSession({.directory = "/tmp"}, &told_, Take());
  timers_.Advance(absl::Seconds(119));
  EXPECT_FALSE(refused_.has_value());
  timers_.Advance(absl::Seconds(1));
  RunUntil([this] { return end_.has_value(); });
  EXPECT_EQ(refused_->reason, "new_session_timeout");
  EXPECT_EQ(end_->reason, "new_session_timeout");
}

TEST_F(AgentTest, WhoeverHasToLogInIsToldHow) {
  Start(R"({"initialize": "auth"})");
  agent_->NewSession({.directory = "/tmp"}, &told_, Take());
  RunUntil([this] { return refused_.has_value(); });
  EXPECT_EQ(refused_->reason, "auth_required");
  EXPECT_THAT(refused_->message,
              AllOf(HasSubstr("by-hand"), HasSubstr("callslip-runner login scripted")));
}

TEST_F(AgentTest, WhatIsSaidBeforeASessionIsThereIsKept) {
  Start(R"({"new": "early"})");
  Open();
  RunUntil([this] { return !told_.said.empty(); });
  EXPECT_THAT(told_.said, ElementsAre("early"));
}

TEST_F(AgentTest, WhatComesLateBelongsToTheTurn) {
  Start();
  Open();
  EXPECT_EQ(Turn(R"([{"say": "in time"}, {"late": "late"}])"), "end_turn");
  PassUntil([this] { return told_.said.size() == 2; });
  EXPECT_THAT(told_.said, ElementsAre("in time", "late"));
}

TEST_F(AgentTest, NoiseIsPassedOver) {
  Start(R"({"noise": 10000})");
  Open();
  EXPECT_EQ(Turn(R"([{"noise": 10000}, {"say": "a"}, {"noise": 3}, {"say": "b"}])"), "end_turn");
  EXPECT_THAT(told_.said, ElementsAre("a", "b"));
  EXPECT_GE(noises_, 1);
  EXPECT_EQ(Turn(R"([{"say": "twice"}, {"answer": "twice"}])"), "end_turn");
  EXPECT_EQ(Turn("goes on"), "end_turn");
}

TEST_F(AgentTest, ALineThatHasNoEndEndsTheAgent) {
  Start();
  Open();
  EXPECT_EQ(Turn(R"([{"line": 33}])"), "protocol_error");
  PassUntil([this] { return end_.has_value(); });
  EXPECT_THAT(told_.ends, ElementsAre("protocol_error"));
}

TEST_F(AgentTest, MuchOnStderrHoldsNothingUp) {
  Start();
  Open();
  EXPECT_EQ(Turn(R"([{"stderr": 100}, {"say": "done"}])"), "end_turn");
}

TEST_F(AgentTest, ACrashEndsTheTurnWithItsCode) {
  Start();
  Open();
  EXPECT_EQ(Turn(R"([{"say": "begun"}, {"exit": 3}])"), "agent_crashed");
  const auto& error = std::get<AgentError>(*turn_);
  EXPECT_THAT(error.message, HasSubstr("code 3"));
  EXPECT_FALSE(error.prompt_unsent);
  EXPECT_THAT(told_.said, ElementsAre("begun"));
  RunUntil([this] { return end_.has_value(); });
  EXPECT_THAT(told_.ends, ElementsAre("agent_crashed"));
  session_->Prompt(Json::array(), nullptr,
                   [this](AgentSession::TurnEnd end) { turn_ = std::move(end); });
  EXPECT_TRUE(std::get<AgentError>(*turn_).prompt_unsent);
}

TEST_F(AgentTest, APromptThatWasNotWrittenWholeIsUnsent) {
  Start();
  Open();
  agent_->Stop();
  // More than the pipe holds, to one that does not read any more.
  Prompt(absl::StrCat(R"([{"sleep": 1}, {"say": ")", std::string(4 << 20, 'x'), "\"}]"));
  PassUntil([this] { return turn_.has_value(); });
  EXPECT_FALSE(written_);
  EXPECT_EQ(Outcome(), "agent_stopped");
  EXPECT_TRUE(std::get<AgentError>(*turn_).prompt_unsent);
}

TEST_F(AgentTest, ErrorsHaveTheirReason) {
  Start();
  Open();
  EXPECT_EQ(Turn(R"([{"error": {"code": -32603, "message": "Rate limit exceeded"}}])"),
            "rate_limited");
  EXPECT_EQ(Turn(R"([{"error": {"code": -32603, "message": "x", "data": {"status": 429}}}])"),
            "rate_limited");
  EXPECT_EQ(Turn(R"([{"error": {"code": -32000, "message": "x"}}])"), "auth_required");
  EXPECT_EQ(Turn(R"([{"error": {"code": -32603, "message": "no"}}])"), "agent_error");
  EXPECT_EQ(Turn("it goes on"), "end_turn");
}

TEST_F(AgentTest, ACancelledTurnEndsSo) {
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

TEST_F(AgentTest, OneThatGoesOnAllTheSameIsKilled) {
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

TEST_F(AgentTest, PermissionsAreAskedForAsLongAsItTakes) {
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

TEST_F(AgentTest, ACancelAnswersAllQuestions) {
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

TEST_F(AgentTest, CallsOfTheAgentAreAnswered) {
  Start();
  Open();
  EXPECT_EQ(Turn(R"([{"call": "fs/read_text_file", "params": {"path": "/a"}},
                     {"call": "unheard/of", "params": {}}])"),
            "end_turn");
  EXPECT_THAT(told_.calls, ElementsAre("fs/read_text_file"));
  EXPECT_THAT(told_.said,
              ElementsAre(HasSubstr(R"("path":"/a")"), HasSubstr("there is no method unheard/of")));
}

TEST_F(AgentTest, SilenceIsToldAndEndsATurnWhereThatIsWanted) {
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

TEST_F(AgentTest, ATurnMayTakeAsLongAsItLikes) {
  Start();
  Open();
  Prompt(R"([{"say": "begun"}, {"answer": "never"}])");
  RunUntil([this] { return !told_.said.empty(); });
  timers_.Advance(absl::Hours(100));
  context_.poll();
  EXPECT_FALSE(turn_.has_value() || end_.has_value());
}

class RestoringAgentTest : public AgentTest {
 protected:
  // An agent that has had a session and was killed.
  std::string Lose(const std::string& how) {
    options_ = absl::StrCat(R"({"restore": ")", how, R"(", "sessions": ")", folder_.path(),
                            "/sessions\"}");
    Start(options_);
    Open();
    EXPECT_EQ(Turn(R"([{"kill": 9}])"), "agent_crashed");
    EXPECT_THAT(std::get<AgentError>(*turn_).message, HasSubstr("signal 9"));
    RunUntil([this] { return end_.has_value(); });
    const std::string id = session_->id();
    Start(options_);
    return id;
  }

  TemporaryFolder folder_;
  std::string options_;
};

TEST_F(RestoringAgentTest, Resumes) {
  const std::string id = Lose("resume");
  Restore(id);
  ASSERT_NE(session_, nullptr);
  EXPECT_EQ(session_->id(), id);
  EXPECT_EQ(Turn("next"), "end_turn");
  EXPECT_THAT(told_.said, ElementsAre("ne", "xt"));
}

TEST_F(RestoringAgentTest, LoadsAndDropsWhatIsRepeated) {
  const std::string id = Lose("load");
  Restore(id);
  ASSERT_NE(session_, nullptr);
  EXPECT_EQ(Turn("next"), "end_turn");
  EXPECT_THAT(told_.said, ElementsAre("ne", "xt"));
}

TEST_F(RestoringAgentTest, NeverBeginsAnewInstead) {
  for (const char* how : {"fails", "not at all"}) {
    Restore(Lose(how));
    EXPECT_EQ(session_, nullptr);
    EXPECT_EQ(refused_->reason, "cannot_restore");
    agent_->Stop();
    RunUntil([this] { return end_.has_value(); });
  }
}

TEST_F(RestoringAgentTest, WhatIsOpenIsNotRestored) {
  Start(R"({"restore": "resume"})");
  Open();
  const auto open = session_;
  Restore(open->id());
  EXPECT_EQ(refused_->reason, "cannot_restore");
  session_ = open;
  EXPECT_EQ(Turn("goes on"), "end_turn");
}

TEST_F(RestoringAgentTest, OneThatSaysNothingIsEnded) {
  Start(R"({"restore": "never"})");
  agent_->RestoreSession("s", {.directory = "/tmp"}, &told_, Take());
  timers_.Advance(absl::Seconds(120));
  RunUntil([this] { return end_.has_value(); });
  EXPECT_EQ(refused_->reason, "load_timeout");
}

TEST_F(AgentTest, ModesAndSettingsAreTold) {
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

TEST_F(AgentTest, ASessionThatIsClosedIsToldNothing) {
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
  EXPECT_THAT(told_.ends, ElementsAre("agent_stopped"));  // Of the second.
  EXPECT_THAT(told_.said, ElementsAre("begun"));
}

TEST_F(AgentTest, SessionsMayBeKeptLongerThanTheirAgent) {
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

TEST_F(AgentTest, AnIdleLimitBelowTheFirstWarningHolds) {
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

TEST_F(AgentTest, ANumberThatHas429InItIsNoRateLimit) {
  Start();
  Open();
  EXPECT_EQ(Turn(R"([{"error": {"code": -32603, "message": "line 14290"}}])"), "agent_error");
  EXPECT_EQ(Turn(R"([{"error": {"code": 429, "message": "x"}}])"), "rate_limited");
  EXPECT_EQ(Turn(R"([{"error": {"code": -32603, "message": "over quota"}}])"), "rate_limited");
  EXPECT_EQ(Turn(R"([{"error": {"code": -32603, "message": "HTTP 429"}}])"), "rate_limited");
}

TEST_F(AgentTest, TellsTheServersThatItWasGiven) {
  Start();
  const Json servers = Json::array({{{"name", "callslip"},
                                     {"command", "/bin/x"},
                                     {"args", Json::array()},
                                     {"env", Json::array()}}});
  agent_->NewSession({.directory = "/tmp", .mcp_servers = servers}, &told_, Take());
  RunUntil([this] { return session_ != nullptr; });
  EXPECT_EQ(Turn(R"([{"say_mcp": true}])"), "end_turn");
  ASSERT_EQ(told_.said.size(), 1);
  EXPECT_EQ(Json::parse(told_.said[0]), servers);
}

TEST_F(AgentTest, InheritsNothing) {
  Start();
  Open();
  EXPECT_EQ(Turn(R"([{"say_env": true}])"), "end_turn");
  EXPECT_THAT(told_.said, ElementsAre("PATH ONLY "));
}

TEST_F(AgentTest, EndsWhenItIsStopped) {
  Start();
  Open();
  agent_->Stop();
  RunUntil([this] { return end_.has_value(); });
  EXPECT_EQ(end_->reason, "agent_stopped");
  EXPECT_THAT(told_.ends, ElementsAre("agent_stopped"));
}

}  // namespace
}  // namespace callslip::runner
