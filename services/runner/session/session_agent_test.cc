#include "runner/session/session_agent.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "boost/asio/executor_work_guard.hpp"
#include "boost/asio/io_context.hpp"
#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runner/fake_timers.h"
#include "runner/session/fake_tracker.h"
#include "support/temporary_folder.h"

namespace callslip::runner {
namespace {

using testing::ElementsAre;

class Owner final : public SessionAgent::Owner {
 public:
  void OnReady() override {
    EXPECT_FALSE(is_ready || over.has_value());
    is_ready = true;
  }
  void OnOver(const AgentError& why) override {
    EXPECT_FALSE(over.has_value());
    over = why;
  }
  void OnUpdate(AgentUpdate update) override {
    EXPECT_FALSE(over.has_value());
    if (const auto* piece = std::get_if<MessagePiece>(&update)) {
      said.push_back(piece->content.value("text", ""));
    }
  }
  void OnPermission(PermissionQuestion, std::function<void(PermissionChoice)>) override {}
  void OnPermissionOver(int64_t) override {}
  void OnSilence(absl::Duration) override {}

  bool is_ready = false;
  std::optional<AgentError> over;
  std::vector<std::string> said;
};

// Uses the scripted agent. The time stands still unless a test advances it.
class SessionAgentTest : public testing::Test {
 protected:
  SessionAgentTest() { std::signal(SIGPIPE, SIG_IGN); }
  ~SessionAgentTest() override {
    for (const auto& agent : agents_) agent->Stop();
    RunUntil([this] {
      return std::all_of(owners_.begin(), owners_.end(),
                         [](const auto& owner) { return owner->over.has_value(); });
    });
  }

  template <typename Done>
  void RunUntil(Done done) {
    while (!done()) context_.run_one_for(std::chrono::milliseconds(10));
  }
  // True if the agent got a request with this method.
  bool WasAsked(const std::string& method) const {
    std::ifstream log(log_);
    const std::string lines{std::istreambuf_iterator<char>(log), {}};
    return absl::StrContains(lines, absl::StrCat("\"", method, "\""));
  }

  SessionPlan Plan(Json options) {
    options["log"] = log_;
    SessionPlan plan;
    plan.settings = {.name = "scripted",
                     .command = {.arguments = {CALLSLIP_SCRIPTED_AGENT, options.dump()},
                                 .environment = {"PATH=/usr/bin:/bin"},
                                 .directory = folder_.path()},
                     .auth_method = "by-hand"};
    plan.setup.directory = folder_.path();
    plan.commands = {.context = &context_,
                     .keeper = CALLSLIP_KEEPER_BINARY,
                     .environment = {{"PATH", "/usr/bin:/bin"}},
                     .wrapper = {}};
    plan.find_workplace = [this] { return Workplace{.folders = {{folder_.path()}}}; };
    return plan;
  }
  // Starts a session and returns its owner.
  Owner& Begin(SessionPlan plan, SessionAgent::Before before = {},
               std::shared_ptr<RunningAgent> process = nullptr) {
    owners_.push_back(std::make_unique<Owner>());
    const std::string id = absl::StrCat("session", owners_.size());
    agents_.push_back(std::make_shared<SessionAgent>(&host_, owners_.back().get(),
                                                     SessionName{"client", id, 7}, std::move(plan),
                                                     recorder_, std::move(before)));
    if (process != nullptr) {
      agents_.back()->Begin(std::move(process));
    } else {
      agents_.back()->Begin([this](AgentSettings settings) {
        process_ =
            RunningAgent::Start(context_, &timers_, CALLSLIP_KEEPER_BINARY, std::move(settings));
        return process_;
      });
    }
    return *owners_.back();
  }
  void RunUntilReadyOrOver(Owner& owner) {
    RunUntil([&] { return owner.is_ready || owner.over.has_value(); });
  }
  void RunUntilOver(Owner& owner) {
    RunUntil([&] { return owner.over.has_value(); });
  }
  SessionAgent& agent() { return *agents_.back(); }

