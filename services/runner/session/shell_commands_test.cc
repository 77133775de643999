#include "runner/session/shell_commands.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "boost/asio/co_spawn.hpp"
#include "boost/asio/detached.hpp"
#include "boost/asio/executor_work_guard.hpp"
#include "boost/asio/io_context.hpp"
#include "boost/asio/steady_timer.hpp"
#include "common/text_scan.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runner/fake_timers.h"
#include "runner/session/fake_tracker.h"
#include "support/session_events.h"
#include "support/temporary_folder.h"

namespace callslip::runner {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Le;
using testing::Not;
using testing::SizeIs;

class ShellCommandsTest : public testing::Test {
 protected:
  ShellCommandsTest() {
    std::signal(SIGPIPE, SIG_IGN);
    Begin(3);
  }

  void Begin(int64_t iteration) {
    commands_ = std::make_unique<ShellCommands>(
        iteration, host_, std::make_shared<const FileAccess>(*FileAccess::Of({{folder_.path()}})),
        recorder_, &spans_);
  }
  // The text for the agent after all commands have ended.
  std::string Run() {
    std::optional<std::string> told;
    boost::asio::co_spawn(
        context_,
        [](ShellCommands* commands,
           std::optional<std::string>* to) -> boost::asio::awaitable<void> {
          *to = co_await commands->Run();
        }(commands_.get(), &told),
        boost::asio::detached);
    context_.restart();
    while (!told.has_value() && context_.run_one() > 0) {
      timers_.Advance(Recorder::kEvery);
      if (stop_when_()) commands_->Stop("somebody has stopped it");
    }
    Settle();
    return told.value_or("none");
  }
  void Settle() {
    for (int i = 0; i < 100; ++i) {
      context_.restart();
      context_.poll();
      timers_.Advance(Recorder::kEvery);
    }
  }
  // "id status", in the order of the log.
  std::vector<std::string> Recorded() const {
    std::vector<std::string> all;
    for (const v1::SessionEvent& event : log_.log) {
      all.push_back(absl::StrCat(MemberOf(event, "tool_call_id"), " ", MemberOf(event, "status")));
    }
    return all;
  }
  bool Is(const std::string& file) const {
    return std::filesystem::exists(absl::StrCat(folder_.path(), "/", file));
  }
  std::string Title(size_t event) const { return MemberOf(log_.log[event], "title"); }

