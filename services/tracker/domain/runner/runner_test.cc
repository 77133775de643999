#include "tracker/domain/runner/runner.h"

#include <string>

#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tracker/domain/runner/runner_limits.h"

namespace callslip::tracker {
namespace {

using absl::StatusCode;

TEST(WorkspaceDirTest, HoldsItselfAndWhatIsBelow) {
  EXPECT_TRUE(IsInside("/web", "/web"));
  EXPECT_TRUE(IsInside("/web/app/src", "/web"));
  EXPECT_TRUE(IsInside("/web/app", "/web/"));
  EXPECT_TRUE(IsInside("//web/./app/", "/web"));
  EXPECT_TRUE(IsInside("/anything", "/"));
  EXPECT_FALSE(IsInside("/", "/web"));
  EXPECT_FALSE(IsInside("/home/web", "/web"));
}

TEST(WorkspaceDirTest, GoesByComponentsAndNotByPrefix) {
  EXPECT_FALSE(IsInside("/web-evil", "/web"));
  EXPECT_FALSE(IsInside("/website/a", "/web"));
}

TEST(WorkspaceDirTest, HoldsNothingThatLeadsUpwardsOrIsRelative) {
  EXPECT_FALSE(IsInside("/web/../etc", "/web"));
  EXPECT_FALSE(IsInside("/web/a/..", "/web"));
  EXPECT_FALSE(IsInside("web", "/web"));
  EXPECT_FALSE(IsInside("", "/"));
  EXPECT_FALSE(IsInside("/web", "web"));
  EXPECT_FALSE(IsInside("/web/../x", "/web/.."));
}

RunnerOffer Offer() {
  return {.runner_id = "r",
          .version = "1",
          .agents = {{"claude", "Claude", ""}, {"codex", "Codex", "its command is missing"}},
          .workspaces = {{"web", "/web", {}}, {"lib", "/lib", {"codex"}}},
          .max_agents = 2};
}

TEST(RunnerFitTest, NeedsTheAgentAndAWorkspaceThatAllowsIt) {
  EXPECT_EQ(FitOf(Offer(), "claude", "/web/app"), Fit::kGood);
  EXPECT_EQ(FitOf(Offer(), "codex", "/web/app"), Fit::kProblem);
  EXPECT_EQ(FitOf(Offer(), "codex", "/lib"), Fit::kProblem);
  EXPECT_EQ(FitOf(Offer(), "claude", "/lib"), Fit::kNone);
  EXPECT_EQ(FitOf(Offer(), "claude", "/elsewhere"), Fit::kNone);
  EXPECT_EQ(FitOf(Offer(), "gemini", "/web"), Fit::kNone);
  EXPECT_EQ(FitOf(Offer(), "", "/web"), Fit::kNone);
}

TEST(RunnerOfferTest, IsRefusedWhereItIsNoneThatCouldServe) {
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