  const TemporaryFolder folder_;
  const std::string log_ = absl::StrCat(folder_.path(), "/log");
  const std::string known_ = absl::StrCat(folder_.path(), "/sessions");
  boost::asio::io_context context_;
  const boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_ =
      boost::asio::make_work_guard(context_);
  FakeTimers timers_;
  FakeTracker tracker_;
  SessionHost host_{
      .executor = context_.get_executor(), .timers = &timers_, .tracker = &tracker_, .chance = [] {
        return 0.5;
      }};
  std::shared_ptr<Recorder> recorder_ = std::make_shared<Recorder>(
      context_.get_executor(), &tracker_, &timers_, SessionName{"client", "session1", 7}, 0);
  std::shared_ptr<RunningAgent> process_;  // The last one that was started.
  std::vector<std::unique_ptr<Owner>> owners_;
  std::vector<std::shared_ptr<SessionAgent>> agents_;
};

// The session is ready nevertheless.
constexpr char kReady[] = "";

// The outcome of a start, by the method and by the agent's reaction to it.
const std::map<std::string, std::map<std::string, std::string>>& Starts() {
  static const auto& starts = *new std::map<std::string, std::map<std::string, std::string>>{
      {"initialize",
       {{"never", "start_timeout"},
        {"exit", "agent_crashed"},
        {"error", "initialize_refused"},
        {"limit", "rate_limited"},
        {"void", "unsupported_version"},
        {"garbage", "unsupported_version"}}},
      {"authenticate",
       {{"never", "start_timeout"},
        {"exit", "agent_crashed"},
        {"error", "agent_error"},
        {"void", kReady},
        {"garbage", kReady}}},
      {"session/new",
       {{"never", "new_session_timeout"},
        {"exit", "agent_crashed"},
        {"error", "agent_error"},
        {"void", "agent_error"},
        {"garbage", "agent_error"}}},
      {"session/resume",
       {{"never", "load_timeout"},
        {"exit", "agent_crashed"},
        {"error", "cannot_restore"},
        {"void", kReady},
        {"garbage", kReady}}},
      {"session/load",
       {{"never", "load_timeout"},
        {"exit", "agent_crashed"},
        {"error", "cannot_restore"},
        {"void", kReady},
        {"garbage", kReady}}},
      {"session/set_mode",
       {{"never", "start_timeout"},
        {"exit", "agent_crashed"},
        {"error", kReady},
        {"void", kReady},
        {"garbage", kReady}}},
      {"session/set_config_option",
       {{"never", "start_timeout"},
        {"exit", "agent_crashed"},
        {"error", kReady},
        {"void", kReady},
        {"garbage", kReady}}},
  };
  return starts;
}

TEST_F(SessionAgentTest, StartEndsWithReasonWhateverAgentDoesAtEachCall) {
  std::ofstream(known_) << "old\n";
  for (const auto& [method, ways] : Starts()) {
    for (const auto& [way, reason] : ways) {
      SCOPED_TRACE(absl::StrCat(method, " ", way));
      std::ofstream(log_, std::ios::trunc).close();
      const bool is_load = method == "session/load";
      SessionAgent::Before before;
      if (method != "session/new") before.agent_session_id = "old";
      before.details = AgentDetails::Parse(
          R"({"modes": {"currentModeId": "act"},
              "config_options": [{"id": "model", "currentValue": "large"}]})");
      Owner& owner = Begin(Plan({{"modes", true},
                                 {"restore", is_load ? "load" : "resume"},
                                 {"sessions", known_},
                                 {"at", {{method, way}}}}),
                           std::move(before));
      const auto has_ended = [&] { return owner.is_ready || owner.over.has_value(); };
      RunUntil([&, &method = method] { return has_ended() || WasAsked(method); });
      // As long as the longest of all time limits.
      if (way == "never") timers_.Advance(absl::Minutes(10));
      // The agent may repeat its session for a while, so the time must advance.
      while (!has_ended()) {
        context_.run_one_for(std::chrono::milliseconds(1));
        if (is_load) timers_.Advance(absl::Milliseconds(10));
      }
      ASSERT_TRUE(WasAsked(method));
      EXPECT_EQ(owner.is_ready, reason == kReady);
      if (owner.is_ready) agent().Stop();
      RunUntilOver(owner);
      EXPECT_EQ(owner.over->reason, reason);
    }
  }
}

TEST_F(SessionAgentTest, DetailsReportedBeforeSessionIsReadyAreRetained) {
  Owner& owner = Begin(Plan({{"new", "early"}, {"modes", true}}));
  RunUntilReadyOrOver(owner);
  ASSERT_TRUE(owner.is_ready);
  const Json details = Json::parse(agent().details().ToText());
  EXPECT_EQ(details["commands"][0]["name"], "plan");
  EXPECT_EQ(details["modes"]["currentModeId"], "ask");
  EXPECT_EQ(details["agent_info"]["name"], "scripted");
  EXPECT_THAT(owner.said, ElementsAre("early"));
}

TEST_F(SessionAgentTest, MissingHttpMcpSupportIsReported) {
  for (const bool takes_http : {true, false}) {
    SessionPlan plan = Plan(takes_http ? Json::object() : Json({{"no_http", true}}));
    plan.mcp_url = "http://127.0.0.1:1/mcp";
    Owner& owner = Begin(std::move(plan));
    RunUntilReadyOrOver(owner);
    ASSERT_TRUE(owner.is_ready);
    EXPECT_EQ(
        absl::StrContains(agent().details().ToText(), "does not support MCP servers over HTTP"),
        !takes_http);
    // Without tools the session requests no token either.
    EXPECT_EQ(tracker_.tokens, 1);
  }
}

// Nor does it occupy one of the places for starting agents forever.
TEST_F(SessionAgentTest, StartWithoutTokenTimesOutAlone) {
  Owner& other = Begin(Plan({}));
  RunUntilReadyOrOver(other);
  ASSERT_TRUE(other.is_ready);
  tracker_.is_away = true;
  SessionPlan plan = Plan({});
  plan.mcp_url = "http://127.0.0.1:1/mcp";
  const absl::Time latest = timers_.Now() + plan.settings.patience.start;
  Owner& owner = Begin(std::move(plan), {}, process_);
  RunUntil([&] {
    timers_.Advance(absl::Seconds(10));
    return owner.over.has_value() || timers_.Now() > latest + absl::Minutes(1);
  });
  ASSERT_TRUE(owner.over.has_value());
  EXPECT_FALSE(owner.is_ready);
  EXPECT_EQ(owner.over->reason, "start_timeout");
  EXPECT_THAT(owner.over->message, testing::HasSubstr("no token within 10m: connection lost"));
  EXPECT_FALSE(other.over.has_value());
  EXPECT_FALSE(process_->is_over());
}

TEST_F(SessionAgentTest, RestoresContextOrReportsItsLoss) {
  std::ofstream(known_) << "old\n";
  Owner& kept =
      Begin(Plan({{"restore", "resume"}, {"sessions", known_}}), {.agent_session_id = "old"});
  RunUntilReadyOrOver(kept);
  ASSERT_TRUE(kept.is_ready);
  EXPECT_TRUE(agent().has_context());
  EXPECT_FALSE(agent().would_forget());
  EXPECT_FALSE(agent().context_lost().has_value());

  Owner& lost = Begin(Plan({{"restore", "fails"}}), {.agent_session_id = "old"});
  RunUntilOver(lost);
  EXPECT_FALSE(lost.is_ready);
  EXPECT_EQ(lost.over->reason, "cannot_restore");

  SessionPlan may_begin_anew = Plan({{"restore", "fails"}});
  may_begin_anew.allow_fresh = true;
  Owner& anew = Begin(std::move(may_begin_anew), {.agent_session_id = "old"});
  RunUntilReadyOrOver(anew);
  ASSERT_TRUE(anew.is_ready);
  EXPECT_FALSE(agent().has_context());
  EXPECT_EQ(agent().context_lost()->reason, "cannot_restore");
  agent().WasAsked();
  EXPECT_FALSE(agent().would_forget());
}

TEST_F(SessionAgentTest, NoProcessIsStartedWithoutWorkplace) {
  SessionPlan plan = Plan({});
  plan.find_workplace = [this] {
    return Workplace{.folders = {{absl::StrCat(folder_.path(), "/missing")}}};
  };
  Owner& owner = Begin(std::move(plan));
  RunUntilOver(owner);
  EXPECT_EQ(owner.over->reason, "directory_unusable");
  EXPECT_EQ(process_, nullptr);

  plan = Plan({});
  plan.find_workplace = [] {
    return Workplace{.problem = AgentError{"command_missing", "there is no such wrapper"}};
  };
  Owner& misconfigured = Begin(std::move(plan));
  RunUntilOver(misconfigured);
  EXPECT_EQ(misconfigured.over->reason, "command_missing");
  EXPECT_EQ(process_, nullptr);
}

// Keeper and wrapper have their own PATH and none of the variables that load code; the agent's
// variables are set behind them.
TEST_F(SessionAgentTest, WrapperHasItsOwnPath) {
  const std::string confine = absl::StrCat(folder_.path(), "/confine");
  std::ofstream(confine) << "#!/bin/sh\necho $PATH $LOADED >> " << folder_.path()
                         << "/paths\nexec \"$@\"\n";
  std::filesystem::permissions(confine, std::filesystem::perms::owner_all);
  SessionPlan plan = Plan({});
  plan.commands.environment["LOADED"] = "own";
  plan.find_workplace = [this, confine] {
    return Workplace{.wrapper = {confine, "env", "--", "PATH=/own:/usr/bin:/bin", "LOADED=own"},
                     .path = "/bin:/usr/bin",
                     .kept_back = {"LOADED"},
                     .folders = {{folder_.path()}}};
  };
  Owner& owner = Begin(std::move(plan));
  RunUntilReadyOrOver(owner);
  ASSERT_TRUE(owner.is_ready);
  std::optional<CommandResult> result;
  EXPECT_OK(RunCommand(agent().commands(),
                       Command{.words = {"echo $PATH $LOADED"}, .directory = "/"}, absl::Minutes(1),
                       [&](const CommandResult& ended) { result = ended; }));
  RunUntil([&] { return result.has_value(); });
  EXPECT_EQ(result->output.text, "/own:/usr/bin:/bin own\n");
  std::ifstream paths(folder_.path() + "/paths");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(paths), {}),
            "/bin:/usr/bin\n/bin:/usr/bin\n");
}

