#include "common/config.h"

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class OptionSetTest : public testing::Test {
 protected:
  OptionSetTest() {
    options_.AddCommand("doctor", "Says which link is broken");
    options_.Add("name", &name_, "A name");
    options_.Add("verbose", &verbose_, "Says more");
    options_.Add("listen", &listen_, "Where to listen");
    options_.Add("poll-threads", &threads_, 1, 8, "Threads");
    options_.Add("wait-max", &wait_, absl::Seconds(1), absl::Seconds(60), "Longest wait");
    options_.Add("allowed-hosts", &hosts_, "Hosts");
    options_.AddChoice("log-level", &level_, {"debug", "info"}, "Level");
  }

  absl::StatusOr<OptionSet::Parsed> Parse(std::vector<std::string> arguments) {
    return options_.Parse(arguments, [this](const char* name) -> const char* {
      const auto it = environment_.find(name);
      return it == environment_.end() ? nullptr : it->second.c_str();
    });
  }

  std::string WriteFile(const std::string& content) {
    const std::string path = testing::TempDir() + "/" +
                             testing::UnitTest::GetInstance()->current_test_info()->name() +
                             ".yaml";
    std::ofstream(path) << content;
    return path;
  }

  OptionSet options_{"callslip-test", "Tests options"};
  std::map<std::string, std::string> environment_;
  std::string name_ = "default";
  bool verbose_ = false;
  Address listen_{.host = "127.0.0.1", .port = 7890};
  int threads_ = 1;
  absl::Duration wait_ = absl::Seconds(55);
  std::vector<std::string> hosts_ = {"localhost"};
  std::string level_ = "info";
};

TEST_F(OptionSetTest, DefaultsApplyWithoutSettings) {
  ASSERT_OK(Parse({}));
  EXPECT_EQ(name_, "default");
  EXPECT_EQ(listen_.port, 7890);
}

TEST_F(OptionSetTest, FlagBeatsEnvironmentBeatsFileBeatsDefault) {
  const std::string path = WriteFile("name: file\npoll_threads: 2\nwait_max: 3s\n");
  environment_ = {{"CALLSLIP_NAME", "environment"}, {"CALLSLIP_POLL_THREADS", "4"}};
  ASSERT_OK(Parse({"--config", path, "--name=flag"}));
  EXPECT_EQ(name_, "flag");
  EXPECT_EQ(threads_, 4);
  EXPECT_EQ(wait_, absl::Seconds(3));
}

TEST_F(OptionSetTest, EnvironmentCanNameConfigFile) {
  environment_["CALLSLIP_CONFIG"] = WriteFile("allowed_hosts: [a:1, b:2]\nverbose: true\n");
  ASSERT_OK(Parse({}));
  EXPECT_THAT(hosts_, ElementsAre("a:1", "b:2"));
  EXPECT_TRUE(verbose_);
}

TEST_F(OptionSetTest, NestedKeysAreJoined) {
  ASSERT_OK(Parse({"--config", WriteFile("wait:\n  max: 2s\n")}));
  EXPECT_EQ(wait_, absl::Seconds(2));
}

TEST_F(OptionSetTest, FlagsAcceptBothValueForms) {
  ASSERT_OK(Parse({"--listen", "[::1]:0", "--verbose", "--allowed-hosts=x, y"}));
  EXPECT_EQ(listen_.host, "::1");
  EXPECT_TRUE(verbose_);
  EXPECT_THAT(hosts_, ElementsAre("x", "y"));
}

TEST_F(OptionSetTest, CommandIsAcceptedOnceAndByNameOnly) {
  EXPECT_EQ(Parse({"doctor"})->command, "doctor");
  EXPECT_THAT(Parse({"nurse"}).status().message(), HasSubstr("\"nurse\""));
  EXPECT_FALSE(Parse({"doctor", "doctor"}).ok());
}

TEST_F(OptionSetTest, ErrorsNameOptionAndProblem) {
  EXPECT_THAT(Parse({"--nam", "x"}).status().message(), HasSubstr("--nam"));
  EXPECT_THAT(Parse({"--name"}).status().message(), HasSubstr("--name needs a value"));
  EXPECT_THAT(Parse({"--poll-threads", "9"}).status().message(), HasSubstr("from 1 to 8"));
  EXPECT_THAT(Parse({"--wait-max", "5"}).status().message(), HasSubstr("duration"));
  EXPECT_THAT(Parse({"--log-level", "loud"}).status().message(), HasSubstr("debug|info"));
  EXPECT_THAT(Parse({"--listen", "7890"}).status().message(), HasSubstr("HOST:PORT"));
  environment_["CALLSLIP_VERBOSE"] = "perhaps";
  EXPECT_THAT(Parse({}).status().message(), HasSubstr("CALLSLIP_VERBOSE"));
}

