#include "runner/session/session_runner.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "boost/asio/executor_work_guard.hpp"
#include "boost/asio/io_context.hpp"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runner/fake_timers.h"
#include "runner/session/fake_tracker.h"
#include "support/session_events.h"
#include "support/temporary_folder.h"

namespace callslip::runner {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A scheduler that starts no agents: the test calls Begin().
class NoScheduler final : public AgentScheduler {
 public:
  void Want(const AgentWant&) override { ++wants; }
  void Started(const std::string&) override {}
  void Busy(const std::string&, bool busy) override { is_busy = busy; }
  void Ended(const std::string&) override { ++ended; }
  void Drop(const std::string&) override { ++dropped; }

  int wants = 0;
  int ended = 0;
  int dropped = 0;
  bool is_busy = false;
};

// One session with the scripted agent. The time stands still unless a test advances it.
class SessionRunnerTest : public testing::Test {
 protected:
  SessionRunnerTest() { std::signal(SIGPIPE, SIG_IGN); }
  ~SessionRunnerTest() override {
    if (runner_ == nullptr) return;
    runner_->Release();
    PassUntil([this] { return runner_->is_asleep(); });
  }

  // Advances the time meanwhile, slowly enough for the agent to answer.
  template <typename Done>
  void PassUntil(Done done) {
    while (!done()) {
      context_.restart();
      if (context_.poll() == 0) context_.run_one_for(std::chrono::milliseconds(1));
      timers_.Advance(absl::Milliseconds(10));
    }
  }
  void Settle() {
    for (int i = 0; i < 5; ++i) {
      context_.restart();
      context_.poll();
    }
  }

  void Make(Json options = Json::object()) {
    plan_.settings = {.name = "scripted",
                      .command = {.arguments = {CALLSLIP_SCRIPTED_AGENT, options.dump()},
                                  .environment = {"PATH=/usr/bin:/bin"},
                                  .directory = folder_.path()},
                      .auth_method = ""};
    plan_.setup.directory = folder_.path();
    plan_.commands = {.context = &context_,
                      .keeper = CALLSLIP_KEEPER_BINARY,
                      .environment = {{"PATH", "/usr/bin:/bin"}},
                      .wrapper = {}};
    plan_.find_workplace = [this] {
      return Workplace{.problem = problem_, .folders = {{folder_.path()}}};
    };
    v1::Assignment assignment;
    assignment.mutable_session()->set_client_id("client");
    assignment.mutable_session()->set_session_id("session");
    assignment.mutable_session()->mutable_agent()->set_agent_session_id(agent_session_id_);
    assignment.mutable_session()->mutable_agent()->set_details(details_);
    assignment.set_lease(7);
    runner_ = std::make_shared<SessionRunner>(&host_, &scheduler_, plan_, assignment);
  }
  // Starts the agent, as the scheduler does if there is room.
  void Begin() {
    runner_->Begin([this](AgentSettings settings) {
      process_ =
          RunningAgent::Start(context_, &timers_, CALLSLIP_KEEPER_BINARY, std::move(settings));
      return process_;
    });
  }
  v1::AgentStatus Status() const {
    return tracker_.states.empty() ? v1::AGENT_STATUS_UNSPECIFIED : tracker_.states.back().status();
  }
  void PassUntilStatus(v1::AgentStatus status) {
    PassUntil([&] { return Status() == status; });
  }
  void Run(Json options = Json::object()) {
    Make(std::move(options));
    runner_->Need();
    Begin();
    PassUntilStatus(v1::AGENT_STATUS_IDLE);
  }
  void Send(const std::string& turn, const std::string& text) {
    v1::ReceivedMessage message;
    message.set_turn_id(turn);
    message.mutable_message()->set_message(text);
    tracker_.Send(std::move(message));
  }
  void SendStop(const std::string& turn) {
    v1::ReceivedMessage stop;
    stop.set_turn_id(turn);
    stop.set_stop(true);
    tracker_.Send(std::move(stop));
  }
  // "outcome reason" of the next turn that ends.
  std::string NextEnd() {
    PassUntil([this] { return tracker_.ends.size() > seen_ends_; });
    const v1::FinishTurnRequest& end = tracker_.ends[seen_ends_++];
    return absl::StrCat(v1::FinishTurnRequest::Outcome_Name(end.outcome()).substr(8), " ",
                        end.reason());
  }
  void Control(const std::string& id, v1::AgentAction action) {
    v1::AgentControl control;
    control.set_control_id(id);
    control.set_action(action);
    runner_->Control(control);
  }
  // "id reason" of the answers to controls.
  std::vector<std::string> Answers() const {
    std::vector<std::string> answers;
    for (const auto& answer : tracker_.controls) {
      answers.push_back(absl::StrCat(answer.control_id(), " ", answer.error_reason()));
    }
    return answers;
  }
  int ContextsLost() const {
    int lost = 0;
    for (const v1::SessionEvent& event : tracker_.log) {
      lost += event.type() == "context_lost" ? 1 : 0;
    }
    return lost;
  }
  std::string Said() const {
    std::string all;
    for (const std::string& text : tracker_.Texts()) absl::StrAppend(&all, text);
    return all;
  }