TEST_F(SessionAgentTest, HangingFileSystemBlocksOnlyItsSession) {
  const auto answers = std::make_shared<absl::Notification>();
  SessionPlan plan = Plan({});
  plan.find_workplace = [answers] {
    answers->WaitForNotification();
    return Workplace();
  };
  Owner& hung = Begin(plan);
  Owner& stopped = Begin(plan);
  agent().Stop();
  RunUntilOver(stopped);
  EXPECT_EQ(stopped.over->reason, "");
  Owner& other = Begin(Plan({}));
  RunUntilReadyOrOver(other);
  EXPECT_TRUE(other.is_ready);
  EXPECT_FALSE(hung.over.has_value());
  timers_.Advance(DiskThread::kMaxWait);
  RunUntilOver(hung);
  EXPECT_EQ(hung.over->reason, "directory_unusable");
  answers->Notify();
}

TEST_F(SessionAgentTest, StopEndsStartAtAnyPoint) {
  Owner& at_once = Begin(Plan({}));
  agent().Stop();
  RunUntilOver(at_once);
  EXPECT_EQ(process_, nullptr);

  for (const char* method : {"initialize", "authenticate", "session/new"}) {
    SCOPED_TRACE(method);
    std::ofstream(log_, std::ios::trunc).close();
    Owner& owner = Begin(Plan({{"at", {{method, "never"}}}}));
    RunUntil([&] { return WasAsked(method); });
    agent().Stop();
    RunUntilOver(owner);
    EXPECT_FALSE(owner.is_ready);
    EXPECT_EQ(owner.over->reason, "");
    EXPECT_TRUE(process_->is_over());
  }

  // Also if the tracker does not answer.
  tracker_.is_away = true;
  SessionPlan plan = Plan({});
  plan.mcp_url = "http://127.0.0.1:1/mcp";
  Owner& waiting = Begin(std::move(plan));
  RunUntil([&] { return tracker_.tokens > 0; });
  agent().Stop();
  RunUntil([&] {
    timers_.Advance(absl::Milliseconds(100));
    return waiting.over.has_value();
  });
  EXPECT_FALSE(waiting.is_ready);
}