TEST_F(OptionSetTest, FileErrorsNameTheKey) {
  EXPECT_THAT(Parse({"--config", WriteFile("nmae: x\n")}).status().message(),
              HasSubstr("unknown key \"nmae\""));
  EXPECT_THAT(Parse({"--config", WriteFile("poll_threads: many\n")}).status().message(),
              HasSubstr("key \"poll_threads\""));
  EXPECT_THAT(Parse({"--config", WriteFile("a: [\n")}).status().message(),
              HasSubstr("not valid YAML"));
  EXPECT_EQ(Parse({"--config", "/nonexistent.yaml"}).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(OptionSetTest, HelpListsEveryOptionWithItsVariable) {
  EXPECT_EQ(Parse({"--help"})->action, OptionSet::Parsed::Action::kShowHelp);
  EXPECT_EQ(Parse({"--version"})->action, OptionSet::Parsed::Action::kShowVersion);
  EXPECT_THAT(options_.HelpText(), HasSubstr("--poll-threads N"));
  EXPECT_THAT(options_.HelpText(), HasSubstr("CALLSLIP_POLL_THREADS"));
  EXPECT_THAT(options_.HelpText(), HasSubstr("doctor"));
}

class CommandArgumentsTest : public testing::Test {
 protected:
  CommandArgumentsTest() {
    options_.AddCommand("check", "Checks");
    options_.AddCommand("prompt", "Asks", {"TEXT"});
    options_.AddCommand("login", "Logs in", {"AGENT", "[METHOD]"});
    options_.Add("agent", &agent_, "an agent");
  }
  absl::StatusOr<OptionSet::Parsed> Parse(const std::vector<std::string>& arguments) {
    return options_.Parse(arguments, [](const char*) { return nullptr; });
  }
  std::vector<std::string> ArgumentsOf(const std::vector<std::string>& arguments) {
    const auto parsed = Parse(arguments);
    EXPECT_TRUE(parsed.ok()) << parsed.status();
    return parsed.ok() ? parsed->arguments : std::vector<std::string>();
  }

  OptionSet options_{"tool", "does it"};
  std::string agent_;
};

TEST_F(CommandArgumentsTest, FlagsCanAppearAnywhere) {
  using testing::ElementsAre;
  EXPECT_THAT(ArgumentsOf({"prompt", "say hi", "--agent", "a"}), ElementsAre("say hi"));
  EXPECT_EQ(agent_, "a");
  EXPECT_THAT(ArgumentsOf({"prompt", "--agent", "b", "say hi"}), ElementsAre("say hi"));
  EXPECT_THAT(ArgumentsOf({"--agent=c", "prompt", "say hi"}), ElementsAre("say hi"));
  EXPECT_EQ(agent_, "c");
  EXPECT_THAT(ArgumentsOf({"prompt", "check"}), ElementsAre("check"));
  EXPECT_THAT(ArgumentsOf({"prompt", "- one"}), ElementsAre("- one"));
  EXPECT_THAT(ArgumentsOf({"prompt", "--agent", "d", "--", "--help"}), ElementsAre("--help"));
  EXPECT_THAT(ArgumentsOf({"login", "x"}), ElementsAre("x"));
  EXPECT_THAT(ArgumentsOf({"login", "x", "y"}), ElementsAre("x", "y"));
}

TEST_F(CommandArgumentsTest, ErrorsNameMissingAndUnexpectedArguments) {
  EXPECT_EQ(Parse({"prompt"}).status().message(),
            "prompt needs TEXT: tool prompt TEXT [--FLAG VALUE]...");
  EXPECT_EQ(Parse({"login", "--agent", "a"}).status().message(),
            "login needs AGENT: tool login AGENT [METHOD] [--FLAG VALUE]...");
  EXPECT_EQ(Parse({"prompt", "say", "hi"}).status().message(),
            "unexpected argument \"hi\" after prompt, which has 1: put a text with spaces in "
            "quotes; see tool --help");
  EXPECT_EQ(Parse({"check", "hi"}).status().message(),
            "unexpected argument \"hi\"; see tool --help");
  EXPECT_EQ(Parse({"prompt", "--help"})->action, OptionSet::Parsed::Action::kShowHelp);
  EXPECT_THAT(options_.HelpText(), testing::HasSubstr("login AGENT [METHOD]"));
}

}  // namespace
}  // namespace callslip
