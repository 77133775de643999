#include "runner/config.h"

#include <fstream>
#include <iterator>
#include <regex>
#include <string>

#include "absl/strings/match.h"
#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runner/config_keys.h"

namespace callslip::runner {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

constexpr char kWhole[] = R"(
tracker: unix:/run/callslip/tracker.sock
gateway: http://127.0.0.1:7890
token_file: /etc/callslip/runner.token
tls_ca: /etc/callslip/ca.pem
runner_id: build-1
log_level: debug
limits: {running_agents: 3, starting_agents: 1, sessions_per_process: 2, idle_stop: 90s}
agents:
  opencode:
    title: OpenCode
    command: [opencode, acp]
    wrapper: [bwrap, --ro-bind, /, /]
    env: {OPENCODE_CONFIG: /etc/opencode.json, EMPTY: }
    env_from: [HTTPS_PROXY]
    auth_method: api-key
    start_timeout: 2m
    turn_idle_timeout: 10m
    mcp: []
    fs: false
    terminal: false
    shell_commands: true
    sessions_per_process: 8
    children: [plain]
  plain: {command: [plain]}
workspaces:
  web:
    dir: /src/web
    agents: [opencode]
    permissions: {default: reject_once, read: allow_once, execute: ask}
    parents_allow: true
    additional_directories: [/src/lib]
    max_running: 2
    allow_fresh: true
    children_in: [app]
  app: {dir: /src/app}
)";

TEST(RunnerConfigTest, ReadsEveryKey) {
  const LoadedConfig loaded = ParseRunnerConfig(kWhole, "runner.yaml");
  EXPECT_THAT(loaded.problems, IsEmpty());
  const RunnerConfig& config = loaded.config;
  EXPECT_EQ(config.tracker.unix_path, "/run/callslip/tracker.sock");
  EXPECT_EQ(config.token_file, "/etc/callslip/runner.token");
  EXPECT_EQ(config.tls_ca, "/etc/callslip/ca.pem");
  EXPECT_EQ(config.TrackerTls(), std::nullopt);  // None over a socket.
  EXPECT_EQ(config.runner_id, "build-1");
  EXPECT_EQ(config.log_level, "debug");
  EXPECT_EQ(config.limits.agents.running_agents, 3);
  EXPECT_EQ(config.limits.agents.starting_agents, 1);
  EXPECT_EQ(config.limits.agents.idle_stop, absl::Seconds(90));
  EXPECT_EQ(config.limits.sessions_per_process, 2);

  ASSERT_EQ(config.agents.size(), 2u);
  const AgentConfig& agent = config.agents.at("opencode");
  EXPECT_EQ(agent.title, "OpenCode");
  EXPECT_THAT(agent.command, ElementsAre("opencode", "acp"));
  EXPECT_THAT(agent.wrapper, ElementsAre("bwrap", "--ro-bind", "/", "/"));
  EXPECT_THAT(agent.env,
              ElementsAre(Pair("EMPTY", ""), Pair("OPENCODE_CONFIG", "/etc/opencode.json")));
  EXPECT_THAT(agent.env_from, ElementsAre("HTTPS_PROXY"));
  EXPECT_EQ(agent.auth_method, "api-key");
  EXPECT_EQ(agent.start_timeout, absl::Minutes(2));
  EXPECT_EQ(agent.turn_idle_timeout, absl::Minutes(10));
  EXPECT_THAT(agent.mcp, IsEmpty());
  EXPECT_FALSE(agent.fs);
  EXPECT_FALSE(agent.terminal);
  EXPECT_TRUE(agent.shell_commands);
  EXPECT_EQ(agent.sessions_per_process, 8);
  EXPECT_THAT(agent.children, ElementsAre("plain"));

  ASSERT_EQ(config.workspaces.size(), 2u);
  const WorkspaceConfig& workspace = config.workspaces.at("web");
  EXPECT_EQ(workspace.dir, "/src/web");
  EXPECT_THAT(workspace.agents, ElementsAre("opencode"));
  EXPECT_EQ(workspace.permissions.otherwise, PermissionRule::kRejectOnce);
  EXPECT_THAT(workspace.permissions.by_kind, ElementsAre(Pair("execute", PermissionRule::kAsk),
                                                         Pair("read", PermissionRule::kAllowOnce)));
  EXPECT_THAT(workspace.additional_directories, ElementsAre("/src/lib"));
  EXPECT_EQ(workspace.max_running, 2);
  EXPECT_TRUE(workspace.allow_fresh);
  EXPECT_TRUE(workspace.parents_allow);
  EXPECT_THAT(workspace.children_in, ElementsAre("app"));
}