TEST_F(SessionAgentTest, StopLeavesSharedProcessRunning) {
  const Json options = {{"modes", true}, {"at", {{"session/set_mode", "never"}}}};
  Owner& first = Begin(Plan(options));
  RunUntilReadyOrOver(first);
  ASSERT_TRUE(first.is_ready);
  // The second session is stopped when it is ready, the third one during its start.
  Owner& second = Begin(Plan(options), {}, process_);
  RunUntilReadyOrOver(second);
  ASSERT_TRUE(second.is_ready);
  agent().Stop();
  RunUntilOver(second);
  Owner& third =
      Begin(Plan(options),
            {.details = AgentDetails::Parse(R"({"modes": {"currentModeId": "act"}})")}, process_);
  RunUntil([&] { return WasAsked("session/set_mode"); });
  agent().Stop();
  RunUntilOver(third);
  EXPECT_FALSE(third.is_ready);
  // A session without its folder asks nothing of the process.
  SessionPlan plan = Plan(options);
  plan.find_workplace = [this] {
    return Workplace{.folders = {{absl::StrCat(folder_.path(), "/missing")}}};
  };
  Owner& fourth = Begin(std::move(plan), {}, process_);
  RunUntilOver(fourth);
  EXPECT_EQ(fourth.over->reason, "directory_unusable");
  EXPECT_FALSE(process_->is_over());
  EXPECT_FALSE(first.over.has_value());
  agents_.front()->Stop();
  RunUntilOver(first);
  EXPECT_TRUE(process_->is_over());
}

