#include "tracker/domain/runner/runner.h"

#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/directories.h"
#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tracker/domain/runner/runner_limits.h"

namespace callslip::tracker {
namespace {

using absl::StatusCode;

RunnerOffer Offer() {
  return {.runner_id = "r",
          .version = "1",
          .agents = {{"claude", "Claude", ""}, {"codex", "Codex", "its command is missing"}},
          .workspaces = {{"web", "/web", {}}, {"lib", "/lib", {"codex"}}},
          .max_agents = 2};
}

TEST(RunnerFitTest, NeedsAgentAndWorkspaceThatAllowsIt) {
  EXPECT_EQ(FitOf(Offer(), {"claude", "/web/app"}), Fit::kGood);
  EXPECT_EQ(FitOf(Offer(), {"codex", "/web/app"}), Fit::kProblem);
  EXPECT_EQ(FitOf(Offer(), {"codex", "/lib"}), Fit::kProblem);
  EXPECT_EQ(FitOf(Offer(), {"claude", "/lib"}), Fit::kNone);
  EXPECT_EQ(FitOf(Offer(), {"claude", "/elsewhere"}), Fit::kNone);
  EXPECT_EQ(FitOf(Offer(), {"gemini", "/web"}), Fit::kNone);
  EXPECT_EQ(FitOf(Offer(), {"", "/web"}), Fit::kNone);
}

TEST(WorkspaceOfTest, ReturnsInnermostWorkspaceThatAllowsAgent) {
  RunnerOffer offer = Offer();
  offer.workspaces.push_back({"inner", "/web/inner", {"codex"}});
  offer.workspaces.push_back({"innermost", "//web/./inner/most", {"codex"}});
  const auto name = [&](const AgentPlace& place) {
    const Workspace* workspace = WorkspaceOf(offer, place);
    return workspace == nullptr ? "" : workspace->name;
  };
  EXPECT_EQ(name({"codex", "/web"}), "web");
  EXPECT_EQ(name({"codex", "/web/inner"}), "inner");
  EXPECT_EQ(name({"codex", "/web/inner/most/of"}), "innermost");
  EXPECT_EQ(name({"claude", "/web/inner/most"}), "web");
  EXPECT_EQ(name({"claude", "/lib"}), "");
  EXPECT_EQ(name({"gemini", "/web"}), "");
}

// Every agent at every place is tried as the parent and as the child. The allowed pairs are listed
// here, and all others are refused.
TEST(ChildRulesTest, ChildHasRulesOfItsParentUnlessTheyAllowMore) {
  const RunnerOffer offer{.runner_id = "r",
                          .version = "1",
                          .agents = {{"boxed", "", "", {}},
                                     {"open", "", "", {"boxed", "shell"}},
                                     {"shell", "", "", {"boxed", "open"}}},
                          .workspaces = {{"strict", "/strict", {}, {}},
                                         {"lax", "/strict/lax", {"open", "shell"}, {"strict"}},
                                         {"other", "/other", {}, {}}},
                          .max_agents = 2};
  const std::set<std::string> workspaces = {"strict>strict", "other>other", "lax>lax",
                                            "lax>strict"};
  const std::set<std::string> agents = {"boxed>boxed", "open>open",   "open>boxed", "open>shell",
                                        "shell>shell", "shell>boxed", "shell>open"};
  int allowed = 0;
  for (const AgentOffer& parent_agent : offer.agents) {
    for (const AgentOffer& child_agent : offer.agents) {
      for (const char* parent_dir : {"/strict/app", "/strict/lax/app", "/other"}) {
        for (const char* child_dir : {"/strict/app/src", "/strict/lax/app", "/other/app"}) {
          const AgentPlace parent{parent_agent.name, parent_dir};
          const AgentPlace child{child_agent.name, child_dir};
          SCOPED_TRACE(absl::StrCat(parent.acp_server, " ", parent_dir, " > ", child.acp_server,
                                    " ", child_dir));
          const std::string way =
              absl::StrCat(WorkspaceOf(offer, parent)->name, ">", WorkspaceOf(offer, child)->name);
          const absl::Status checked = CheckChild(offer, parent, child);
          const bool is_own = WorkspaceOf(offer, parent) == WorkspaceOf(offer, child);
          if (!workspaces.contains(way) || (is_own && !IsInside(child_dir, parent_dir))) {
            EXPECT_THAT(checked,
                        FailsWith(StatusCode::kFailedPrecondition, "workspace_not_allowed"));
          } else if (!agents.contains(absl::StrCat(parent.acp_server, ">", child.acp_server))) {
            EXPECT_THAT(checked, FailsWith(StatusCode::kFailedPrecondition, "agent_not_allowed"));
          } else {
            EXPECT_OK(checked);
            ++allowed;
          }
        }
      }
    }
  }
  EXPECT_GT(allowed, 10);
  for (const AgentPlace& nowhere : {AgentPlace{"open", "/"}, AgentPlace{"gone", "/other"},
                                    AgentPlace{"", "/other"}, AgentPlace{"open", "/other/.."}}) {
    EXPECT_THAT(CheckChild(offer, {"open", "/other"}, nowhere),
                FailsWith(StatusCode::kFailedPrecondition, "no_runner"));
    EXPECT_THAT(CheckChild(offer, nowhere, {"open", "/other"}),
                FailsWith(StatusCode::kFailedPrecondition, "no_runner"));
  }
}

TEST(ChildRulesTest, ChildInSameWorkspaceStaysInsideDirectoryOfParent) {
  const RunnerOffer offer = Offer();
  const auto check = [&](const std::string& dir) {
    return CheckChild(offer, {"claude", "/web/app"}, {"claude", dir});
  };
  for (const char* dir : {"/web/app", "/web/app/", "/web/./app", "/web/app/src"}) {
    EXPECT_OK(check(dir)) << dir;
  }
  for (const char* dir : {"/web", "/web/application", "/web/lib"}) {
    EXPECT_THAT(check(dir), FailsWith(StatusCode::kFailedPrecondition, "workspace_not_allowed"));
  }
}

TEST(RunnerOfferTest, IsRefusedWhenInvalid) {
  EXPECT_OK(CheckOffer(Offer()));
  const auto is_refused = [](auto change) {
    RunnerOffer offer = Offer();
    change(offer);
    EXPECT_THAT(CheckOffer(offer), FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
  };
  is_refused([](RunnerOffer& offer) { offer.runner_id = ""; });
  is_refused([](RunnerOffer& offer) { offer.runner_id = "a.b"; });
  is_refused([](RunnerOffer& offer) { offer.runner_id = std::string(65, 'r'); });
  is_refused([](RunnerOffer& offer) { offer.agents[0].name = "a b"; });
  is_refused([](RunnerOffer& offer) {
    offer.agents.resize(kMaxAgentsOfRunner + 1, {"a", "", ""});
  });
  is_refused([](RunnerOffer& offer) { offer.agents[0].children = {"a b"}; });
  is_refused(
      [](RunnerOffer& offer) { offer.agents[0].children.assign(kMaxAgentsOfRunner + 1, "a"); });
  is_refused([](RunnerOffer& offer) { offer.workspaces[0].children_in = {""}; });
  is_refused(
      [](RunnerOffer& offer) { offer.workspaces[0].children_in.assign(kMaxChildrenIn + 1, "w"); });
  is_refused([](RunnerOffer& offer) { offer.workspaces[0].name = ""; });
  is_refused([](RunnerOffer& offer) { offer.workspaces[0].dir = "web"; });
  is_refused([](RunnerOffer& offer) { offer.workspaces[0].dir = "/web/../etc"; });
  is_refused([](RunnerOffer& offer) {
    offer.workspaces.resize(kMaxWorkspacesOfRunner + 1, {"w", "/w", {}});
  });
  is_refused([](RunnerOffer& offer) { offer.max_agents = 0; });
}

}  // namespace
}  // namespace callslip::tracker