  TemporaryFolder folder_;
  boost::asio::io_context context_;
  FakeTimers timers_;
  FakeTracker log_;
  TurnSpans spans_{"agent", "s", absl::UnixEpoch()};
  std::shared_ptr<Recorder> recorder_ = std::make_shared<Recorder>(
      context_.get_executor(), &log_, &timers_, SessionName{"client", "s", 7}, 0);
  CommandHost host_{.context = &context_,
                    .keeper = CALLSLIP_KEEPER_BINARY,
                    .environment = {{"PATH", "/usr/bin:/bin"}},
                    .wrapper = {}};
  std::unique_ptr<ShellCommands> commands_;
  std::function<bool()> stop_when_ = [] { return false; };
};

TEST_F(ShellCommandsTest, CommandsRunInOrderAndAreRecordedWithIds) {
  // Commands may be cut anywhere. Equal commands are run twice.
  for (const char* piece : {"I look: <she", "ll>pwd</shell>, again <shell>pw", "d</shell> and ",
                            "<shell>echo out; exit 7</shell>."}) {
    commands_->Read(piece);
  }
  const std::string pwd =
      absl::StrCat("exit_code=\"0\">\n$ pwd\n", folder_.path(), "\n</result>\n");
  EXPECT_EQ(Run(), absl::StrCat("<result id=\"cmd-3-0\" ", pwd, "<result id=\"cmd-3-1\" ", pwd,
                                "<result id=\"cmd-3-2\" exit_code=\"7\">\n$ echo out; exit 7\n",
                                "out\n</result>\n"));
  EXPECT_THAT(Recorded(), ElementsAre("cmd-3-0 queued", "cmd-3-1 queued", "cmd-3-2 queued",
                                      "cmd-3-0 running", "cmd-3-0 completed", "cmd-3-1 running",
                                      "cmd-3-1 completed", "cmd-3-2 running", "cmd-3-2 completed"));
  EXPECT_EQ(MemberOf(log_.log[2], "title"), "echo out; exit 7");
  EXPECT_EQ(MemberOf(log_.log[2], "kind"), "execute");
  EXPECT_THAT(Title(8), HasSubstr("$ echo out; exit 7\nout\n"));
}

TEST_F(ShellCommandsTest, AnswerWithoutCommandsRecordsNothing) {
  commands_->Read("<shell> </shell> <shell>not closed");
  EXPECT_EQ(Run(), "");
  EXPECT_THAT(Recorded(), IsEmpty());
}

TEST_F(ShellCommandsTest, StopKillsRunningCommandAndSkipsTheRest) {
  commands_->Read("<shell>touch begun; exec sleep 1000</shell> <shell>touch made</shell>");
  stop_when_ = [this] { return Is("begun"); };
  // Wakes Run() until the first command has begun, and nothing else does.
  const auto looks = boost::asio::make_work_guard(context_);
  boost::asio::steady_timer again(context_);
  std::function<void(boost::system::error_code)> look = [&](boost::system::error_code) {
    again.expires_after(std::chrono::milliseconds(1));
    if (!Is("begun")) again.async_wait(look);
  };
  look({});
  EXPECT_THAT(Run(), AllOf(HasSubstr("id=\"cmd-3-0\" exit_code=\"137\""),
                           HasSubstr("id=\"cmd-3-1\" error=\"not_run\">\n$ touch made\n"
                                     "somebody has stopped it\n")));
  EXPECT_THAT(Recorded(), ElementsAre("cmd-3-0 queued", "cmd-3-1 queued", "cmd-3-0 running",
                                      "cmd-3-0 completed", "cmd-3-1 failed"));
  EXPECT_FALSE(Is("made"));
}

TEST_F(ShellCommandsTest, CommandStoppedBeforeItIsRecordedIsNotRun) {
  commands_->Read("<shell>touch made</shell>");
  stop_when_ = [this] { return log_.log.size() >= 1; };
  EXPECT_THAT(Run(), HasSubstr("error=\"not_run\""));
  EXPECT_EQ(Recorded().back(), "cmd-3-0 failed");
  EXPECT_FALSE(Is("made"));
}

TEST_F(ShellCommandsTest, OutputCanBeAnyBytes) {
  commands_->Read("<shell>printf 'a\\377b\\0c\\303'; printf '\\251 \\342\\202'</shell>");
  const std::string told = Run();
  EXPECT_TRUE(IsUtf8(told)) << told;
  EXPECT_THAT(told, HasSubstr("a\xEF\xBF\xBD"
                              "b"));
  EXPECT_THAT(told, HasSubstr("c\xC3\xA9 "));
  EXPECT_THAT(Recorded(), ElementsAre("cmd-3-0 queued", "cmd-3-0 running", "cmd-3-0 completed"));
}

TEST_F(ShellCommandsTest, TruncatedOutputIsMarked) {
  commands_->Read("<shell>echo first; head -c 2000000 /dev/zero | tr '\\0' x; echo last</shell>");
  EXPECT_THAT(Run(), AllOf(HasSubstr("\n[… more came before this …]\nxxx"), HasSubstr("xlast\n"),
                           Not(HasSubstr("first\n"))));
}

TEST_F(ShellCommandsTest, UnrecordedCommandIsNotRun) {
  commands_->Read("<shell>touch made</shell>");
  log_.next = {FakeTracker::How::kRefuse};
  recorder_->Add(ErrorEvent("what the session does not take"));
  Settle();
  EXPECT_THAT(Run(), HasSubstr("error=\"not_run\">\n$ touch made\nover\n"));
  EXPECT_FALSE(Is("made"));
}

TEST_F(ShellCommandsTest, FailedStartIsReportedWithReason) {
  host_.keeper = absl::StrCat(folder_.path(), "/nowhere");
  Begin(0);
  commands_->Read("<shell>true</shell>");
  EXPECT_THAT(Run(), HasSubstr("error=\"not_run\">\n$ true\ncannot start "));
  EXPECT_THAT(Recorded(), ElementsAre("cmd-0-0 queued", "cmd-0-0 running", "cmd-0-0 failed"));
}

TEST_F(ShellCommandsTest, OnlyLimitedPartOfAnswerIsSearched) {
  commands_->Read("<shell>echo first</shell>");
  for (size_t i = 0; i < ShellCommands::kMaxAnswerBytes >> 20; ++i) {
    commands_->Read(std::string(size_t{1} << 20, 'x'));
  }
  commands_->Read("<shell>echo last</shell>");
  EXPECT_THAT(Run(), AllOf(HasSubstr("echo first"), Not(HasSubstr("echo last"))));
}

TEST(JoinResultsTest, ResultsAreOnSeparateLines) {
  EXPECT_EQ(JoinResults({"one", "two\n", "three"}, 10'000), "one\ntwo\nthree");
  EXPECT_EQ(JoinResults({}, 10'000), "");
}

TEST(JoinResultsTest, LongestResultsAreTruncatedToFit) {
  const std::string all =
      JoinResults({std::string(300, 'a'), std::string(9'000, 'b'), std::string(8'000, 'c')}, 8'000);
  EXPECT_THAT(all, SizeIs(Le(8'000)));
  EXPECT_THAT(all, HasSubstr(std::string(300, 'a')));
  EXPECT_THAT(all, HasSubstr(std::string(3'500, 'b')));
  EXPECT_THAT(all, HasSubstr(std::string(3'500, 'c')));
  EXPECT_THAT(all, HasSubstr(" bytes more are in the session's events]"));
}

TEST(JoinResultsTest, ManyResultsFitTheLimit) {
  for (const size_t size : {0u, 1u, 100u, 200u, 255u, 256u, 20'000u}) {
    const std::vector<std::string> many(1'000, std::string(size, 'x'));
    EXPECT_THAT(JoinResults(many, 256'000), SizeIs(Le(256'000))) << size;
  }
}

TEST(JoinResultsTest, NoCharacterIsSplit) {
  std::string text;
  for (int i = 0; i < 1'000; ++i) text += "\xE2\x82\xAC";
  for (size_t most = 1'000; most < 1'006; ++most) {
    const std::string all = JoinResults({text, text}, most);
    EXPECT_THAT(all, SizeIs(Le(most)));
    const size_t cut = all.find('[');
    EXPECT_EQ((cut - 1) % 3, 0u) << all.substr(0, cut);
  }
}

}  // namespace
}  // namespace callslip::runner