// In either order: the session that is ready is stopped last, or the one that is still being
// opened.
TEST_F(SessionAgentTest, ProcessEndsWhenAllSessionsLeaveDuringOpen) {
  for (const bool is_ready_last : {false, true}) {
    std::ofstream(log_, std::ios::trunc).close();
    Owner& ready = Begin(Plan({{"restore", "resume"}, {"at", {{"session/resume", "never"}}}}));
    SessionAgent& one = agent();
    RunUntilReadyOrOver(ready);
    ASSERT_TRUE(ready.is_ready);
    Owner& opening = Begin(Plan({}), {.agent_session_id = "old"}, process_);
    SessionAgent& other = agent();
    RunUntil([&] { return WasAsked("session/resume"); });
    (is_ready_last ? other : one).Stop();
    (is_ready_last ? one : other).Stop();
    RunUntil([&] { return ready.over.has_value() && opening.over.has_value(); });
    EXPECT_TRUE(process_->is_over());
    EXPECT_EQ(opening.over->reason, "");
  }
}

TEST_F(SessionAgentTest, EndsWithItsProcess) {
  Owner& owner = Begin(Plan({}));
  RunUntilReadyOrOver(owner);
  std::optional<AgentSession::TurnEnd> end;
  agent().session().Prompt(Json::array({acp::TextBlock(R"([{"exit": 7}])")}),
                           [&](AgentSession::TurnEnd turn) { end = std::move(turn); });
  RunUntilOver(owner);
  EXPECT_EQ(owner.over->reason, "agent_crashed");
  EXPECT_TRUE(end.has_value());
}

}  // namespace
}  // namespace callslip::runner
