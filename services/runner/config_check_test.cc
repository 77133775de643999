#include "runner/config_check.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::runner {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ConfigCheckTest : public testing::Test {
 protected:
  ConfigCheckTest() {
    std::string made = testing::TempDir() + "/config-check-XXXXXX";
    dir_ = mkdtemp(made.data());
    std::filesystem::create_directory(dir_ + "/web");
    std::ofstream(dir_ + "/file") << "text";
    config_.agents["shell"].command = {"sh"};
    config_.workspaces["web"].dir = dir_ + "/web";
  }
  ~ConfigCheckTest() override { std::filesystem::remove_all(dir_); }

  std::vector<std::string> Problems() {
    std::vector<std::string> texts;
    for (const ConfigProblem& problem : CheckConfig(config_, {{"PATH", "/usr/bin:/bin"}})) {
      texts.push_back(absl::StrCat(problem.name, ": ", problem.text));
    }
    return texts;
  }

  std::string dir_;
  RunnerConfig config_;
};

TEST_F(ConfigCheckTest, ValidConfigurationHasNoProblems) {
  // A workspace may be inside another one.
  std::filesystem::create_directory(dir_ + "/web/below");
  config_.workspaces["below"] = {.dir = dir_ + "/web/below", .agents = {"shell"}};
  EXPECT_THAT(Problems(), IsEmpty());
}

TEST_F(ConfigCheckTest, ReportsAllProblemsAtOnce) {
  config_.token_file = "/no/such/token";
  config_.tls_ca = "/no/such/ca.pem";
  config_.agents["absent"] = {.command = {"no-such-agent"}, .wrapper = {"/no/such/wrapper"}};
  config_.agents["none"] = {.mcp = {"callslip", "other"}};
  config_.workspaces["a"] = {.dir = dir_ + "/absent", .agents = {"shel", "quite-another"}};
  config_.workspaces["b"] = {.dir = dir_ + "/file"};
  config_.workspaces["c"] = {.dir = "relative"};
  config_.workspaces["d"] = {.additional_directories = {dir_ + "/absent"}};
  std::filesystem::create_directory_symlink(dir_ + "/web", dir_ + "/link");
  config_.workspaces["x"] = {.dir = dir_ + "/link/"};
  EXPECT_THAT(
      Problems(),
      ElementsAre(": cannot read the token file /no/such/token: No such file or directory",
                  ": /no/such/ca.pem can't be read",
                  "absent: \"no-such-agent\" is not in /usr/bin:/bin: install it, write its whole "
                  "path, or set PATH in `env`",
                  "absent: /no/such/wrapper does not exist or is not executable",
                  "none: `command` is missing: write it as a list, such as [opencode, acp]",
                  "none: there is no MCP server \"other\": `mcp` may have callslip",
                  "a: " + dir_ + "/absent does not exist, or the runner's user cannot see it",
                  "a: there is no agent \"shel\", did you mean \"shell\"?",
                  "a: there is no agent \"quite-another\"",
                  "b: " + dir_ + "/file is not a directory",
                  "c: \"relative\" is not an absolute path",
                  "d: `dir` is missing: write the absolute path of a directory",
                  "d: " + dir_ + "/absent does not exist, or the runner's user cannot see it",
                  "x: workspace web has the same directory: remove one"));
}

TEST_F(ConfigCheckTest, TokenFileNeedsRunnerToken) {
  config_.token_file = dir_ + "/tokens";
  const std::string token(64, 'a');
  const auto write = [&](const std::string& text) {
    std::ofstream(config_.token_file) << text;
    std::filesystem::permissions(config_.token_file, std::filesystem::perms::owner_read |
                                                         std::filesystem::perms::owner_write);
  };
  write("client me " + token + "\n");
  EXPECT_THAT(Problems(),
              ElementsAre(testing::HasSubstr("tokens: has no line of the role runner")));
  write("runner\n");
  EXPECT_THAT(Problems(), ElementsAre(testing::HasSubstr("line 1")));
  write("runner me " + token + "\n");
  EXPECT_THAT(Problems(), IsEmpty());
}

