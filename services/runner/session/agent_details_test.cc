#include "runner/session/agent_details.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::runner {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

Json Modes(const std::string& current) {
  return {{"currentModeId", current},
          {"availableModes", Json::array({{{"id", "ask"}}, {{"id", "act"}}})}};
}

Json Options(const std::string& model, bool brief) {
  return Json::array(
      {{{"id", "model"}, {"currentValue", model}}, {{"id", "brief"}, {"currentValue", brief}}});
}

TEST(AgentDetailsTest, TakesOnlyUpdatesAboutTheAgent) {
  AgentDetails details;
  EXPECT_TRUE(details.Take(AvailableCommands{Json::array()}));
  EXPECT_TRUE(details.Take(CurrentMode{"ask"}));
  EXPECT_TRUE(details.Take(ConfigOptions{Options("small", false)}));
  EXPECT_TRUE(details.Take(Usage{Json{{"used", 3}}}));
  EXPECT_FALSE(details.Take(SessionTitle{"t"}));
  EXPECT_FALSE(details.Take(OtherUpdate{}));
  EXPECT_EQ(details.usage(), (Json{{"used", 3}}));
  const Json told = Json::parse(details.ToText());
  EXPECT_EQ(told["modes"]["currentModeId"], "ask");
  EXPECT_EQ(told["commands"], Json::array());
  EXPECT_EQ(AgentDetails::Parse(details.ToText()).ToText(), details.ToText());
}

TEST(AgentDetailsTest, InvalidTextIsParsedAsEmpty) {
  for (const char* text : {"", "[1]", "{", "7"})
    EXPECT_EQ(AgentDetails::Parse(text).ToText(), "{}");
}

TEST(AgentDetailsTest, EarlierChoicesAreRestored) {
  AgentDetails before;
  before.SetModes(Modes("act"));
  before.SetConfigOptions(Options("large", true));
  AgentDetails now;
  now.SetModes(Modes("ask"));
  now.SetConfigOptions(Options("small", false));
  EXPECT_EQ(now.ModeToRestore(before), "act");
  EXPECT_THAT(now.OptionsToRestore(before),
              ElementsAre(Pair("model", "large"), Pair("brief", "true")));
  EXPECT_EQ(before.ModeToRestore(before), "");
  EXPECT_THAT(before.OptionsToRestore(before), IsEmpty());
  // A mode that no longer exists, and an agent that has reported nothing.
  before.Take(CurrentMode{"gone"});
  EXPECT_EQ(now.ModeToRestore(before), "");
  EXPECT_EQ(AgentDetails().ModeToRestore(before), "");
  EXPECT_THAT(now.OptionsToRestore({}), IsEmpty());
}

TEST(AgentDetailsTest, TooLargeDetailsAreOmitted) {
  AgentDetails details;
  details.SetModes(Modes("ask"));
  details.Take(AvailableCommands{Json::array({std::string(AgentDetails::kMaxBytes, 'x')})});
  const std::string text = details.ToText();
  EXPECT_LE(text.size(), AgentDetails::kMaxBytes);
  EXPECT_TRUE(Json::parse(text).contains("modes"));
  EXPECT_FALSE(Json::parse(text).contains("commands"));
}

}  // namespace
}  // namespace callslip::runner
