#include "runner/plan_from_config.h"

#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace callslip::runner {
namespace {

RunnerConfig Config() {
  RunnerConfig config;
  config.gateway = "http://127.0.0.1:7890/";
  config.agents["one"].command = {"one", "acp"};
  config.agents["shared"].command = {"shared"};
  config.agents["shared"].sessions_per_process = 4;
  config.agents["shared"].mcp = {};
  config.workspaces["src"].dir = "/src";
  config.workspaces["inner"].dir = "/src/inner";
  config.workspaces["inner"].agents = {"one"};
  return config;
}

v1::Session Session(const std::string& agent, const std::string& directory) {
  v1::Session session;
  session.set_session_id("s");
  session.set_acp_server(agent);
  session.set_working_dir(directory);
  return session;
}

std::optional<SessionPlan> Plan(const RunnerConfig& config, const RunnerPlace& place,
                                const v1::Session& session) {
  return PlanOf(config, std::make_shared<AgentDirectories>(config), place, session);
}

std::string WorkspaceOf(const std::string& agent, const std::string& directory) {
  const RunnerConfig config = Config();
  const auto* workspace = FindWorkspace(config, agent, directory);
  return workspace == nullptr ? "" : workspace->first;
}

TEST(PlanFromConfigTest, InnermostWorkspaceOfAgentIsUsed) {
  EXPECT_EQ(WorkspaceOf("one", "/src"), "src");
  EXPECT_EQ(WorkspaceOf("one", "/src/a"), "src");
  EXPECT_EQ(WorkspaceOf("one", "/src/inner/a"), "inner");
  EXPECT_EQ(WorkspaceOf("shared", "/src/inner/a"), "src");
  for (const char* none : {"", "src", "/", "/src-evil", "/src/../etc", "/src/inner/..", "/sr"}) {
    EXPECT_EQ(WorkspaceOf("one", none), "") << none;
  }
}

// All pairs of confinements: an agent that may do more than its parent cannot be its child.
TEST(PlanFromConfigTest, ChildrenAreConfinedAtLeastAsStrictly) {
  RunnerConfig config;
  for (int set = 0; set < 16; ++set) {
    AgentConfig& agent = config.agents[absl::StrCat("a", set)];
    if ((set & 1) != 0) agent.wrapper = {"bwrap"};
    agent.shell_commands = (set & 2) != 0;
    agent.fs = (set & 4) != 0;
    agent.terminal = (set & 8) != 0;
  }
  config.agents["else"].wrapper = {"bwrap", "--share-net"};
  for (const auto& [parent_name, parent] : config.agents) {
    const std::vector<std::string> children = ChildrenOf(config, parent_name);
    for (const auto& [name, child] : config.agents) {
      SCOPED_TRACE(absl::StrCat(name, " of ", parent_name));
      const bool is_child = absl::c_linear_search(children, name);
      bool may = name != parent_name;
      if (child.shell_commands && !parent.shell_commands) may = false;
      if (!parent.wrapper.empty() && child.wrapper != parent.wrapper) may = false;
      if (!parent.wrapper.empty() && child.fs && !parent.fs) may = false;
      if (!parent.wrapper.empty() && child.terminal && !parent.terminal) may = false;
      EXPECT_EQ(is_child, may);
    }
  }
  config.agents["a1"].children = {"a0", "a2"};
  EXPECT_EQ(ChildrenOf(config, "a1"), config.agents["a1"].children);
}

TEST(PlanFromConfigTest, OfferNamesAllowedChildrenAndTheirWorkspaces) {
  RunnerConfig config = Config();
  config.agents["one"].wrapper = {"bwrap"};
  config.workspaces["inner"].children_in = {"src"};
  const RunnerSetup setup = SetupOf(config, RunnerPlace());
  ASSERT_EQ(setup.offer.agents_size(), 2);
  EXPECT_EQ(setup.offer.agents(0).children_size(), 0);
  ASSERT_EQ(setup.offer.agents(1).children_size(), 1);
  EXPECT_EQ(setup.offer.agents(1).children(0), "one");
  ASSERT_EQ(setup.offer.workspaces(0).children_in_size(), 1);
  EXPECT_EQ(setup.offer.workspaces(0).children_in(0), "src");
  EXPECT_EQ(setup.offer.workspaces(1).children_in_size(), 0);
}

TEST(PlanFromConfigTest, UnknownAgentOrWorkspaceHasNoPlan) {
  const RunnerPlace place;
  EXPECT_FALSE(Plan(Config(), place, Session("another", "/src")).has_value());
  EXPECT_FALSE(Plan(Config(), place, Session("one", "/elsewhere")).has_value());
}

// The way leads through every workspace that contains the folder, whichever agents may work there.
TEST(PlanFromConfigTest, FolderIsReachedThroughItsWorkspaces) {
  RunnerConfig config = Config();
  config.workspaces["deep"].dir = "/src/inner/a/b/";
  config.workspaces["src"].additional_directories = {"/src/inner/lib", "/opt/lib"};
  const auto plan = Plan(config, RunnerPlace(), Session("shared", "/src/inner/a/b/c"));
  ASSERT_TRUE(plan.has_value());
  const std::vector<FolderWay> ways = {
      {"/src", "/src/inner", "/src/inner/a/b/", "/src/inner/a/b/c"},
  };
  EXPECT_EQ(plan->find_workplace().folders, ways);
  config.workspaces.erase("deep");
  const auto other = Plan(config, RunnerPlace(), Session("shared", "/src/x"));
  ASSERT_TRUE(other.has_value());
  const std::vector<FolderWay> more = {
      {"/src", "/src/x"},
      {"/src", "/src/inner", "/src/inner/lib"},
      {"/opt/lib"},
  };
  EXPECT_EQ(other->find_workplace().folders, more);
}

// A link in the folder of the agent that has created the session leads it nowhere else.
TEST(PlanFromConfigTest, ChildFolderIsReachedThroughEveryParentFolder) {
  v1::Session child = Session("one", "/src/app/sub/dir");
  child.set_parent_session_id("parent");
  const auto plan = Plan(Config(), RunnerPlace(), child);
  ASSERT_TRUE(plan.has_value());
  const std::vector<FolderWay> ways = {
      {"/src", "/src", "/src/app", "/src/app/sub", "/src/app/sub/dir"}};
  EXPECT_EQ(plan->find_workplace().folders, ways);
}

TEST(PlanFromConfigTest, WrapperIsStartedByItsAbsolutePath) {
  RunnerConfig config = Config();
  config.agents["one"].wrapper = {"env", "-i"};
  auto plan = Plan(config, RunnerPlace(), Session("one", "/src"));
  ASSERT_TRUE(plan.has_value());
  EXPECT_FALSE(plan->find_workplace().problem.has_value());
  const std::vector<std::string> wrapper = {"/usr/bin/env", "-i"};
  EXPECT_EQ(plan->find_workplace().wrapper, wrapper);
  EXPECT_EQ(plan->find_workplace().path, "");
  // The programs that the wrapper runs are not looked up in a workspace either.
  config.agents["one"].env["PATH"] = "/src/bin:/usr/bin:/bin";
  plan = Plan(config, RunnerPlace(), Session("one", "/src"));
  ASSERT_TRUE(plan.has_value());
  const std::vector<std::string> chain = {"/usr/bin/env", "-i", "env", "--",
                                          "PATH=/src/bin:/usr/bin:/bin"};
  EXPECT_EQ(plan->find_workplace().wrapper, chain);
  EXPECT_EQ(plan->find_workplace().path, "/usr/bin:/bin");
  // Its libraries are not loaded from a workspace either.
  config.agents["one"].env = {{"LD_PRELOAD", "/src/lib.so"}, {"KEY", "k"}};
  plan = Plan(config, RunnerPlace(), Session("one", "/src"));
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->find_workplace().wrapper.back(), "LD_PRELOAD=/src/lib.so");
  EXPECT_EQ(plan->find_workplace().kept_back, std::vector<std::string>{"LD_PRELOAD"});
  // An agent is not started without its wrapper.
  config.agents["one"].wrapper = {"no-such-wrapper"};
  plan = Plan(config, RunnerPlace(), Session("one", "/src"));
  ASSERT_TRUE(plan.has_value());
  const Workplace place = plan->find_workplace();
  ASSERT_TRUE(place.problem.has_value());
  EXPECT_EQ(place.problem->reason, "command_missing");
}

TEST(PlanFromConfigTest, SharedProcessNamesNoSession) {
  const RunnerPlace place;
  const auto own = Plan(Config(), place, Session("one", "/src"));
  ASSERT_TRUE(own.has_value());
  EXPECT_EQ(own->mcp_url, "http://127.0.0.1:7890/mcp");
  const auto names = [](const SessionPlan& plan) {
    std::string all;
    for (const std::string& each : plan.settings.command.environment) all += each + "\n";
    return all;
  };
  EXPECT_NE(names(*own).find("CALLSLIP_SESSION_ID=s\n"), std::string::npos);
  const auto shared = Plan(Config(), place, Session("shared", "/src"));
  ASSERT_TRUE(shared.has_value());
  EXPECT_EQ(shared->want.sessions_per_process, 4);
  EXPECT_EQ(shared->mcp_url, "");
  EXPECT_EQ(names(*shared).find("CALLSLIP_SESSION_ID"), std::string::npos);
}

}  // namespace
}  // namespace callslip::runner