// If the wrapper is looked up by its name, no agent can have put another program in its place.
TEST_F(ConfigCheckTest, WrapperIsFoundOnlyWhereAgentsCannotReplaceIt) {
  std::filesystem::create_directories(dir_ + "/web/bin");
  std::filesystem::create_directories(dir_ + "/bin");
  std::filesystem::create_directory_symlink(dir_ + "/web/bin", dir_ + "/linked");
  for (const char* way : {"/web/bin/confine", "/bin/confine", "/bin/none"}) {
    std::ofstream(dir_ + way) << "#!/bin/sh\n";
    std::filesystem::permissions(dir_ + way, std::filesystem::perms::owner_all);
  }
  const std::string whole = dir_ + "/web/bin/confine";
  std::filesystem::create_symlink(whole, dir_ + "/bin/leading");
  const std::string replaceable =
      "\"confine\" is only in folders of PATH that are relative, or in ";
  struct Row {
    std::string program;
    std::string path;
    std::string found;  // Or the error.
  };
  // A link that an agent has put in place of a workspace must not make any wrapper unusable.
  config_.workspaces["inner"].dir = dir_ + "/web/inner";
  std::filesystem::create_directory_symlink("/", dir_ + "/web/inner");
  // A link that leads to a folder of PATH.
  std::filesystem::create_directory_symlink(dir_ + "/bin", dir_ + "/web/led");
  const Row rows[] = {
      {"confine", dir_ + "/bin", dir_ + "/bin/confine"},
      {"confine", dir_ + "/web/bin:" + dir_ + "/bin", dir_ + "/bin/confine"},
      {"confine", dir_ + "/linked:" + dir_ + "/web/./bin/:" + dir_ + "/bin", dir_ + "/bin/confine"},
      {"confine", ".:bin::" + dir_ + "/bin", dir_ + "/bin/confine"},
      {"confine", dir_ + "/web/bin", replaceable},
      {"confine", dir_ + "/linked:/usr/bin", replaceable},
      {"confine", dir_ + "/web/led:" + dir_ + "/web/../bin", replaceable},
      {dir_ + "/bin/confine", "/usr/bin", dir_ + "/bin/confine"},
      {whole, "/usr/bin", whole + " is, or has a link"},
      {dir_ + "/linked/confine", "/usr/bin", dir_ + "/linked/confine is, or has a link"},
      {"leading", dir_ + "/bin", dir_ + "/bin/leading is, or has a link"},
      {"bin/confine", dir_ + "/bin", "\"bin/confine\" depends on where it is started"},
      {"./confine", dir_ + "/bin", "\"./confine\" depends on where it is started"},
      {"absent", "/usr/bin", "\"absent\" is not in /usr/bin"},
  };
  for (const Row& row : rows) {
    AgentConfig agent = {.command = {"sh"}, .wrapper = {row.program, "--arg"}};
    agent.env["PATH"] = row.path;
    auto confined = Confined(AgentDirectories(config_), agent, {{"PATH", "/usr/bin:/bin"}});
    SCOPED_TRACE(row.program + " in " + row.path);
    if (row.found.front() == '/' && !absl::StrContains(row.found, ' ')) {
      ASSERT_OK(confined);
      confined->wrapper.resize(2);
      EXPECT_THAT(confined->wrapper, ElementsAre(row.found, "--arg"));
    } else {
      EXPECT_THAT(std::string(confined.status().message()), testing::StartsWith(row.found));
    }
  }
  EXPECT_THAT(Confined(AgentDirectories(config_), config_.agents["shell"], {})->wrapper, IsEmpty());
}

