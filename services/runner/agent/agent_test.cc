#include "runner/agent/agent.h"

#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runner/agent/agent_fixture.h"
#include "support/temporary_folder.h"

namespace callslip::runner {
namespace {

using testing::_;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::VariantWith;

class AgentTest : public AgentFixture {};

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

TEST_F(AgentTest, MissingCommandIsReported) {
  AgentSettings settings{.name = "none",
                         .command = {.arguments = {"/nowhere/agent"}, .directory = "/tmp"}};
  agent_ = Agent::Start(context_, &timers_, CALLSLIP_KEEPER_BINARY, std::move(settings), this);
  RunUntil([this] { return end_.has_value(); });
  EXPECT_EQ(end_->reason, "command_missing");
  EXPECT_THAT(end_->message, HasSubstr("/nowhere/agent"));
}

TEST_F(AgentTest, LastWordsAreLimitedUtf8Text) {
  AgentSettings settings{.name = "talks"};
  settings.command = {
      .arguments = {"sh", "-c",
                    "head -c 100000 /dev/zero | tr '\\0' x >&2; printf 'end\\377' >&2; exit 3"},
      .environment = {"PATH=/usr/bin:/bin"},
      .directory = "/tmp"};
  agent_ = Agent::Start(context_, &timers_, CALLSLIP_KEEPER_BINARY, std::move(settings), this);
  RunUntil([this] { return end_.has_value(); });
  EXPECT_EQ(end_->reason, "agent_crashed");
  EXPECT_THAT(end_->message, AllOf(HasSubstr("code 3"), EndsWith("xend\xef\xbf\xbd")));
  EXPECT_LT(end_->message.size(), size_t{5} << 10);
}

TEST_F(AgentTest, SilentAgentIsEndedAtStartTimeout) {
  Begin(R"({"initialize": "never"})");
  timers_.Advance(absl::Seconds(60));
  RunUntil([this] { return end_.has_value(); });
  EXPECT_EQ(end_->reason, "start_timeout");
}

TEST_F(AgentTest, OtherProtocolVersionIsRefused) {
  Begin(R"({"initialize": "version"})");
  RunUntil([this] { return end_.has_value(); });
  EXPECT_EQ(end_->reason, "unsupported_version");
}

TEST_F(AgentTest, AgentIsEndedWhenNewSessionTimesOut) {
  Start(R"({"new": "never"})");
  timers_.Advance(absl::Hours(1));  // An agent that was idle has the whole time, too.
  agent_->NewSession({.directory = "/tmp"}, &told_, Take());
  timers_.Advance(absl::Seconds(119));
  EXPECT_FALSE(refused_.has_value());
  timers_.Advance(absl::Seconds(1));
  RunUntil([this] { return end_.has_value(); });
  EXPECT_EQ(refused_->reason, "new_session_timeout");
  EXPECT_EQ(end_->reason, "new_session_timeout");
}

// Also an agent that has answered before: it can no longer be used.
TEST_F(AgentTest, AgentIsEndedWhenItClosesStdout) {
  pipe_end_ = absl::Seconds(2);
  Start();
  Open();
  EXPECT_EQ(Turn(R"([{"say": "begun"}, {"close": "stdout"}])"), "protocol_error");
  PassUntil([this] { return end_.has_value(); });
  EXPECT_THAT(end_->message, HasSubstr("closed its stdout"));
}

TEST_F(AgentTest, AgentIsEndedWhenItClosesStdin) {
  pipe_end_ = absl::Seconds(2);
  Start();
  Open();
  Prompt(R"([{"say": "begun"}, {"close": "stdin"}])");
  RunUntil([this] { return !told_.said.empty(); });
  while (!end_.has_value()) {
    session_->SetMode("any", [](const RpcAnswer&) {});
    if (context_.poll() == 0) context_.run_one_for(std::chrono::milliseconds(1));
    timers_.Advance(absl::Milliseconds(10));
  }
  EXPECT_EQ(Outcome(), "protocol_error");
  EXPECT_THAT(end_->message, HasSubstr("closed its stdin"));
}

TEST_F(AgentTest, AnswerWithoutResultIsAccepted) {
  for (const char* method :
       {"session/load", "session/set_mode", "session/prompt", "authenticate"}) {
    SCOPED_TRACE(method);
    TemporaryFolder folder;
    const std::string sessions = folder.path() + "/sessions";
    std::ofstream(sessions) << "s\n";
    Begin(absl::StrCat(R"({"restore": "load", "sessions": ")", sessions, R"(", "at": {")", method,
                       R"(": "void"}})"),
          /*auth_method=*/"by-hand");
    RunUntil([this] { return ready_ || end_.has_value(); });
    ASSERT_TRUE(ready_);
    Restore("s");
    ASSERT_NE(session_, nullptr);
    std::optional<RpcAnswer> set;
    session_->SetMode("m", [&](RpcAnswer answer) { set = std::move(answer); });
    RunUntil([&] { return set.has_value(); });
    EXPECT_TRUE(std::holds_alternative<Json>(*set));
    Turn("hello");
    EXPECT_TRUE(std::holds_alternative<PromptEnd>(*turn_));
    agent_->Stop();
    PassUntil([this] { return end_.has_value(); });
  }
}