  const TemporaryFolder folder_;
  boost::asio::io_context context_;
  const boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_ =
      boost::asio::make_work_guard(context_);
  FakeTimers timers_;
  FakeTracker tracker_;
  NoScheduler scheduler_;
  SessionHost host_{
      .executor = context_.get_executor(), .timers = &timers_, .tracker = &tracker_, .chance = [] {
        return 0.5;
      }};
  SessionPlan plan_;
  std::optional<AgentError> problem_;  // Of its workplace.
  std::string agent_session_id_;
  std::string details_;
  std::shared_ptr<RunningAgent> process_;  // The last one that was started.
  std::shared_ptr<SessionRunner> runner_;
  size_t seen_ends_ = 0;
};

TEST_F(SessionRunnerTest, SendsMessageToAgentAndRecordsAnswer) {
  Run();
  Send("t1", "hello");
  EXPECT_EQ(NextEnd(), "COMPLETED ");
  EXPECT_EQ(tracker_.ends.back().stop_reason(), "end_turn");
  EXPECT_EQ(tracker_.ends.back().lease(), 7);
  EXPECT_EQ(Said(), "hello");
  // From now on there is a context, so its id is stored.
  EXPECT_NE(tracker_.states.back().agent_session_id(), "");
  runner_->Stop();
  PassUntilStatus(v1::AGENT_STATUS_STOPPED);
  Settle();
  EXPECT_TRUE(runner_->is_asleep());
  EXPECT_EQ(scheduler_.ended, 1);
}

TEST_F(SessionRunnerTest, LateOutputBelongsToTheTurn) {
  Run();
  Send("t1", R"([{"say": "in time"}, {"late": ", late"}])");
  EXPECT_EQ(NextEnd(), "COMPLETED ");
  EXPECT_EQ(Said(), "in time, late");
}

TEST_F(SessionRunnerTest, OmittedImageIsReportedInEvents) {
  struct Row {
    bool is_there;
    bool takes_images;
    std::string told;
  };
  const Row rows[] = {
      {true, true, ""},
      {true, false, "the image cat.png was omitted: the agent does not accept any"},
      {false, true, "the image img-1 was omitted: it no longer exists"},
      {false, false, "the image img-1 was omitted: it no longer exists"},
  };
  int turns = 0;
  for (const Row& row : rows) {
    SCOPED_TRACE(absl::StrCat(row.is_there, " ", row.takes_images));
    tracker_.image.reset();
    if (row.is_there) tracker_.image.emplace().mutable_image()->set_name("cat.png");
    tracker_.log.clear();
    tracker_.states.clear();
    Run(row.takes_images ? Json::object() : Json({{"no_images", true}}));
    v1::ReceivedMessage message;
    message.set_turn_id(absl::StrCat("t", ++turns));
    message.mutable_message()->set_message("look");
    message.mutable_message()->add_image_ids("img-1");
    tracker_.Send(std::move(message));
    EXPECT_EQ(NextEnd(), "COMPLETED ");
    std::string told;
    for (const v1::SessionEvent& event : tracker_.log)
      absl::StrAppend(&told, MemberOf(event, "message"));
    EXPECT_EQ(told, row.told);
    EXPECT_EQ(tracker_.DeadlineOf<v1::GetImageRequest>(), absl::Seconds(30));
    runner_->Release();
    PassUntil([this] { return runner_->is_asleep(); });
  }
}

TEST_F(SessionRunnerTest, StartedTurnWaitsForNextAgent) {
  Run();
  // The agent has ended before the tracker records the prompt.
  tracker_.is_away = true;
  Send("t1", "hello");
  PassUntil([this] { return runner_->has_turn(); });
  process_->agent().Kill();
  PassUntil([this] { return scheduler_.ended == 1; });
  tracker_.is_away = false;
  PassUntil([this] { return scheduler_.wants == 2; });
  EXPECT_THAT(tracker_.ends, IsEmpty());
  Begin();
  EXPECT_EQ(NextEnd(), "COMPLETED ");
  EXPECT_EQ(Said(), "hello");
}

TEST_F(SessionRunnerTest, WaitingTurnEndsWhenNoAgentWillStart) {
  Run();
  const auto lose_agent = [this](const std::string& turn) {
    const int ended = scheduler_.ended;
    const int wants = scheduler_.wants;
    tracker_.is_away = true;
    Send(turn, "hello");
    PassUntil([this] { return runner_->has_turn(); });
    process_->agent().Kill();
    PassUntil([&] { return scheduler_.ended > ended; });
    tracker_.is_away = false;
    PassUntil([&] { return scheduler_.wants > wants; });
  };
  lose_agent("t1");
  SendStop("t1");
  EXPECT_EQ(NextEnd(), "CANCELLED cancelled");

  PassUntil([this] { return !runner_->has_turn(); });
  Begin();
  PassUntilStatus(v1::AGENT_STATUS_IDLE);
  lose_agent("t2");
  Control("c", v1::AGENT_ACTION_STOP);
  EXPECT_EQ(NextEnd(), "FAILED agent_stopped");
  EXPECT_GT(scheduler_.dropped, 0);

  PassUntil([this] { return !runner_->has_turn(); });
  // Its directory is gone.
  Control("d", v1::AGENT_ACTION_START);
  Begin();
  PassUntilStatus(v1::AGENT_STATUS_IDLE);
  std::filesystem::remove_all(folder_.path());
  lose_agent("t3");
  Begin();
  EXPECT_EQ(NextEnd(), "FAILED directory_unusable");
}

TEST_F(SessionRunnerTest, MessageWithoutStartedTurnWaitsForNextRunner) {
  Run();
  Send("t1", R"([{"sleep": 60000}])");
  PassUntil([this] { return tracker_.starts.size() == 1; });
  Send("t2", "hello");
  Settle();
  host_.is_stopping = true;
  runner_->Stop();
  EXPECT_EQ(NextEnd(), "FAILED agent_stopped");
  PassUntil([this] { return runner_->is_asleep(); });
  EXPECT_EQ(tracker_.starts.size(), 1);
  EXPECT_EQ(tracker_.ends.size(), 1);
  EXPECT_THAT(tracker_.pauses, IsEmpty());
}

TEST_F(SessionRunnerTest, StoppingRunnerStartsNoTurnWhileTrackerIsAway) {
  Run();
  tracker_.is_away = true;
  Send("t1", "hello");
  PassUntil([this] { return runner_->has_turn(); });
  host_.is_stopping = true;
  runner_->Stop();
  PassUntil([this] { return !runner_->has_turn(); });
  tracker_.is_away = false;
  PassUntil([this] { return runner_->is_asleep(); });
  EXPECT_THAT(tracker_.starts, IsEmpty());
  EXPECT_THAT(tracker_.ends, IsEmpty());
  EXPECT_THAT(tracker_.pauses, IsEmpty());
}

TEST_F(SessionRunnerTest, PermanentStartFailurePausesQueueAndAnswersControl) {
  problem_ = AgentError{"command_missing", "it is gone"};
  Make();
  Control("c", v1::AGENT_ACTION_START);
  Begin();
  PassUntilStatus(v1::AGENT_STATUS_FAILED);
  Settle();
  EXPECT_THAT(Answers(), ElementsAre("c command_missing"));
  ASSERT_EQ(tracker_.pauses.size(), 1);
  EXPECT_EQ(tracker_.pauses[0], "command_missing");
  // The problem was solved meanwhile.
  problem_.reset();
  Control("d", v1::AGENT_ACTION_START);
  Begin();
  PassUntilStatus(v1::AGENT_STATUS_IDLE);
  Settle();
  EXPECT_THAT(Answers(), ElementsAre("c command_missing", "d "));
}

// The scheduler may mistake a restarting agent for an idle one.
TEST_F(SessionRunnerTest, YieldDoesNotPreventRestart) {
  Run();
  Control("c", v1::AGENT_ACTION_RESTART);
  runner_->Yield();
  PassUntil([this] { return scheduler_.wants == 2; });
  Begin();
  PassUntilStatus(v1::AGENT_STATUS_IDLE);
  runner_->Yield();
  runner_->Need();
  runner_->Yield();
  PassUntil([this] { return scheduler_.wants == 3; });
}

// The tracker does not know the failure yet and asks for an agent.
TEST_F(SessionRunnerTest, RequestBeforeFailureIsKnownStartsNoAgent) {
  problem_ = AgentError{"command_missing", "it is gone"};
  Make();
  tracker_.is_away = true;
  Control("c", v1::AGENT_ACTION_START);
  Begin();
  PassUntil([this] { return !tracker_.controls.empty(); });
  const int wants = scheduler_.wants;
  runner_->Need();
  Settle();
  EXPECT_EQ(scheduler_.wants, wants);
  tracker_.is_away = false;
  for (int i = 0; i < 60 && tracker_.pauses.empty(); ++i) {
    timers_.Advance(absl::Seconds(1));
    Settle();
  }
  EXPECT_THAT(tracker_.pauses, ElementsAre("command_missing"));
  // A person has resumed the queue.
  runner_->Need(v1::AGENT_STATUS_FAILED);
  Settle();
  EXPECT_EQ(scheduler_.wants, wants + 1);
}

TEST_F(SessionRunnerTest, StartControlWhileAgentEndsStartsNextAgent) {
  Make({{"initialize", "auth"}, {"ignores", {"eof"}}});
  runner_->Need();
  Begin();
  PassUntil([this] { return process_ != nullptr && !process_->has_sessions(); });
  Control("c", v1::AGENT_ACTION_START);
  process_->agent().Kill();
  PassUntil([this] { return scheduler_.wants == 2; });
  EXPECT_THAT(Answers(), IsEmpty());
  EXPECT_THAT(tracker_.pauses, IsEmpty());
}

TEST_F(SessionRunnerTest, NewContextIsReportedOnce) {
  agent_session_id_ = "old";
  plan_.allow_fresh = true;
  Run({{"restore", "fails"}});
  EXPECT_EQ(ContextsLost(), 1);
  Send("t1", "hello");
  NextEnd();
  Control("c", v1::AGENT_ACTION_FRESH);
  PassUntil([this] { return scheduler_.wants == 2; });
  Begin();
  PassUntilStatus(v1::AGENT_STATUS_IDLE);
  EXPECT_EQ(ContextsLost(), 2);
  EXPECT_NE(tracker_.log.back().data().find("\"fresh\""), std::string::npos);
  // An agent that never got a prompt has no context to lose.
  Control("c", v1::AGENT_ACTION_FRESH);
  PassUntil([this] { return scheduler_.wants == 3; });
  Begin();
  PassUntilStatus(v1::AGENT_STATUS_IDLE);
  EXPECT_EQ(ContextsLost(), 2);
}

TEST_F(SessionRunnerTest, WantedNewContextIsReported) {
  agent_session_id_ = "old";
  Make();
  Control("c", v1::AGENT_ACTION_FRESH);
  Settle();
  ASSERT_FALSE(tracker_.states.empty());
  EXPECT_NE(tracker_.states.back().details().find("fresh_wanted"), std::string::npos);
}

TEST_F(SessionRunnerTest, WantedNewContextSurvivesChangeOfRunner) {
  agent_session_id_ = "old";
  details_ = R"({"fresh_wanted":true})";
  Run();
  EXPECT_EQ(ContextsLost(), 1);
  EXPECT_NE(tracker_.log.back().data().find("\"fresh\""), std::string::npos);
  PassUntil([this] {
    return tracker_.states.back().details().find("fresh_wanted") == std::string::npos;
  });
}

TEST_F(SessionRunnerTest, WantedNewContextIsRecordedOnlyOnceItStarts) {
  agent_session_id_ = "old";
  problem_ = AgentError{"command_missing", "it is gone"};
  Make();
  Control("c", v1::AGENT_ACTION_FRESH);
  Begin();
  PassUntilStatus(v1::AGENT_STATUS_FAILED);
  Settle();
  EXPECT_EQ(ContextsLost(), 0);
  EXPECT_NE(tracker_.states.back().details().find("fresh_wanted"), std::string::npos);
  problem_.reset();
  Control("d", v1::AGENT_ACTION_START);
  Begin();
  PassUntilStatus(v1::AGENT_STATUS_IDLE);
  EXPECT_EQ(ContextsLost(), 1);
  EXPECT_NE(tracker_.log.back().data().find("\"fresh\""), std::string::npos);
}

TEST_F(SessionRunnerTest, ContextIsNotLostWhenRestoreFails) {
  agent_session_id_ = "old";
  const std::string known = absl::StrCat(folder_.path(), "/sessions");
  Make({{"restore", "resume"}, {"sessions", known}});
  for (int i = 0; i < 2; ++i) {
    Control(absl::StrCat(i), v1::AGENT_ACTION_START);
    Begin();
    PassUntil([&] { return scheduler_.ended == i + 1; });
    PassUntilStatus(v1::AGENT_STATUS_FAILED);
    EXPECT_EQ(tracker_.states.back().reason(), "cannot_restore");
  }
  // The context can be restored again.
  std::ofstream(known) << "old\n";
  Control("c", v1::AGENT_ACTION_START);
  Begin();
  PassUntilStatus(v1::AGENT_STATUS_IDLE);
  EXPECT_EQ(tracker_.states.back().agent_session_id(), "old");
  EXPECT_EQ(ContextsLost(), 0);
}

TEST_F(SessionRunnerTest, ModeChangeNeedsRunningAgent) {
  Make({{"modes", true}});
  v1::AgentControl control;
  control.set_control_id("mode");
  control.set_mode_id("act");
  runner_->Control(control);
  Settle();
  EXPECT_THAT(Answers(), ElementsAre("mode agent_not_running"));
  runner_->Need();
  Begin();
  PassUntilStatus(v1::AGENT_STATUS_IDLE);
  runner_->Control(control);
  PassUntil([this] { return Answers().size() == 2; });
  EXPECT_THAT(Answers().back(), "mode ");
  PassUntil([this] {
    return tracker_.states.back().details().find(R"("currentModeId":"act")") != std::string::npos;
  });
}

TEST_F(SessionRunnerTest, PausesBeforeRestartAfterFailures) {
  Make({{"at", {{"session/new", "exit"}}}});
  runner_->Need();
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(scheduler_.wants, i + 1);
    Begin();
    PassUntil([&] { return scheduler_.ended == i + 1; });
  }
  EXPECT_EQ(scheduler_.wants, 2);
  Settle();
  EXPECT_EQ(Status(), v1::AGENT_STATUS_STARTING);
  EXPECT_EQ(tracker_.states.back().reason(), "agent_crashed");
  timers_.Advance(absl::Seconds(2));
  EXPECT_EQ(scheduler_.wants, 3);
  runner_->Stop();
  EXPECT_EQ(scheduler_.dropped, 1);
  Settle();
  EXPECT_EQ(Status(), v1::AGENT_STATUS_STOPPED);
  EXPECT_EQ(tracker_.states.back().reason(), "");
}