// The wrapper looks up no program there either. The agent keeps its own PATH.
TEST_F(ConfigCheckTest, WrapperPathHasNoFolderThatAgentsCanWriteTo) {
  std::filesystem::create_directories(dir_ + "/web/bin");
  struct Row {
    std::string path;
    std::string of_wrapper;  // Empty: it can't be started.
  };
  const Row rows[] = {
      {"/usr/bin:/bin", "/usr/bin:/bin"},
      {dir_ + "/web/bin:/usr/bin:/bin", "/usr/bin:/bin"},
      {"/usr/bin:" + dir_ + "/web:/bin:node_modules/.bin:", "/usr/bin:/bin"},
      {"::.:/bin", "/bin"},
      {dir_ + "/web/bin", ""},
      {"", ""},
  };
  for (const std::string program : {"/usr/bin/env", "env"}) {
    for (const Row& row : rows) {
      SCOPED_TRACE(program + " in " + row.path);
      AgentConfig agent = {.command = {"sh"}, .wrapper = {program, "X=1", "nice"}};
      agent.env["PATH"] = row.path;
      const auto confined = Confined(AgentDirectories(config_), agent, {});
      EXPECT_EQ(confined.ok(), !row.of_wrapper.empty()) << confined.status();
      if (!confined.ok()) continue;
      EXPECT_EQ(confined->env.at("PATH"), row.of_wrapper);
      if (row.path == row.of_wrapper) {
        EXPECT_THAT(confined->wrapper, ElementsAre(testing::EndsWith("/env"), "X=1", "nice"));
      } else {
        EXPECT_THAT(confined->wrapper, ElementsAre(testing::EndsWith("/env"), "X=1", "nice", "env",
                                                   "--", "PATH=" + row.path));
      }
    }
  }
  AgentConfig odd = {.command = {"/opt/a=b/agent"}, .wrapper = {"nice"}};
  odd.env["PATH"] = dir_ + "/web/bin:/usr/bin";
  EXPECT_EQ(Confined(AgentDirectories(config_), odd, {})->wrapper.back(), "sh");
}

// The wrapper gets no variable that makes it load files of agents. The agent keeps it.
TEST_F(ConfigCheckTest, WrapperGetsNoVariableThatLeadsToAgentFiles) {
  std::filesystem::create_directory_symlink(dir_ + "/web", dir_ + "/linked");
  const std::string web = dir_ + "/web";
  const std::map<std::string, std::string> led = {
      {"BASH_ENV", "setup.sh"},
      {"CFLAGS", "-O2 -I" + web + "/include"},
      {"DYLD_PATHS", "/usr/lib:./lib"},
      {"LD_AUDIT", "libm.so.6"},
      {"LD_LIBRARY_PATH", "/usr/lib:"},
      {"LD_PRELOAD", "/usr/lib/a.so " + web + "/b.so"},
      {"NODE_OPTIONS", "--require=" + web + "/c.js"},
      {"PERL5LIB", dir_ + "/linked/lib"},
      {"PROJECT", web},
      {"PYTHONPATH", "/usr/lib/../" + web},
  };
  const std::map<std::string, std::string> safe = {
      {"API_KEY", "ab/cd+e=="},
      {"EMPTY", ""},
      {"HTTPS_PROXY", "http://me:secret@proxy.example:3128/"},
      {"LANG", "C.UTF-8"},
      {"RUBYLIB", "/usr/lib/ruby:/opt/ruby"},
  };
  AgentConfig agent = {.command = {"sh"}, .wrapper = {"nice"}};
  Environment environment = {{"PATH", "/usr/bin:/bin"}};
  std::vector<std::string> wrapper = {"env", "--"};
  for (const auto& [name, value] : led) {
    // By both ways to configure a variable.
    (name < "LD" ? agent.env : environment)[name] = value;
    if (environment.contains(name)) agent.env_from.push_back(name);
    wrapper.push_back(absl::StrCat(name, "=", value));
  }
  agent.env.insert(safe.begin(), safe.end());
  const auto confined = Confined(AgentDirectories(config_), agent, environment);
  ASSERT_OK(confined);
  EXPECT_EQ(confined->env, safe);
  EXPECT_THAT(confined->env_from, IsEmpty());
  EXPECT_THAT(std::vector<std::string>(confined->wrapper.begin() + 1, confined->wrapper.end()),
              testing::ElementsAreArray(wrapper));
  // Without a wrapper, only the agent gets them.
  agent.wrapper.clear();
  EXPECT_EQ(Confined(AgentDirectories(config_), agent, environment)->env, agent.env);
}

