#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"

namespace callslip {
namespace {

// A child and a grandchild that have left the agent's session, its group and their parent, ignore
// the signals that they can ignore, and hold the agent's stdout.
constexpr char kFugitives[] =
    "setsid sh -c 'trap \"\" TERM HUP; sh -c \"trap : TERM; while :; do sleep 1000; done\" & "
    "while :; do sleep 1000; done' & "
    "(setsid sleep 1000 &) ; ";

// Reads lines until the last writer has gone.
class Lines {
 public:
  explicit Lines(int descriptor) : file_(fdopen(descriptor, "r")) {}
  ~Lines() { std::fclose(file_); }

  // Empty at the end.
  std::string Next() {
    char* line = nullptr;
    size_t size = 0;
    const ssize_t read = getline(&line, &size, file_);
    std::string next = read > 0 ? std::string(absl::StripSuffix(line, "\n")) : "";
    std::free(line);
    return next;
  }
  std::vector<std::string> Rest() {
    std::vector<std::string> rest;
    for (std::string line = Next(); !line.empty(); line = Next()) rest.push_back(line);
    return rest;
  }

 private:
  std::FILE* const file_;
};

// The real program, with this one as its runner.
class KeeperTest : public testing::Test {
 protected:
  KeeperTest() {
    // Processes that the keeper does not end become children of this program, not of init.
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control_), 0);
    EXPECT_EQ(pipe2(in_, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(out_, O_CLOEXEC), 0);
    said_.emplace(dup(control_[0]));
    out_of_agent_.emplace(out_[0]);
  }
  ~KeeperTest() override {
    LeaveKeeper();
    Close(in_[1]);
    // The next test must not see processes of a failed one.
    if (pid_ > 0) kill(pid_, SIGKILL);
    while (waitpid(-1, nullptr, 0) > 0) {
    }
  }

