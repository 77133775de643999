#include "runner/session_plans.h"

#include <string>

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

std::string WorkspaceOf(const std::string& agent, const std::string& directory) {
  const RunnerConfig config = Config();
  const auto* workspace = FindWorkspace(config, agent, directory);
  return workspace == nullptr ? "" : workspace->first;
}

TEST(SessionPlansTest, TheInnermostWorkspaceOfTheAgentCounts) {
  EXPECT_EQ(WorkspaceOf("one", "/src"), "src");
  EXPECT_EQ(WorkspaceOf("one", "/src/a"), "src");
  EXPECT_EQ(WorkspaceOf("one", "/src/inner/a"), "inner");
  EXPECT_EQ(WorkspaceOf("shared", "/src/inner/a"), "src");
  for (const char* none : {"", "src", "/", "/src-evil", "/src/../etc", "/src/inner/..", "/sr"}) {
    EXPECT_EQ(WorkspaceOf("one", none), "") << none;
  }
}

TEST(SessionPlansTest, WhatIsNoneOfOursHasNoPlan) {
  const RunnerPlace place;
  EXPECT_FALSE(PlanOf(Config(), place, Session("another", "/src")).has_value());
  EXPECT_FALSE(PlanOf(Config(), place, Session("one", "/elsewhere")).has_value());
}

TEST(SessionPlansTest, AProcessOfSeveralNamesNoSession) {
  const RunnerPlace place;
  const auto own = PlanOf(Config(), place, Session("one", "/src"));
  ASSERT_TRUE(own.has_value());
  EXPECT_EQ(own->mcp_url, "http://127.0.0.1:7890/mcp");
  const auto names = [](const SessionPlan& plan) {
    std::string all;
    for (const std::string& each : plan.settings.command.environment) all += each + "\n";
    return all;
  };
  EXPECT_NE(names(*own).find("CALLSLIP_SESSION_ID=s\n"), std::string::npos);
  const auto shared = PlanOf(Config(), place, Session("shared", "/src"));
  ASSERT_TRUE(shared.has_value());
  EXPECT_EQ(shared->want.sessions_per_process, 4);
  EXPECT_EQ(shared->mcp_url, "");
  EXPECT_EQ(names(*shared).find("CALLSLIP_SESSION_ID"), std::string::npos);
}

}  // namespace
}  // namespace callslip::runner