// Some agents send updates with an id, but expect no answer.
TEST_F(AgentTest, UpdateWithIdIsAccepted) {
  for (const char* id : {"null", "77", R"("x")"}) {
    Start();
    Open();
    told_.said.clear();
    EXPECT_EQ(Turn(absl::StrCat(R"([{"update_as": )", id, "}]")), "end_turn");
    EXPECT_THAT(told_.said, ElementsAre("numbered"));
    agent_->Stop();
    PassUntil([this] { return end_.has_value(); });
  }
}

TEST_F(AgentTest, AuthRequiredErrorNamesLoginCommand) {
  Start(R"({"initialize": "auth"})");
  agent_->NewSession({.directory = "/tmp"}, &told_, Take());
  RunUntil([this] { return refused_.has_value(); });
  EXPECT_EQ(refused_->reason, "auth_required");
  EXPECT_THAT(refused_->message,
              AllOf(HasSubstr("(by-hand)"), HasSubstr(": callslip-runner login scripted")));
}

TEST_F(AgentTest, UpdatesBeforeSessionIsOpenAreRetained) {
  Start(R"({"new": "early"})");
  Open();
  RunUntil([this] { return !told_.said.empty(); });
  EXPECT_THAT(told_.said, ElementsAre("early"));
}

TEST_F(AgentTest, NoiseIsIgnored) {
  Start(R"({"noise": 10000})");
  Open();
  EXPECT_EQ(Turn(R"([{"noise": 10000}, {"say": "a"}, {"noise": 3}, {"say": "b"}])"), "end_turn");
  EXPECT_THAT(told_.said, ElementsAre("a", "b"));
  EXPECT_GE(noises_, 1);
  EXPECT_EQ(Turn(R"([{"say": "twice"}, {"answer": "twice"}])"), "end_turn");
  EXPECT_EQ(Turn("goes on"), "end_turn");
}

TEST_F(AgentTest, OverlongLineEndsAgent) {
  Start();
  Open();
  EXPECT_EQ(Turn(R"([{"line": 33}])"), "protocol_error");
  PassUntil([this] { return end_.has_value(); });
  EXPECT_THAT(told_.ends, ElementsAre("protocol_error"));
}

TEST_F(AgentTest, LargeStderrOutputBlocksNothing) {
  Start();
  Open();
  EXPECT_EQ(Turn(R"([{"stderr": 100}, {"say": "done"}])"), "end_turn");
}