  void StartWith(std::vector<std::string> arguments, bool with_control = true) {
    arguments.insert(arguments.begin(), CALLSLIP_KEEPER_BINARY);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in_[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out_[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (with_control) posix_spawn_file_actions_adddup2(&actions, control_[1], 3);
    posix_spawn_file_actions_addclosefrom_np(&actions, with_control ? 4 : 3);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    ASSERT_EQ(posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    Close(in_[0]);
    Close(out_[1]);
    Close(control_[1]);
  }
  // Returns the agent's pid.
  pid_t Start(const std::string& script, const std::string& grace = "60000") {
    StartWith({"--grace", grace, "--", "sh", "-c", script});
    return NumberOf("started");
  }

  // The next line of the keeper, which has to be this word and a number.
  int NumberOf(absl::string_view word) {
    const std::vector<std::string> parts = absl::StrSplit(said_->Next(), ' ');
    int number = -1;
    if (parts.size() != 2 || parts[0] != word || !absl::SimpleAtoi(parts[1], &number)) {
      ADD_FAILURE() << "no \"" << word << "\" but " << testing::PrintToString(parts);
    }
    return number;
  }
  void Order(char what) { EXPECT_EQ(write(control_[0], &what, 1), 1); }
  // As if the runner was killed.
  void LeaveKeeper() {
    if (control_[0] >= 0) shutdown(control_[0], SHUT_RDWR);
    Close(control_[0]);
  }
  int ExitOfKeeper() {
    int status = 0;
    waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  // Waits until no process of the agent has its stdout open. No process may have become a child of
  // this program.
  void ExpectNothingLeft() {
    out_of_agent_->Rest();
    EXPECT_EQ(ExitOfKeeper(), 0);
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
  }

  static void Close(int& descriptor) {
    if (descriptor >= 0) close(std::exchange(descriptor, -1));
  }

  int control_[2] = {-1, -1};
  int in_[2] = {-1, -1};
  int out_[2] = {-1, -1};
  pid_t pid_ = -1;
  std::optional<Lines> said_;  // By the keeper.
  std::optional<Lines> out_of_agent_;
};

TEST_F(KeeperTest, AgentHasItsStdioAndItsOwnSession) {
  const pid_t agent = Start("read line; echo \"$line, $$\"; exit 7");
  EXPECT_EQ(getsid(agent), agent);
  EXPECT_EQ(write(in_[1], "hello\n", 6), 6);
  EXPECT_EQ(out_of_agent_->Next(), absl::StrCat("hello, ", agent));
  EXPECT_EQ(NumberOf("exited"), 7);
  EXPECT_EQ(NumberOf("swept"), 0);
  ExpectNothingLeft();
}

TEST_F(KeeperTest, KeeperHoldsNeitherStdinNorStdoutOfAgentOpen) {
  Start("exec >&-; while read line; do :; done; exit 0");
  EXPECT_EQ(out_of_agent_->Next(), "");  // The keeper holds neither end open.
  Close(in_[1]);
  EXPECT_EQ(NumberOf("exited"), 0);
}

TEST_F(KeeperTest, ReportsWhyAgentCannotBeStarted) {
  StartWith({"--", "/nonexistent/agent"});
  EXPECT_EQ(NumberOf("failed"), ENOENT);
  ExpectNothingLeft();
}

TEST_F(KeeperTest, AgentWorksInItsDirectory) {
  StartWith({"--in", "/usr", "--", "sh", "-c", "pwd"});
  NumberOf("started");
  EXPECT_EQ(out_of_agent_->Next(), "/usr");
}

TEST_F(KeeperTest, ReportsThatDirectoryCannotBeEntered) {
  StartWith({"--in", "/no/such/folder", "--", "true"});
  EXPECT_EQ(NumberOf("nowhere"), ENOENT);
  ExpectNothingLeft();
}

TEST_F(KeeperTest, FileThatIsNotExecutableCannotBeStarted) {
  StartWith({"--", "/etc/passwd"});
  EXPECT_EQ(NumberOf("failed"), EACCES);
  ExpectNothingLeft();
}

TEST_F(KeeperTest, NothingOutlivesKilledAgent) {
  const pid_t agent = Start(absl::StrCat(kFugitives, "echo ready; wait"));
  EXPECT_EQ(out_of_agent_->Next(), "ready");
  kill(agent, SIGKILL);
  EXPECT_EQ(NumberOf("signalled"), SIGKILL);
  EXPECT_GE(NumberOf("swept"), 1);
  ExpectNothingLeft();
}

TEST_F(KeeperTest, NothingOutlivesExitedAgent) {
  Start(absl::StrCat(kFugitives, "exit 0"));
  EXPECT_EQ(NumberOf("exited"), 0);
  EXPECT_GE(NumberOf("swept"), 1);
  ExpectNothingLeft();
}

TEST_F(KeeperTest, LingeringProcessesLiveUntilKillOrder) {
  StartWith({"--linger", "--", "sh", "-c",
             "exec 4<&0; sh -c 'read line; echo alive; sleep 1000' <&4 & exit 3"});
  NumberOf("started");
  EXPECT_EQ(NumberOf("exited"), 3);
  // The keeper signals no process: the number of the shell, which has ended, may belong to another
  // group now.
  Order('t');
  EXPECT_EQ(write(in_[1], "\n", 1), 1);
  EXPECT_EQ(out_of_agent_->Next(), "alive");
  Order('k');
  EXPECT_GE(NumberOf("swept"), 1);
  ExpectNothingLeft();
}

TEST_F(KeeperTest, KeeperEndsWithLastLingeringProcess) {
  StartWith(
      {"--linger", "--", "sh", "-c", "exec 4<&0; setsid sh -c 'read line; exit 5' <&4 & exit 3"});
  NumberOf("started");
  EXPECT_EQ(NumberOf("exited"), 3);
  EXPECT_EQ(write(in_[1], "\n", 1), 1);
  EXPECT_EQ(NumberOf("swept"), 0);
  ExpectNothingLeft();
}

TEST_F(KeeperTest, LingeringProcessesDoNotOutliveTheRunner) {
  StartWith({"--linger", "--", "sh", "-c", absl::StrCat(kFugitives, "echo ready; exit 0")});
  NumberOf("started");
  EXPECT_EQ(NumberOf("exited"), 0);
  EXPECT_EQ(out_of_agent_->Next(), "ready");
  LeaveKeeper();
  ExpectNothingLeft();
}

TEST_F(KeeperTest, NothingOutlivesTheRunner) {
  Start(absl::StrCat("trap 'echo asked; exit 0' TERM; ", kFugitives,
                     "echo ready; while :; do wait; done"));
  EXPECT_EQ(out_of_agent_->Next(), "ready");
  LeaveKeeper();
  EXPECT_EQ(out_of_agent_->Next(), "asked");
  ExpectNothingLeft();
}

TEST_F(KeeperTest, AgentThatOutstaysTheRunnerIsKilledAfterGrace) {
  Start(absl::StrCat("trap 'echo asked' TERM; ", kFugitives, "echo ready; while :; do wait; done"),
        /*grace=*/"1");
  EXPECT_EQ(out_of_agent_->Next(), "ready");
  LeaveKeeper();
  ExpectNothingLeft();
}

TEST_F(KeeperTest, RunnerTerminatesFirstAndThenKills) {
  Start(absl::StrCat("trap 'echo asked' TERM; ", kFugitives, "echo ready; while :; do wait; done"));
  EXPECT_EQ(out_of_agent_->Next(), "ready");
  Order('?');  // Not an order.
  Order('t');
  EXPECT_EQ(out_of_agent_->Next(), "asked");
  Order('k');
  EXPECT_EQ(NumberOf("signalled"), SIGKILL);
  EXPECT_GE(NumberOf("swept"), 1);
  ExpectNothingLeft();
}

TEST_F(KeeperTest, EndOfOrphanIsNotMistakenForEndOfAgent) {
  Start("(setsid true &); (exit 3) ; echo ready; read line; exit 5");
  EXPECT_EQ(out_of_agent_->Next(), "ready");
  EXPECT_EQ(write(in_[1], "\n", 1), 1);
  EXPECT_EQ(NumberOf("exited"), 5);
}

TEST_F(KeeperTest, KeeperIgnoresTerminatingSignals) {
  const pid_t agent = Start("echo ready; read line; exit 4");
  EXPECT_EQ(out_of_agent_->Next(), "ready");
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) kill(pid_, number);
  EXPECT_EQ(kill(agent, 0), 0);
  EXPECT_EQ(write(in_[1], "\n", 1), 1);
  EXPECT_EQ(NumberOf("exited"), 4);
}

TEST_F(KeeperTest, AgentHasDefaultSignalHandling) {
  const pid_t agent = Start("echo ready; kill -TERM $$; echo never");
  EXPECT_EQ(out_of_agent_->Next(), "ready");
  EXPECT_GT(agent, 0);
  EXPECT_EQ(NumberOf("signalled"), SIGTERM);
}

// A subreaper gets the processes that remain.
TEST_F(KeeperTest, AgentEndsWhenKeeperIsKilled) {
  const pid_t agent = Start("(setsid sleep 1000 >&- &); echo ready; read line");
  EXPECT_EQ(out_of_agent_->Next(), "ready");
  kill(pid_, SIGKILL);
  EXPECT_EQ(out_of_agent_->Next(), "");
  EXPECT_EQ(ExitOfKeeper(), -SIGKILL);
  int status = 0;
  EXPECT_EQ(waitpid(agent, &status, 0), agent);
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  // The remaining process is now a child of this program, which finds and ends it.
  std::FILE* const children = std::fopen("/proc/thread-self/children", "re");
  int left = 0;
  ASSERT_EQ(std::fscanf(children, "%d", &left), 1);
  std::fclose(children);
  kill(left, SIGKILL);
  EXPECT_EQ(waitpid(left, nullptr, 0), left);
}

TEST_F(KeeperTest, NeedsLittleMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return;  // The limit would measure the sanitizer.
#endif
  Start("echo ready; read line");
  EXPECT_EQ(out_of_agent_->Next(), "ready");
  std::FILE* const status = std::fopen(absl::StrCat("/proc/", pid_, "/statm").c_str(), "re");
  int64_t all = 0, resident = 0;
  ASSERT_EQ(std::fscanf(status, "%ld %ld", &all, &resident), 2);
  std::fclose(status);
  // Each agent has its own keeper.
  EXPECT_LT(resident * sysconf(_SC_PAGESIZE), 1'572'864);
}

struct Wrong {
  std::vector<std::string> arguments;
  bool with_control = true;
};
class WrongUseTest : public KeeperTest, public testing::WithParamInterface<Wrong> {};

TEST_P(WrongUseTest, ExitsWithUsageError) {
  StartWith(GetParam().arguments, GetParam().with_control);
  EXPECT_EQ(ExitOfKeeper(), 64);
}

INSTANTIATE_TEST_SUITE_P(
    , WrongUseTest,
    testing::Values(Wrong{{}}, Wrong{{"--"}}, Wrong{{"sh"}}, Wrong{{"--grace", "-1", "--", "sh"}},
                    Wrong{{"--grace", "1s", "--", "sh"}}, Wrong{{"--grace", "", "--", "sh"}},
                    Wrong{{"--grace", "600001", "--", "sh"}}, Wrong{{"--grace", "1"}},
                    Wrong{{"--linger"}}, Wrong{{"--in"}}, Wrong{{"--in", "/"}},
                    Wrong{{"--linger", "sh"}}, Wrong{{"--", "sh"}, /*with_control=*/false}));

}  // namespace
}  // namespace callslip