TEST_F(SessionRunnerTest, PermanentlyFailingAgentIsStartedOnce) {
  const std::pair<Json, std::string> refusals[] = {
      {{{"at", {{"initialize", "error"}}}}, "initialize_refused"},
      {{{"initialize", "version"}}, "unsupported_version"},
      {{{"initialize", "auth"}}, "auth_required"},
  };
  for (const auto& [options, reason] : refusals) {
    SCOPED_TRACE(reason);
    scheduler_ = NoScheduler();
    Make(options);
    runner_->Need();
    Begin();
    PassUntilStatus(v1::AGENT_STATUS_FAILED);
    EXPECT_EQ(tracker_.states.back().reason(), reason);
    timers_.Advance(absl::Minutes(1));
    EXPECT_EQ(scheduler_.wants, 1);
    PassUntil([this] { return tracker_.pauses.size() == 1; });
    EXPECT_EQ(tracker_.pauses[0], reason);
    tracker_.pauses.clear();
    tracker_.states.clear();
  }
  // A limit passes with time, so the start is repeated.
  scheduler_ = NoScheduler();
  Make({{"at", {{"initialize", "limit"}}}});
  runner_->Need();
  for (int i = 0; i < 3; ++i) {
    PassUntil([&] { return scheduler_.wants == i + 1; });
    Begin();
    PassUntil([&] { return scheduler_.ended == i + 1; });
  }
}

