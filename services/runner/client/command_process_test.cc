#include "runner/client/command_process.h"

#include <fcntl.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/temporary_folder.h"

namespace callslip::runner {
namespace {

std::shared_ptr<const File> Opened(const char* folder) {
  return std::make_shared<const File>(open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC));
}

class CommandProcessTest : public testing::Test {
 protected:
  CommandProcessTest() { std::signal(SIGPIPE, SIG_IGN); }

  CommandResult Run(const Command& command, absl::Duration timeout = absl::Minutes(10)) {
    std::optional<CommandResult> result;
    context_.restart();
    EXPECT_OK(
        RunCommand(host_, command, timeout, [&](const CommandResult& ended) { result = ended; }));
    while (!result.has_value() && context_.run_one() > 0) {
    }
    // Returns because the timer has ended, too.
    context_.run();
    return result.value_or(CommandResult{});
  }
  CommandResult RunLine(const std::string& line) { return Run(ShellLine(line, Opened("/tmp"))); }

  boost::asio::io_context context_;
  CommandHost host_{.context = &context_,
                    .keeper = CALLSLIP_KEEPER_BINARY,
                    .environment = {{"PATH", "/usr/bin:/bin"}, {"OF", "agent"}},
                    .wrapper = {}};
};

TEST_F(CommandProcessTest, StdoutAndStderrAreMergedInOrder) {
  const CommandResult result = RunLine("echo 1; echo 2 >&2; echo 3; cat; exit 7");
  EXPECT_EQ(result.output.text, "1\n2\n3\n");  // There is no input.
  EXPECT_FALSE(result.output.truncated);
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_FALSE(result.timed_out);
}

TEST_F(CommandProcessTest, HasEnvironmentOfAgentAndItsOwn) {
  EXPECT_EQ(
      Run({.words = {"env | sort"}, .environment = {{"OWN", "1"}}, .directory = "/"}).output.text,
      "OF=agent\nOWN=1\nPATH=/usr/bin:/bin\nPWD=/\n");
}

// The variables that the agent sets are in the environment of neither the keeper nor the wrapper,
// and in no command line.
TEST_F(CommandProcessTest, OwnEnvironmentIsHiddenFromKeeperAndWrapper) {
  TemporaryFolder folder;
  const std::string confine = folder.path() + "/confine";
  std::ofstream(confine) << "#!/bin/sh\n"
                            "env > "
                         << folder.path()
                         << "/wrapper\n"
                            "tr '\\0' '\\n' </proc/$PPID/environ > "
                         << folder.path()
                         << "/keeper\n"
                            "tr '\\0' '\\n' </proc/$PPID/cmdline > "
                         << folder.path()
                         << "/words\n"
                            "\"$@\"\n";
  std::filesystem::permissions(confine, std::filesystem::perms::owner_all);
  const std::string evil = folder.path() + "/evil";
  std::filesystem::create_directory(evil);
  for (const char* name : {"/confine", "/sh", "/env", "/cat"}) {
    std::ofstream(evil + name) << "#!/bin/sh\necho replaced >> " << folder.path() << "/replaced\n";
    std::filesystem::permissions(evil + name, std::filesystem::perms::owner_all);
  }
  host_.environment["PATH"] = folder.path() + ":/usr/bin:/bin";
  host_.wrapper = {"confine"};
  const Environment own = {{"PATH", evil + ":/usr/bin:/bin"},
                           {"LD_PRELOAD", "libm.so.6"},
                           {"ENV", evil + "/confine"},
                           {"BASH_ENV", evil + "/confine"},
                           {"IFS", "x"},
                           {"TOKEN", "secret"}};
  const CommandResult result =
      Run({.words = {"/bin/sh", "-c", "echo $TOKEN; tr '\\0' '\\n' </proc/$$/cmdline"},
           .environment = own,
           .directory = "/"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.output.text, testing::HasSubstr("secret\n/bin/sh\n-c\n"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/replaced"));
  for (const char* seen : {"/wrapper", "/keeper", "/words"}) {
    std::ifstream file(folder.path() + seen);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    EXPECT_THAT(text, testing::Not(testing::HasSubstr("secret"))) << seen;
    EXPECT_THAT(text, testing::Not(testing::HasSubstr("evil"))) << seen;
    EXPECT_THAT(text, testing::Not(testing::HasSubstr("LD_PRELOAD"))) << seen;
    EXPECT_FALSE(text.empty()) << seen;
  }
}

TEST_F(CommandProcessTest, VariablesArePassedUnchanged) {
  const Environment own = {{"A", ""},      {"B", "it's \"$OF\" `x` \\ !\n*"},
                           {"C", "\n\n"},  {"1-odd.name", "odd"},
                           {"-i", "dash"}, {"D", "\xff\xe2\x82\xac"},
                           {"OF", "me"},   {"LONG", std::string(100'000, 'l')}};
  const CommandOutput output =
      Run({.words = {"env", "-0"}, .environment = own, .directory = "/"}).output;
  for (const auto& [name, value] : own) {
    const std::string variable = absl::StrCat(name, "=", value, std::string(1, '\0'));
    EXPECT_TRUE(absl::StrContains(output.text, variable)) << name;
  }
  // The command is run as it is, even if it looks like a variable or an option.
  EXPECT_EQ(Run({.words = {"a=b", "c"}, .environment = {{"A", "1"}}, .directory = "/"}).exit_code,
            127);
  EXPECT_EQ(
      Run({.words = {"echo $A; exit 4"}, .environment = {{"A", "1"}}, .directory = "/"}).exit_code,
      4);
  // More than the system takes.
  const CommandResult refused = Run(
      {.words = {"true"}, .environment = {{"A", std::string(3'000'000, 'x')}}, .directory = "/"});
  EXPECT_EQ(refused.exit_code, 126);
  EXPECT_THAT(refused.output.text, testing::HasSubstr("too long"));
}

TEST_F(CommandProcessTest, SeveralWordsAreArgumentsAndOneWordIsShellLine) {
  EXPECT_EQ(Run({.words = {"echo", "$OF;", "a  b"}, .directory = "/"}).output.text, "$OF; a  b\n");
  EXPECT_EQ(Run({.words = {"echo $OF | tr a-z A-Z"}, .directory = "/"}).output.text, "AGENT\n");
  EXPECT_EQ(Run({.words = {"pwd"}, .directory = "/usr"}).output.text, "/usr\n");
}

TEST_F(CommandProcessTest, CommandThatCannotRunFailsAsInShell) {
  const CommandResult absent = Run({.words = {"no-such-command"}, .directory = "/"});
  EXPECT_EQ(absent.exit_code, 127);
  EXPECT_TRUE(absent.has_run) << "its shell";
  EXPECT_THAT(absent.output.text, testing::HasSubstr("no-such-command: not found"));
  EXPECT_EQ(Run({.words = {"/etc/passwd"}, .directory = "/"}).exit_code, 126);
  EXPECT_FALSE(CommandProcess::Start(host_, {.words = {}, .directory = "/"}, nullptr).ok());
  const CommandResult nowhere = Run({.words = {"true"}, .directory = "/no/such"});
  EXPECT_EQ(nowhere.exit_code, 127);
  EXPECT_FALSE(nowhere.has_run);
  EXPECT_THAT(nowhere.output.text, testing::HasSubstr("cannot be entered: No such file"));
}

TEST_F(CommandProcessTest, AgentWrapperAlsoWrapsItsCommands) {
  host_.wrapper = {"env", "WRAPPED=yes"};
  EXPECT_EQ(RunLine("echo $WRAPPED").output.text, "yes\n");
  host_.wrapper = {"/no/such/wrapper"};
  EXPECT_EQ(RunLine("true").exit_code, 127);
}

TEST_F(CommandProcessTest, TruncatedOutputStartsAtCharacterBoundary) {
  const std::string script =
      "i=0; while [ $i -lt 3000 ]; do printf '\xe2\x82\xac'; i=$((i+1)); done";
  for (const size_t limit : {9'000u, 8'999u, 8'998u, 8'997u, 1u, 0u}) {
    Command command = ShellLine(script, Opened("/"));
    command.output_limit = limit;
    const CommandOutput output = Run(command).output;
    EXPECT_EQ(output.text.size(), limit / 3 * 3) << limit;
    EXPECT_EQ(output.truncated, limit < 9'000) << limit;
    EXPECT_TRUE(output.text.empty() || absl::StartsWith(output.text, "\xe2\x82\xac"));
  }
}

TEST_F(CommandProcessTest, OutputIsTruncatedToMaximum) {
  Command command = ShellLine("head -c 10000000 /dev/zero | tr '\\0' x; echo end", Opened("/"));
  command.output_limit = 100 << 20;
  const CommandOutput output = Run(command).output;
  EXPECT_EQ(output.text.size(), CommandProcess::kMaxOutput);
  EXPECT_TRUE(output.truncated);
  EXPECT_THAT(output.text, testing::EndsWith("xxxend\n"));
}

TEST_F(CommandProcessTest, TimeoutEndsCommandAndItsDescendants) {
  const CommandResult result =
      Run(ShellLine("setsid sh -c 'echo $$; exec sleep 1000' & wait", Opened("/")),
          absl::Milliseconds(300));
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.exit_code, 128 + SIGKILL);
  int fugitive = 0;
  if (absl::SimpleAtoi(result.output.text, &fugitive)) {
    EXPECT_EQ(kill(fugitive, 0), -1);
  }
}

TEST_F(CommandProcessTest, KilledCommandReportsSigkill) {
  CommandResult result;
  ASSERT_OK_AND_ASSIGN(const auto process,
                       RunCommand(host_, ShellLine("sleep 1000", Opened("/")), absl::Minutes(10),
                                  [&](const CommandResult& ended) { result = ended; }));
  process->Kill();
  context_.run();
  EXPECT_EQ(result.exit_code, 128 + SIGKILL);
  EXPECT_FALSE(result.timed_out);
}

}  // namespace
}  // namespace callslip::runner
