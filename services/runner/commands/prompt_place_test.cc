#include "runner/commands/prompt_place.h"

#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::runner {
namespace {

using testing::HasSubstr;

class PromptPlaceTest : public testing::Test {
 protected:
  PromptPlaceTest() {
    RunnerConfig& config = loaded_.config;
    config.agents["absent"].command = {"no-such-agent"};
    config.agents["first"].command = {"sh"};
    config.agents["second"].command = {"sh"};
    config.workspaces["a"] = {.dir = "/var", .agents = {"second"}};
    config.workspaces["b"] = {.dir = "/tmp"};
  }
  std::string Place() {
    const auto place = PlaceOfPrompt(loaded_, {{"PATH", "/usr/bin:/bin"}});
    if (!place.ok()) return std::string(place.status().message());
    return place->agent + " in " + place->directory;
  }

  LoadedConfig loaded_;
};

TEST_F(PromptPlaceTest, IsFirstPairThatMatchesAndCanBeStarted) {
  EXPECT_EQ(Place(), "first in /tmp");
}

TEST_F(PromptPlaceTest, NamedAgentAndWorkspaceTakePrecedence) {
  loaded_.agent = "second";
  EXPECT_EQ(Place(), "second in /var");
  loaded_.workspace = "b";
  EXPECT_EQ(Place(), "second in /tmp");
  loaded_.agent = "";
  EXPECT_EQ(Place(), "first in /tmp");
}

TEST_F(PromptPlaceTest, UnusableChoiceIsReported) {
  loaded_.agent = "first";
  loaded_.workspace = "a";
  EXPECT_EQ(Place(), "workspace a does not name first among its `agents`");
  loaded_.agent = "absent";
  EXPECT_THAT(Place(), HasSubstr("agent absent: \"no-such-agent\" is not in"));
  loaded_.agent = "first";
  loaded_.workspace = "c";
  loaded_.config.workspaces["c"] = {.dir = "/no/such"};
  EXPECT_THAT(Place(), HasSubstr("/no/such does not exist"));
  loaded_.config.agents.clear();
  EXPECT_THAT(Place(), HasSubstr("prompt needs an agent and a folder"));
}

}  // namespace
}  // namespace callslip::runner
