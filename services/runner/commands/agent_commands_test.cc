#include "runner/commands/agent_commands.h"

#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::runner {
namespace {

const Environment kPath = {{"PATH", "/bin"}};

LoadedConfig Two() {
  return ParseRunnerConfig(
      "agents: {shell: {command: [sh]}, absent: {command: [no-such-agent, acp]}}\n"
      "workspaces: {root: {dir: /tmp}, gone: {dir: /no/such, agents: [shell, other]}}\n"
      "limit: 1\n",
      "runner.yaml");
}

TEST(AgentCommandsTest, CheckReportsAgentsWorkspacesAndProblems) {
  std::ostringstream out;
  EXPECT_EQ(RunCheck(Two(), kPath, "/bin/sh", out), 1);
  EXPECT_EQ(
      out.str(),
      "runner.yaml:3: unknown key \"limit\" in the file, did you mean \"limits\"?\n"
      "agents\n"
      "  absent  problem  \"no-such-agent\" is not in /bin: install it, write its whole path, "
      "or set PATH in `env`\n"
      "  shell   ok       /bin/sh\n"
      "workspaces\n"
      "  gone  problem  /no/such does not exist, or the runner's user cannot see it\n"
      "  gone  problem  there is no agent \"other\"\n"
      "  root  ok       /tmp\n"
      "4 problems\n");
}

TEST(AgentCommandsTest, CheckOfEmptyConfigurationFindsNoProblem) {
  std::ostringstream out;
  EXPECT_EQ(RunCheck({}, kPath, "/bin/sh", out), 0);
  EXPECT_EQ(out.str(), "agents: none\nworkspaces: none\nno problems\n");
}

TEST(AgentCommandsTest, CheckReportsMissingKeeper) {
  std::ostringstream out;
  EXPECT_EQ(RunCheck({}, kPath, "/no/such/callslip-keeper", out), 1);
  EXPECT_EQ(out.str(),
            "/no/such/callslip-keeper does not exist or is not executable, and no agent starts "
            "without it: install callslip-keeper beside callslip-runner\n"
            "agents: none\nworkspaces: none\n1 problem\n");
}

TEST(AgentCommandsTest, MissingAgentIsListedButNotProbed) {
  std::ostringstream out;
  const AgentProbe probe = [](const std::string& name, const AgentConfig&) {
    EXPECT_EQ(name, "shell");
    return "Shell 5";
  };
  EXPECT_EQ(RunAgents(Two().config, kPath, probe, out), 1);
  EXPECT_EQ(out.str(),
            "  absent  missing  no-such-agent is not installed\n"
            "  shell   answers  /bin/sh: Shell 5\n");
}

TEST(AgentCommandsTest, AnsweringAndSilentAgentsAreListed) {
  RunnerConfig config;
  for (const char* name : {"a", "b"}) config.agents[name].command = {"sh"};
  const AgentProbe probe = [](const std::string& name,
                              const AgentConfig&) -> absl::StatusOr<std::string> {
    if (name == "a") return "Agent A 1.2";
    return absl::DeadlineExceededError("no answer to initialize within 60s");
  };
  std::ostringstream out;
  EXPECT_EQ(RunAgents(config, kPath, probe, out), 1);
  EXPECT_EQ(out.str(),
            "  a  answers  /bin/sh: Agent A 1.2\n"
            "  b  silent   /bin/sh: no answer to initialize within 60s\n");
  config.agents.erase("b");
  EXPECT_EQ(RunAgents(config, kPath, probe, out), 0);
}

TEST(AgentCommandsTest, EmptyAgentListIsReported) {
  std::ostringstream out;
  EXPECT_EQ(RunAgents({}, kPath, nullptr, out), 0);
  EXPECT_EQ(out.str(), "no agents are configured: add one to `agents`\n");
}

}  // namespace
}  // namespace callslip::runner