TEST_F(SessionRunnerTest, CommandResultsBecomeTheirOwnPrompt) {
  plan_.shell_commands = true;
  Run();
  Send("t1", R"([{"say": "<shell>echo out</shell>"}])");
  EXPECT_EQ(NextEnd(), "COMPLETED ");
  EXPECT_EQ(NextEnd(), "COMPLETED ");
  ASSERT_EQ(tracker_.starts.size(), 2);
  EXPECT_EQ(tracker_.starts[1].turn_id(), "");
  EXPECT_THAT(tracker_.starts[1].prompt().message(), HasSubstr("$ echo out\nout\n"));
  EXPECT_THAT(Said(), HasSubstr("$ echo out\nout\n"));
  // The id contains the number that the tracker has given to the answer.
  EXPECT_THAT(tracker_.starts[1].prompt().message(), HasSubstr("\"cmd-1-0\""));
}

TEST_F(SessionRunnerTest, CommandResultsAreSentWithQueuedMessage) {
  plan_.shell_commands = true;
  Run();
  Send("t1", R"([{"say": "<shell>echo out</shell>"}])");
  PassUntil([this] { return !tracker_.starts.empty(); });
  Send("t2", "and you?");
  EXPECT_EQ(NextEnd(), "COMPLETED ");
  EXPECT_EQ(NextEnd(), "COMPLETED ");
  ASSERT_EQ(tracker_.starts.size(), 2);
  EXPECT_EQ(tracker_.starts[1].turn_id(), "t2");
  EXPECT_THAT(Said(), HasSubstr("$ echo out\nout\n"));
  EXPECT_THAT(Said(), HasSubstr("and you?"));
}