class RestoringAgentTest : public AgentTest {
 protected:
  // Starts an agent, kills it in a turn, and starts it again. Returns the id of its session.
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

TEST_F(RestoringAgentTest, ResumesSession) {
  const std::string id = Lose("resume");
  Restore(id);
  ASSERT_NE(session_, nullptr);
  EXPECT_EQ(session_->id(), id);
  EXPECT_EQ(Turn("next"), "end_turn");
  EXPECT_THAT(told_.said, ElementsAre("ne", "xt"));
}

TEST_F(RestoringAgentTest, LoadsSessionAndDropsRepeatedUpdates) {
  const std::string id = Lose("load");
  Restore(id);
  ASSERT_NE(session_, nullptr);
  EXPECT_EQ(Turn("next"), "end_turn");
  EXPECT_THAT(told_.said, ElementsAre("ne", "xt"));
}

// gemini-cli repeats a session after its answer to session/load.
TEST_F(RestoringAgentTest, DropsLateRepeatedUpdates) {
  const std::string id = Lose("late");
  Restore(id);
  ASSERT_NE(session_, nullptr);
  EXPECT_THAT(told_.updates, ElementsAre(VariantWith<AvailableCommands>(_)));
  EXPECT_EQ(Turn("next"), "end_turn");
  EXPECT_THAT(told_.said, ElementsAre("ne", "xt"));
}

TEST_F(RestoringAgentTest, CallsAndQuestionsDuringRestoreAreAnswered) {
  for (const char* how : {"asks", "asks and fails"}) {
    SCOPED_TRACE(how);
    told_ = Told();
    const std::string id = Lose(how);
    session_.reset();
    refused_.reset();
    agent_->RestoreSession(id, {.directory = "/tmp"}, &told_, Take());
    RunUntil([this] { return !told_.questions.empty(); });
    EXPECT_THAT(told_.calls, ElementsAre("fs/read_text_file"));
    told_.questions.front().second("yes");
    // The agent asks another question, which gets no answer.
    PassUntil([this] { return session_ != nullptr || refused_.has_value(); });
    if (session_ == nullptr) {
      EXPECT_EQ(refused_->reason, "cannot_restore");
      EXPECT_THAT(told_.over, ElementsAre(2));
    } else {
      EXPECT_THAT(told_.updates, testing::IsEmpty());
      EXPECT_EQ(Turn("next"), "end_turn");
      EXPECT_THAT(told_.said, ElementsAre("ne", "xt"));
    }
    agent_->Stop();
    PassUntil([this] { return end_.has_value(); });
  }
}

TEST_F(RestoringAgentTest, SessionIsNotOpenedIfAgentEndsDuringReplay) {
  const std::string id = Lose("late");
  session_.reset();
  agent_->RestoreSession(id, {.directory = "/tmp"}, &told_, Take());
  const size_t ends = told_.ends.size();
  RunUntil([this] { return agent_->sessions() == 1; });
  agent_->Kill();
  RunUntil([this] { return end_.has_value(); });
  EXPECT_EQ(session_, nullptr);
  EXPECT_EQ(refused_->reason, "agent_stopped");
  EXPECT_EQ(told_.ends.size(), ends);
}

TEST_F(RestoringAgentTest, NeverOpensNewSessionInstead) {
  for (const char* how : {"fails", "not at all"}) {
    Restore(Lose(how));
    EXPECT_EQ(session_, nullptr);
    EXPECT_EQ(refused_->reason, "cannot_restore");
    agent_->Stop();
    RunUntil([this] { return end_.has_value(); });
  }
}

TEST_F(RestoringAgentTest, OpenSessionIsNotRestored) {
  Start(R"({"restore": "resume"})");
  Open();
  const auto open = session_;
  Restore(open->id());
  EXPECT_EQ(refused_->reason, "cannot_restore");
  session_ = open;
  EXPECT_EQ(Turn("goes on"), "end_turn");
}

TEST_F(RestoringAgentTest, AgentIsEndedWhenRestoreTimesOut) {
  Start(R"({"restore": "never"})");
  agent_->RestoreSession("s", {.directory = "/tmp"}, &told_, Take());
  timers_.Advance(absl::Seconds(120));
  RunUntil([this] { return end_.has_value(); });
  EXPECT_EQ(refused_->reason, "load_timeout");
}

TEST_F(AgentTest, PassesMcpServersToAgent) {
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

TEST_F(AgentTest, InheritsNoVariables) {
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