TEST_F(ConfigCheckTest, ProgramIsSearchedInPathOfAgent) {
  std::ofstream(dir_ + "/agent") << "#!/bin/sh\n";
  std::filesystem::permissions(dir_ + "/agent", std::filesystem::perms::owner_all);
  AgentConfig agent;
  agent.command = {"agent"};
  EXPECT_EQ(ProgramOf(agent, {}), std::nullopt);
  agent.env["PATH"] = dir_;
  EXPECT_EQ(ProgramOf(agent, {}), dir_ + "/agent");
}

TEST_F(ConfigCheckTest, ValuesThatTrackerRefusesAreProblems) {
  config_.runner_id = "no name";
  config_.agents["no+name"].command = {"sh"};
  config_.workspaces["up"].dir = dir_ + "/web/../web";
  EXPECT_THAT(Problems(),
              testing::IsSupersetOf(
                  {testing::StartsWith(": the tracker refuses it: runner_id has to be"),
                   testing::StartsWith("no+name: the tracker refuses it: agents.name has to be"),
                   testing::StartsWith("up: the tracker refuses it: workspaces.dir has to be")}));
}

TEST_F(ConfigCheckTest, AdditionalDirectoryMustNotContainDotDot) {
  std::filesystem::create_directories(dir_ + "/web/more");
  config_.workspaces["web"].additional_directories = {dir_ + "/web/../web/more"};
  EXPECT_THAT(Problems(), ElementsAre(testing::HasSubstr("/web/../web/more has `..` in it")));
  config_.workspaces["web"].additional_directories = {dir_ + "/web/more", dir_ + "/web/./more/"};
  EXPECT_THAT(Problems(), IsEmpty());
}

TEST(GatewayProblemTest, InvalidGatewayUrlIsReported) {
  for (const char* gateway : {"", "http://localhost:7890", "http://localhost:7890/",
                              "https://gateway.example", "http://[::1]:7890", "https://[::1]",
                              "http://127.0.0.1:1", "https://proxy.example/callslip/"}) {
    EXPECT_EQ(GatewayProblem(gateway), "") << gateway;
  }
  for (const char* gateway :
       {"localhost:7890", "http:/h", "http://", "https:///", "http://h:", "http://h:0",
        "http://h:99999", "http://h:port", "http://a b", "http://h:1:2", "http://[::1",
        "http://h/?a", "http://h#a", "http://me@h", "http://me:word@h:80", "http://unix:/tmp/x",
        "ftp://h", "http://h:7890/mcp", "http://h:7890/mcp/"}) {
    EXPECT_NE(GatewayProblem(gateway), "") << gateway;
  }
  EXPECT_THAT(GatewayProblem("localhost:7890"), testing::EndsWith(": write http://localhost:7890"));
}

TEST_F(ConfigCheckTest, TooManyAgentsAreOneProblem) {
  for (int i = 0; i < 200; ++i) config_.agents[absl::StrCat("a", i)].command = {"sh"};
  EXPECT_THAT(Problems(), ElementsAre(testing::StartsWith(": the tracker refuses it: agents")));
}

TEST_F(ConfigCheckTest, PossiblyIntendedSettingsAreNotes) {
  config_.limits.agents.starting_agents = 50;
  config_.agents["shell"].shell_commands = true;
  config_.agents["shell"].env_from = {"NOT_SET"};
  config_.workspaces["web"].permissions.by_kind["execute"] = PermissionRule::kRejectOnce;
  config_.workspaces["web"].agents = {"shell"};
  config_.agents["idle"].command = {"sh"};
  const auto found = CheckConfig(config_, {{"PATH", "/usr/bin:/bin"}});
  EXPECT_THAT(found, testing::SizeIs(4));
  EXPECT_EQ(found[1].name, "idle");
  EXPECT_THAT(found[1].text, testing::StartsWith("no workspace takes it"));
  for (const ConfigProblem& each : found) EXPECT_TRUE(each.is_note) << each.text;
}

}  // namespace
}  // namespace callslip::runner