TEST(RunnerConfigTest, NumberOfChildWorkspacesIsLimited) {
  std::string text = "workspaces: {w: {dir: /w, children_in: [";
  for (int i = 0; i < 16; ++i) text += "x, ";
  EXPECT_THAT(ParseRunnerConfig(text + "]}}", "r.yaml").problems, IsEmpty());
  EXPECT_THAT(ParseRunnerConfig(text + "y]}}", "r.yaml").problems,
              ElementsAre("r.yaml: workspaces.w.children_in: more than 16"));
}

// A key that kWhole does not have was forgotten above.
TEST(RunnerConfigTest, WholeConfigurationHasEveryKey) {
  for (const std::string& row : RunnerConfigRows()) {
    const size_t begin = row.find_first_of('`') + 1;
    std::string key = row.substr(begin, row.find('`', begin) - begin);
    key = key.substr(key.rfind('.') == std::string::npos ? 0 : key.rfind('.') + 1);
    EXPECT_THAT(kWhole, HasSubstr(key + ":"));
  }
}

TEST(RunnerConfigTest, ReadsRunnerSectionOfSharedFile) {
  const LoadedConfig loaded =
      ParseRunnerConfig("gateway: {listen: 1}\nrunner:\n  runner_id: here\n", "callslip.yaml");
  EXPECT_THAT(loaded.problems, IsEmpty());
  EXPECT_EQ(loaded.config.runner_id, "here");
}

TEST(RunnerConfigTest, EmptyFileIsValid) {
  const LoadedConfig loaded = ParseRunnerConfig("", "runner.yaml");
  EXPECT_THAT(loaded.problems, IsEmpty());
  EXPECT_EQ(loaded.config.tracker.ToString(), "127.0.0.1:7900");
  EXPECT_EQ(loaded.config.limits.agents.running_agents, 8);
}

TEST(RunnerConfigTest, ReportsEveryProblemWithItsLine) {
  const LoadedConfig loaded = ParseRunnerConfig(R"(traker: 127.0.0.1:7900
limits:
  running_agents: 0
  idle_stop: soon
agents:
  opencode:
    comand: [opencode]
    fs: perhaps
    mcp: callslip
  opencode: {}
  "no name": {}
workspaces:
  web:
    permissions: {raed: ask}
  app:
    permissions: {read: allow}
  list: [1]
runner_id: "a b"
log_level: loud
quite_another: 1
)",
                                                "r.yaml");
  EXPECT_THAT(
      loaded.problems,
      ElementsAre(
          "r.yaml:1: unknown key \"traker\" in the file, did you mean \"tracker\"?",
          "r.yaml:3: bad value for \"running_agents\" in limits: write a whole number from 1 to "
          "1000",
          "r.yaml:4: bad value for \"idle_stop\" in limits: write a duration such as 90s or 15m, "
          "from 10s to 720h",
          "r.yaml:7: unknown key \"comand\" in agent opencode, did you mean \"command\"?",
          "r.yaml:8: bad value for \"fs\" in agent opencode: write true or false",
          "r.yaml:9: bad value for \"mcp\" in agent opencode: write a list, such as [opencode, "
          "acp]",
          "r.yaml:10: \"opencode\" occurs twice in agents",
          "r.yaml:11: \"no name\" is not a name of one of the agents: write 1 to 64 letters, "
          "digits, "
          "`.`, `_`, `-`",
          "r.yaml:14: bad value for \"permissions\" in workspace web: \"raed\" is not a kind of "
          "tool, "
          "did you mean \"read\"?; there are read, edit, delete, move, search, execute, think, "
          "fetch, other, default",
          "r.yaml:16: bad value for \"permissions\" in workspace app: \"allow\" for read: write "
          "one "
          "of ask, allow_once, allow_always, reject_once, reject_always",
          "r.yaml:17: workspace list has to hold `key: value` lines",
          "r.yaml:19: bad value for \"log_level\" in the file: write one of debug, info, warning, "
          "error",
          "r.yaml:20: unknown key \"quite_another\" in the file",
          "r.yaml: runner_id \"a b\": write 1 to 64 letters, digits, `_`, `-`"));
}

