#include "runner/agent/agent_environment.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::runner {
namespace {

using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

// Variables that a runner may have in its environment. Each gets a value that the tests can find.
constexpr const char* kSecrets[] = {
    "ANTHROPIC_API_KEY",   "OPENAI_API_KEY",   "GEMINI_API_KEY", "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",   "GITHUB_TOKEN",     "NPM_TOKEN",      "SSH_AUTH_SOCK",
    "KUBECONFIG",          "DATABASE_URL",     "PGPASSWORD",     "CALLSLIP_TOKEN",
    "CALLSLIP_TOKEN_FILE", "CALLSLIP_TLS_KEY", "VAULT_TOKEN",    "HTTPS_PROXY",
    "LD_PRELOAD",          "NODE_OPTIONS",     "HOMEPASSWORD",   "XLC_SECRET"};
static_assert(std::size(kSecrets) == 20);

Environment Runner() {
  Environment runner = {{"HOME", "/home/ann"}, {"PATH", "/opt/bin:/bin"}, {"USER", "ann"},
                        {"LOGNAME", "ann"},    {"SHELL", "/bin/zsh"},     {"LANG", "de_DE.UTF-8"},
                        {"LC_TIME", "C"},      {"TZ", "Europe/Berlin"},   {"TMPDIR", "/var/tmp"},
                        {"TERM", "xterm"}};
  for (const char* name : kSecrets) runner[name] = absl::StrCat("marker of ", name);
  return runner;
}

TEST(AgentEnvironmentTest, HasNeededVariablesAndNoSecrets) {
  const Environment agent =
      AgentEnvironment(Runner(), {.session_id = "session-1", .agent_id = "agent-1"});
  EXPECT_THAT(agent, UnorderedElementsAre(Pair("HOME", "/home/ann"), Pair("PATH", "/opt/bin:/bin"),
                                          Pair("USER", "ann"), Pair("LOGNAME", "ann"),
                                          Pair("SHELL", "/bin/zsh"), Pair("LANG", "de_DE.UTF-8"),
                                          Pair("LC_TIME", "C"), Pair("TZ", "Europe/Berlin"),
                                          Pair("TMPDIR", "/var/tmp"), Pair("TERM", "dumb"),
                                          Pair("CALLSLIP_SESSION_ID", "session-1"),
                                          Pair("CALLSLIP_AGENT_ID", "agent-1")));
}

TEST(AgentEnvironmentTest, OnlyNamedSecretsArePassedOn) {
  for (const char* named : kSecrets) {
    const Environment agent = AgentEnvironment(Runner(), {.env_from = {named, "THERE_IS_NONE"}});
    for (const char* name : kSecrets) {
      EXPECT_EQ(agent.contains(name), name == std::string(named)) << name;
    }
    EXPECT_FALSE(agent.contains("THERE_IS_NONE"));
    EXPECT_EQ(agent.at(named), absl::StrCat("marker of ", named));
  }
}

TEST(AgentEnvironmentTest, ConfiguredVariablesOverrideRunnersButNotReservedOnes) {
  const Environment agent =
      AgentEnvironment(Runner(), {.env = {{"HOME", "/srv"},
                                          {"TERM", "xterm"},
                                          {"CALLSLIP_SESSION_ID", "forged"},
                                          {"HTTPS_PROXY", "http://configured"},
                                          {"CALLSLIP_AGENT_ID", "forged"}},
                                  .env_from = {"HTTPS_PROXY"},
                                  .session_id = "session-1"});
  EXPECT_EQ(agent.at("HOME"), "/srv");
  EXPECT_EQ(agent.at("TERM"), "xterm");
  EXPECT_EQ(agent.at("HTTPS_PROXY"), "http://configured");
  EXPECT_EQ(agent.at("CALLSLIP_SESSION_ID"), "session-1");
  EXPECT_FALSE(agent.contains("CALLSLIP_AGENT_ID"));
}

TEST(AgentEnvironmentTest, PathIsNeverMissing) {
  EXPECT_THAT(AgentEnvironment({}, {}),
              ElementsAre(Pair("PATH", "/usr/local/bin:/usr/bin:/bin"), Pair("TERM", "dumb")));
}

TEST(AgentEnvironmentTest, RoundTripsThroughParseAndFormat) {
  const char* const variables[] = {"B=2", "A=1=1", "EMPTY=", nullptr};
  EXPECT_THAT(FormatEnvironment(ParseEnvironment(variables)),
              ElementsAre("A=1=1", "B=2", "EMPTY="));
}

TEST(AgentEnvironmentTest, FindsProgramsAsExecDoes) {
  const Environment environment = {{"PATH", "/nonexistent::/etc:/bin"}};
  EXPECT_EQ(FindProgram("sh", environment), "/bin/sh");
  EXPECT_EQ(FindProgram("/bin/sh", {}), "/bin/sh");
  EXPECT_EQ(FindProgram("bin/sh", {}, "/"), "//bin/sh");
  EXPECT_EQ(FindProgram("passwd", {{"PATH", "/etc"}}), std::nullopt);  // Not executable,
  EXPECT_EQ(FindProgram("ssl", {{"PATH", "/etc"}}), std::nullopt);     // a directory,
  EXPECT_EQ(FindProgram("no-such-agent", environment), std::nullopt);
  EXPECT_EQ(FindProgram("", environment), std::nullopt);
  EXPECT_EQ(FindProgram("sh", {}), std::nullopt);
}

TEST(AgentEnvironmentTest, WrapperGoesFirst) {
  EXPECT_THAT(Wrapped({"bwrap", "--"}, {"agent", "acp"}),
              ElementsAre("bwrap", "--", "agent", "acp"));
  EXPECT_THAT(Wrapped({}, {"agent"}), ElementsAre("agent"));
}

}  // namespace
}  // namespace callslip::runner