// Reports about a call hold until the end of its prompt: a rule never decides by an earlier one.
TEST_F(SessionRunnerTest, ToolCallOfEarlierPromptDoesNotMatchQuestion) {
  plan_.permissions.by_kind["read"] = PermissionRule::kAllowOnce;
  plan_.allow_fresh = true;
  const std::string begins =
      R"({"update": {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Read it",
                     "kind": "read", "status": "pending"}})";
  const std::string asks = R"({"ask": {"toolCallId": "c"}})";
  v1::Permission no;
  no.set_answered(true);
  no.set_selected_option("no");
  tracker_.answers = {no, no};
  Run();
  Send("t1", absl::StrCat("[", begins, ", ", asks, "]"));
  EXPECT_EQ(NextEnd(), "COMPLETED ");
  EXPECT_THAT(tracker_.asked, IsEmpty());
  EXPECT_THAT(Said(), HasSubstr("\"yes\""));
  Send("t2", absl::StrCat("[", asks, "]"));
  EXPECT_EQ(NextEnd(), "COMPLETED ");
  EXPECT_EQ(tracker_.asked.size(), 1);
  EXPECT_THAT(Said(), HasSubstr("\"no\""));
  // Nor one of an earlier agent.
  Send("t3", absl::StrCat("[", begins, R"(, {"exit": 3}])"));
  EXPECT_EQ(NextEnd(), "FAILED agent_crashed");
  PassUntil([this] { return scheduler_.ended == 1; });
  runner_->Need();
  PassUntil([this] { return scheduler_.wants == 2; });
  Begin();
  PassUntilStatus(v1::AGENT_STATUS_IDLE);
  Send("t4", absl::StrCat("[", asks, "]"));
  EXPECT_EQ(NextEnd(), "COMPLETED ");
  EXPECT_EQ(tracker_.asked.size(), 2);
}