TEST(RunnerConfigTest, InvalidYamlIsReported) {
  EXPECT_THAT(ParseRunnerConfig("a: 1\nb: [", "r.yaml").problems,
              ElementsAre(testing::StartsWith("r.yaml:")));
  EXPECT_THAT(ParseRunnerConfig("- a", "r.yaml").problems,
              ElementsAre("r.yaml:1: the file has to hold `key: value` lines"));
}

TEST(RunnerConfigTest, MissingFileIsNotFound) {
  EXPECT_TRUE(absl::IsNotFound(ReadRunnerConfig("/no/such/runner.yaml").status()));
}

TEST(RunnerConfigTest, TlsToTrackerUsesConfiguredAuthorities) {
  RunnerConfig config;
  EXPECT_EQ(config.TrackerTls(), std::nullopt);
  config.tls_ca = "ca.pem";
  ASSERT_TRUE(config.TrackerTls().has_value());
  EXPECT_EQ(config.TrackerTls()->authorities, "ca.pem");
}

TEST(RunnerConfigTest, IdIsDerivedFromHostNameUnlessConfigured) {
  RunnerConfig config;
  EXPECT_EQ(RunnerIdOf(config, "build.example.org"), "build-example-org");
  EXPECT_EQ(RunnerIdOf(config, ""), "runner");
  EXPECT_EQ(RunnerIdOf(config, std::string(100, 'x')), std::string(64, 'x'));
  config.runner_id = "mine";
  EXPECT_EQ(RunnerIdOf(config, "build"), "mine");
}

std::string FileText(const std::string& name) {
  std::ifstream file(std::string(CALLSLIP_SOURCE_DIR "/") + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string RunnerDoc() { return FileText("docs/runner.md"); }

TEST(RunnerConfigTest, DocumentationListsExactlyTheKeys) {
  const std::string doc = RunnerDoc();
  std::string rows = "|---|---|---|---|\n";
  for (const std::string& row : RunnerConfigRows()) rows += row + "\n";
  EXPECT_THAT(doc, HasSubstr(rows + "\n")) << "docs/runner.md has to hold these lines:\n" << rows;
}

// Readers may copy it.
TEST(RunnerConfigTest, DocumentedExampleIsValid) {
  const std::string doc = RunnerDoc();
  const size_t begin = doc.find("```yaml\n");
  ASSERT_NE(begin, std::string::npos);
  const size_t text = begin + 8;
  const LoadedConfig loaded =
      ParseRunnerConfig(doc.substr(text, doc.find("```", text) - text), "example");
  EXPECT_THAT(loaded.problems, IsEmpty());
  EXPECT_FALSE(loaded.config.agents.empty());
  EXPECT_FALSE(loaded.config.workspaces.empty());
}

// The file has no agents until its examples are uncommented. Then they are valid.
TEST(RunnerConfigTest, PackagedFileIsValid) {
  const std::string text = FileText("deploy/debian/runner.yaml");
  const LoadedConfig idle = ParseRunnerConfig(text, "runner.yaml");
  EXPECT_THAT(idle.problems, IsEmpty());
  EXPECT_EQ(idle.config.tracker.ToString(), "unix:/run/callslip/tracker.sock");
  EXPECT_TRUE(idle.config.agents.empty());
  EXPECT_TRUE(idle.config.workspaces.empty());

  static const std::regex kMark("\n#(  +[a-z_]+:)");
  const LoadedConfig used =
      ParseRunnerConfig(std::regex_replace(text, kMark, "\n$1"), "runner.yaml");
  EXPECT_THAT(used.problems, IsEmpty());
  EXPECT_FALSE(used.config.agents.empty());
  EXPECT_FALSE(used.config.workspaces.empty());
}

}  // namespace
}  // namespace callslip::runner
