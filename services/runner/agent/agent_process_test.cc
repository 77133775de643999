#include "runner/agent/agent_process.h"

#include <fcntl.h>

#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "boost/asio/io_context.hpp"
#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runner/agent/children.h"

namespace callslip::runner {
namespace {

using Kind = AgentExit::Kind;
using testing::ElementsAre;
using testing::EndsWith;

// Longer than any test, so that no test ends because of it.
constexpr StopPatience kPatient = {absl::Minutes(10), absl::Minutes(10)};

class AgentProcessTest : public testing::Test, public AgentProcess::Listener {
 protected:
  AgentProcessTest() { std::signal(SIGPIPE, SIG_IGN); }

  void OnOutput(absl::string_view bytes) override {
    EXPECT_FALSE(ended_);
    out_.append(bytes.data(), bytes.size());
  }
  void OnExit(const AgentExit& exit) override {
    EXPECT_FALSE(ended_ || exited_.has_value());
    exited_ = exit;
  }
  void OnEnd(const AgentExit& exit) override {
    EXPECT_FALSE(std::exchange(ended_, true));
    exit_ = exit;
  }

  void StartWith(const AgentCommand& command, StopPatience patience) {
    auto started = AgentProcess::Start(context_, CALLSLIP_KEEPER_BINARY, command, this, patience);
    ASSERT_OK(started);
    process_ = *std::move(started);
  }
  void Start(const std::string& script, StopPatience patience = kPatient) {
    StartWith({.arguments = {"sh", "-c", script},
               .environment = {"PATH=/usr/bin:/bin", "ONLY=this"},
               .directory = "/tmp"},
              patience);
  }
  void Write(const std::string& bytes) {
    process_->Write(bytes, [this](bool whole) {
      EXPECT_FALSE(ended_);
      writes_.push_back(whole);
    });
  }
  void AwaitOutput(absl::string_view end) {
    while (!ended_ && !absl::EndsWith(out_, end)) context_.run_one();
    EXPECT_THAT(out_, EndsWith(std::string(end)));
  }
  AgentExit AwaitEnd() {
    while (!ended_) context_.run_one();
    return exit_;
  }