TEST_F(SessionRunnerTest, TurnFailsWhenRecordingFails) {
  Run();
  tracker_.next = {FakeTracker::How::kRefuse};
  Send("t1", "hello");
  EXPECT_EQ(NextEnd(), "FAILED recording_failed");
  EXPECT_EQ(tracker_.ends.back().message(), "over");
  EXPECT_THAT(Said(), testing::Not(HasSubstr("hello")));
}

TEST_F(SessionRunnerTest, ReportsNothingAfterRelease) {
  Run();
  Send("t1", R"([{"sleep": 60000}])");
  PassUntil([this] { return !tracker_.starts.empty(); });
  Settle();
  const size_t told = tracker_.states.size();
  runner_->Release();
  PassUntil([this] { return runner_->is_asleep(); });
  EXPECT_EQ(tracker_.states.size(), told);
}

TEST_F(SessionRunnerTest, TurnOfLostRunnerHasFailed) {
  Make();
  runner_->NeedAfter("t1");
  EXPECT_FALSE(runner_->is_asleep());
  EXPECT_EQ(NextEnd(), "FAILED runner_lost");
  EXPECT_EQ(scheduler_.wants, 0);
  PassUntil([this] { return runner_->is_asleep(); });
}

}  // namespace
}  // namespace callslip::runner
