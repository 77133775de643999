#include "runner/commands/login.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/temporary_folder.h"

namespace callslip::runner {
namespace {

using testing::HasSubstr;
using testing::Not;

// Uses the scripted agent, which is logged in once it has created a file.
class LoginTest : public testing::Test {
 protected:
  LoginTest() { Configure(R"({"login": ")" + file_ + R"(", "log": ")" + log_ + R"("})"); }

  void Configure(const std::string& options) {
    config_.agents["scripted"].command = {CALLSLIP_SCRIPTED_AGENT, options};
  }
  int Run(const std::string& method, const std::string& agent = "scripted") {
    std::ostringstream out;
    const int code = RunLogin(config_, {.agent = agent, .method = method, .place = place_}, out);
    said_ = out.str();
    return code;
  }
  static std::string Read(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  TemporaryFolder folder_;
  const std::string file_ = folder_.path() + "/login";
  const std::string log_ = folder_.path() + "/log";
  const InquiryPlace place_ = {
      .environment = {{"PATH", "/usr/bin:/bin"}, {"TERM", "vt52"}, {"SECRET", "s"}},
      .directory = folder_.path(),
      .keeper = CALLSLIP_KEEPER_BINARY};
  RunnerConfig config_;
  std::string said_;
};

TEST_F(LoginTest, TerminalMethodRunsAgentOnThisTerminal) {
  EXPECT_EQ(Run("tui"), 0);
  EXPECT_EQ(Read(file_), "vt52\n");
  EXPECT_THAT(said_, HasSubstr("queue is resumed"));
  // The agent got `initialize`, and no `authenticate`.
  EXPECT_THAT(Read(log_), HasSubstr(R"("auth":{"terminal":true})"));
  EXPECT_THAT(Read(log_), Not(HasSubstr("authenticate")));
}

TEST_F(LoginTest, MethodMustBeNamedIfThereAreSeveral) {
  EXPECT_EQ(Run(""), 2);
  EXPECT_THAT(said_, HasSubstr("tui: On the terminal"));
  EXPECT_THAT(said_, HasSubstr("broken: "));
  EXPECT_THAT(said_, HasSubstr("program: A program (Run it)\n"));
  EXPECT_THAT(said_, Not(HasSubstr("by-hand")));
  EXPECT_EQ(Run("by-hand"), 1);
  EXPECT_THAT(said_, HasSubstr("by-hand: By hand\n"));
}

// For agents that do not support login methods for terminals.
TEST_F(LoginTest, MethodCanNameProgramInstead) {
  EXPECT_EQ(Run("program"), 0);
  EXPECT_EQ(Read(file_), "vt52\n");
}

// Variables of the agent's login method are set behind its wrapper, which does not get them.
TEST_F(LoginTest, LoginProgramRunsInWrapperOfAgent) {
  const std::string confine = folder_.path() + "/confine";
  std::ofstream(confine) << "#!/bin/sh\n{ env; echo \"$@\"; } >> " << folder_.path()
                         << "/wrapper\nexec \"$@\"\n";
  std::filesystem::permissions(confine, std::filesystem::perms::owner_all);
  config_.agents["scripted"].wrapper = {"confine"};
  config_.agents["scripted"].env["PATH"] = folder_.path() + ":/usr/bin:/bin";
  for (const char* method : {"tui", "program"}) {
    std::filesystem::remove(file_);
    std::filesystem::remove(folder_.path() + "/wrapper");
    EXPECT_EQ(Run(method), 0) << said_;
    EXPECT_EQ(Read(file_), "vt52\n");
    const std::string seen = Read(folder_.path() + "/wrapper");
    EXPECT_THAT(seen, HasSubstr("\nenv -- SCRIPTED_LOGIN=yes "));
    EXPECT_THAT(seen, Not(HasSubstr("\nSCRIPTED_LOGIN=")));
  }
  // A program whose name is an option of the wrapper.
  config_.agents["scripted"].wrapper = {"env", "WRAPPED=yes"};
  Configure(R"({"login": ")" + file_ + R"(", "program": "-u"})");
  EXPECT_EQ(Run("program"), 1);
  EXPECT_THAT(said_, HasSubstr("ended with code 127"));
}

TEST_F(LoginTest, FailedLoginIsReported) {
  EXPECT_EQ(Run("broken"), 1);
  EXPECT_THAT(said_, HasSubstr("ended with code 3"));
  EXPECT_EQ(Read(file_), "");
}

TEST_F(LoginTest, OtherMethodsAreListedIfNoneIsForTerminals) {
  Configure("{}");
  EXPECT_EQ(Run(""), 1);
  EXPECT_THAT(said_, HasSubstr("`auth_method` of agent scripted"));
  EXPECT_THAT(said_, HasSubstr("by-hand: By hand\n"));
}

TEST_F(LoginTest, AgentTextDoesNotControlTheTerminal) {
  config_.agents["scripted"].command = {
      "sh", "-c",
      R"(read -r line; printf '%s\n' '{"id":1,"result":{"protocolVersion":1,"authMethods":[)"
      R"({"id":"a\u001b[2K","name":"b\n","description":"c\u009b"}]}}'; read -r line)"};
  EXPECT_EQ(Run(""), 1);
  EXPECT_THAT(said_, HasSubstr("  a\\x1b[2K: b\\x0a (c\\x9b)\n"));
  config_.agents["scripted"].command = {"sh", "-c", R"(printf '\033[2Jbad\n' >&2; exit 1)"};
  EXPECT_EQ(Run(""), 1);
  EXPECT_THAT(said_, HasSubstr("it said: \\x1b[2Jbad"));
}

TEST_F(LoginTest, AuthenticateIsCalledIfConfigured) {
  config_.agents["scripted"].auth_method = "by-hand";
  EXPECT_EQ(Run(""), 0);
  EXPECT_THAT(Read(log_), HasSubstr(R"("methodId":"by-hand")"));
  // The method for terminals is never passed to `authenticate`.
  config_.agents["scripted"].auth_method = "tui";
  EXPECT_EQ(Run("tui"), 0);
  EXPECT_THAT(Read(log_), Not(HasSubstr(R"("methodId":"tui")")));
}

TEST_F(LoginTest, UnknownOrMissingAgentIsReported) {
  EXPECT_EQ(Run("", "scriptde"), 1);
  EXPECT_THAT(said_, HasSubstr("did you mean \"scripted\"?"));
  config_.agents["gone"].command = {"/nowhere/agent"};
  EXPECT_EQ(Run("", "gone"), 1);
  EXPECT_THAT(said_, HasSubstr("command_missing"));
}

TEST_F(LoginTest, MissingFolderIsNamed) {
  InquiryPlace nowhere = place_;
  nowhere.directory = "/no/such/home";
  EXPECT_THAT(WhoIs("scripted", config_.agents["scripted"], nowhere).status().message(),
              HasSubstr("cannot work in /no/such/home: No such file or directory"));
}

TEST_F(LoginTest, AgentIdentityOrErrorIsReturned) {
  const AgentConfig agent = config_.agents["scripted"];
  EXPECT_EQ(*WhoIs("scripted", agent, place_), "scripted 1");
  AgentConfig hung = agent;
  hung.command = {CALLSLIP_SCRIPTED_AGENT, R"({"initialize": "never"})"};
  hung.start_timeout = absl::Milliseconds(50);
  EXPECT_THAT(WhoIs("hung", hung, place_).status().message(), HasSubstr("within 50ms"));
  AgentConfig none;
  EXPECT_THAT(WhoIs("none", none, place_).status().message(), HasSubstr("`command`"));
}

}  // namespace
}  // namespace callslip::runner