  boost::asio::io_context context_;
  std::shared_ptr<AgentProcess> process_;
  std::string out_;
  std::vector<bool> writes_;
  std::optional<AgentExit> exited_;  // The command itself.
  AgentExit exit_;
  bool ended_ = false;
};

TEST_F(AgentProcessTest, PassesBytesInBothDirections) {
  Start("while read line; do echo \"$line!\"; done; exit 3");
  Write("one\n");
  Write("two\n");
  AwaitOutput("two!\n");
  EXPECT_EQ(out_, "one!\ntwo!\n");
  EXPECT_THAT(writes_, ElementsAre(true, true));
  EXPECT_EQ(process_->unwritten_bytes(), 0u);
  process_->Stop();
  const AgentExit exit = AwaitEnd();
  EXPECT_EQ(exit.kind, Kind::kExited);
  EXPECT_EQ(exit.code, 3);
}

TEST_F(AgentProcessTest, HasOnlyEnvironmentAndDirectoryOfItsCommand) {
  Start("env | sort; pwd; ls -l /proc/self/fd | wc -l");
  AwaitEnd();
  // `ls` looks through a descriptor of its own; the first line is a sum.
  EXPECT_EQ(out_, "ONLY=this\nPATH=/usr/bin:/bin\nPWD=/tmp\n/tmp\n5\n");
}

TEST_F(AgentProcessTest, MissingCommandIsNotStarted) {
  StartWith({.arguments = {"no-such-agent"}, .environment = {"PATH=/bin"}, .directory = "/"},
            kPatient);
  const AgentExit exit = AwaitEnd();
  EXPECT_EQ(exit.kind, Kind::kNotStarted);
  EXPECT_EQ(exit.code, ENOENT);
}

// The process enters the folder itself, so that a hanging file system does not block this program.
TEST_F(AgentProcessTest, MissingDirectoryIsReportedByProcess) {
  StartWith({.arguments = {"true"}, .environment = {}, .directory = "/no/such/folder"}, kPatient);
  const AgentExit exit = AwaitEnd();
  EXPECT_EQ(exit.kind, Kind::kNoDirectory);
  EXPECT_EQ(exit.code, ENOENT);
}

TEST_F(AgentProcessTest, OpenFolderIsNeededOnlyAtStart) {
  auto folder = std::make_shared<const File>(open("/usr", O_PATH | O_DIRECTORY | O_CLOEXEC));
  StartWith({.arguments = {"sh", "-c", "pwd; ls /proc/self/fd | wc -l"},
             .environment = {"PATH=/usr/bin:/bin"},
             .folder = std::move(folder)},
            kPatient);
  AwaitEnd();
  // stdin, stdout, stderr, and the folder that ls lists.
  EXPECT_EQ(out_, "/usr\n4\n");
}

TEST_F(AgentProcessTest, AllOutputArrivesBeforeEndIsReported) {
  Start("i=0; while [ $i -lt 20000 ]; do echo \"line $i\"; i=$((i+1)); done; echo last; exit 0");
  AwaitEnd();
  EXPECT_THAT(out_, EndsWith("line 19999\nlast\n"));
  EXPECT_EQ(std::count(out_.begin(), out_.end(), '\n'), 20'001);
}

TEST_F(AgentProcessTest, LastWordsAreTheEndOfStderr) {
  Start("head -c 1000000 /dev/zero | tr '\\0' x >&2; echo 'cannot go on' >&2; kill -SEGV $$");
  const AgentExit exit = AwaitEnd();
  EXPECT_EQ(exit.kind, Kind::kSignalled);
  EXPECT_EQ(exit.code, SIGSEGV);
  EXPECT_EQ(exit.last_words.size(), AgentProcess::kLastWords);
  EXPECT_THAT(exit.last_words, EndsWith("xxxcannot go on\n"));
}

TEST_F(AgentProcessTest, StopEndsProcessByClosingItsInput) {
  Start("cat; echo bye");
  process_->Stop();
  process_->Stop();
  EXPECT_EQ(AwaitEnd().kind, Kind::kExited);
  EXPECT_EQ(out_, "bye\n");
}

constexpr char kStays[] = "trap 'echo asked' TERM; echo ready; while :; do sleep 1000 & wait; done";

TEST_F(AgentProcessTest, StopSendsSigtermIfProcessStays) {
  Start(kStays, {absl::Milliseconds(1), absl::Minutes(10)});
  AwaitOutput("ready\n");
  process_->Stop();
  AwaitOutput("asked\n");
  process_->Kill();
  EXPECT_EQ(AwaitEnd().code, SIGKILL);
}

TEST_F(AgentProcessTest, StopKillsProcessThatIgnoresSigterm) {
  Start(kStays, {absl::Milliseconds(1), absl::Milliseconds(1)});
  AwaitOutput("ready\n");
  process_->Stop();
  const AgentExit exit = AwaitEnd();
  EXPECT_EQ(exit.kind, Kind::kSignalled);
  EXPECT_EQ(exit.code, SIGKILL);
}

TEST_F(AgentProcessTest, KillEndsAllDescendants) {
  Start("setsid sh -c 'echo $$; exec sleep 1000' & wait");
  AwaitOutput("\n");
  int fugitive = 0;
  ASSERT_TRUE(absl::SimpleAtoi(out_, &fugitive));
  process_->Kill();
  EXPECT_EQ(AwaitEnd().kind, Kind::kSignalled);
  EXPECT_EQ(kill(fugitive, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST_F(AgentProcessTest, FailedWritesAreReported) {
  Start("exec <&-; echo closed; sleep 1000");
  AwaitOutput("closed\n");
  Write("never read\n");
  Write("nor this\n");
  while (writes_.size() < 2) context_.run_one();
  EXPECT_THAT(writes_, ElementsAre(false, false));
  Write("nor what comes later\n");
  EXPECT_EQ(writes_.size(), 3u);
  process_->Kill();
  AwaitEnd();
}

TEST_F(AgentProcessTest, PendingWritesAreReportedBeforeEnd) {
  Start("echo ready; sleep 1000");
  AwaitOutput("ready\n");
  Write(std::string(1 << 20, 'x'));  // More than a pipe holds.
  Write("behind it\n");
  EXPECT_EQ(process_->unwritten_bytes(), (1u << 20) + 10);
  process_->Kill();
  AwaitEnd();
  EXPECT_THAT(writes_, ElementsAre(false, false));
  EXPECT_EQ(process_->unwritten_bytes(), 0u);
}

TEST_F(AgentProcessTest, AllDescendantsEndWhenKeeperIsKilled) {
  // The child of a process that has left the agent's session.
  Start("echo $PPID; setsid sh -c 'sh -c \"echo \\$\\$; exec sleep 1000\" & wait' & wait");
  while (std::count(out_.begin(), out_.end(), '\n') < 2) context_.run_one();
  const std::vector<std::string> lines = absl::StrSplit(out_, '\n');
  int keeper = 0, fugitive = 0;
  ASSERT_TRUE(absl::SimpleAtoi(lines[0], &keeper) && absl::SimpleAtoi(lines[1], &fugitive));
  // Another process, which must not be affected.
  struct Other : AgentProcess::Listener {
    void OnOutput(absl::string_view) override {}
    void OnEnd(const AgentExit& exit) override { ended = exit.kind; }
    std::optional<Kind> ended;
  } other;
  ASSERT_OK_AND_ASSIGN(
      const auto bystander,
      AgentProcess::Start(
          context_, CALLSLIP_KEEPER_BINARY,
          {.arguments = {"cat"}, .environment = {"PATH=/usr/bin:/bin"}, .directory = "/"}, &other,
          kPatient));
  kill(keeper, SIGKILL);
  EXPECT_EQ(AwaitEnd().kind, Kind::kLost);
  EXPECT_EQ(kill(fugitive, 0), -1);
  EXPECT_EQ(errno, ESRCH);
  bystander->Stop();
  while (!other.ended.has_value()) context_.run_one();
  EXPECT_EQ(other.ended, Kind::kExited);
}

// A child would otherwise inherit this program's signal settings.
TEST_F(AgentProcessTest, HasDefaultSignalHandling) {
  Start("kill -PIPE $$; echo never");
  EXPECT_EQ(AwaitEnd().code, SIGPIPE);
}

TEST_F(AgentProcessTest, EightProcessesEndTogether) {
  struct Counter : AgentProcess::Listener {
    void OnOutput(absl::string_view) override {}
    void OnEnd(const AgentExit&) override { ++ended; }
    int ended = 0;
  } counter;
  std::vector<std::shared_ptr<AgentProcess>> agents;
  for (int i = 0; i < 8; ++i) {
    ASSERT_OK_AND_ASSIGN(auto agent, AgentProcess::Start(context_, CALLSLIP_KEEPER_BINARY,
                                                         {.arguments = {"cat"},
                                                          .environment = {"PATH=/usr/bin:/bin"},
                                                          .directory = "/"},
                                                         &counter, kPatient));
    agents.push_back(std::move(agent));
  }
  for (const auto& agent : agents) agent->Stop();
  while (counter.ended < 8) context_.run_one();
}

// An agent can do so with every process of its user.
TEST_F(AgentProcessTest, AgentThatStopsItsKeeperStillEnds) {
  StopPatience patience = kPatient;
  patience.keeper = absl::Milliseconds(10);
  Start("kill -STOP $PPID; setsid sh -c 'echo $$; exec sleep 1000' & sleep 1000", patience);
  AwaitOutput("\n");
  int fugitive = 0;
  ASSERT_TRUE(absl::SimpleAtoi(out_, &fugitive));
  process_->Kill();
  EXPECT_EQ(AwaitEnd().kind, Kind::kLost);
  EXPECT_EQ(kill(fugitive, 0), -1);
}

// With an agent that floods, Kill() is called for each line.
TEST_F(AgentProcessTest, RepeatedKillDoesNotExtendKeeperTimeout) {
  StopPatience patience = kPatient;
  patience.keeper = absl::Milliseconds(50);
  Start("kill -STOP $PPID; exec yes", patience);
  AwaitOutput("\n");
  while (!ended_) {
    process_->Kill();
    context_.run_one();
  }
  EXPECT_EQ(exit_.kind, Kind::kLost);
}

TEST_F(AgentProcessTest, AllDescendantsEndWithThisProcess) {
  Start("kill -STOP $PPID; setsid sh -c 'echo $$; exec sleep 1000' & sleep 1000");
  AwaitOutput("\n");
  int fugitive = 0;
  ASSERT_TRUE(absl::SimpleAtoi(out_, &fugitive));
  Children::OfThisProcess().KillAll();
  EXPECT_EQ(kill(fugitive, 0), -1);
  EXPECT_EQ(AwaitEnd().kind, Kind::kLost);
}

TEST_F(AgentProcessTest, LingeringProcessEndsWhenKilled) {
  StartWith({.arguments = {"sh", "-c", "head -c 300000 /dev/zero; sleep 1000 & exit 3"},
             .environment = {"PATH=/usr/bin:/bin"},
             .directory = "/tmp",
             .lingers = true},
            kPatient);
  while (!exited_.has_value()) context_.run_one();
  EXPECT_EQ(exited_->code, 3);
  EXPECT_EQ(out_.size(), 300'000u);
  EXPECT_FALSE(ended_);
  process_->Kill();
  EXPECT_EQ(AwaitEnd().code, 3);
}

}  // namespace
}  // namespace callslip::runner
