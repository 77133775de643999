#include "runner/session/shell_results.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::runner {
namespace {

using testing::HasSubstr;
using testing::Le;
using testing::SizeIs;

TEST(ShellResultsTest, StandOnLinesOfTheirOwn) {
  EXPECT_EQ(ShellResults({"one", "two\n", "three"}, 10'000), "one\ntwo\nthree");
  EXPECT_EQ(ShellResults({}, 10'000), "");
}

TEST(ShellResultsTest, WhatWasLostIsSaid) {
  EXPECT_EQ(ShellResults({"", "two"}, 10'000),
            "[the output of a command was lost: it is in the session's events]\ntwo");
}

TEST(ShellResultsTest, TheLongestAreCutWhereAllDoNotFit) {
  const std::string all = ShellResults(
      {std::string(300, 'a'), std::string(9'000, 'b'), std::string(8'000, 'c')}, 8'000);
  EXPECT_THAT(all, SizeIs(Le(8'000)));
  EXPECT_THAT(all, HasSubstr(std::string(300, 'a')));
  EXPECT_THAT(all, HasSubstr(std::string(3'500, 'b')));
  EXPECT_THAT(all, HasSubstr(std::string(3'500, 'c')));
  EXPECT_THAT(all, HasSubstr(" bytes more are in the session's events]"));
}

TEST(ShellResultsTest, ManyFitAsWell) {
  for (const size_t size : {0u, 1u, 100u, 200u, 255u, 256u, 20'000u}) {
    const std::vector<std::string> many(1'000, std::string(size, 'x'));
    EXPECT_THAT(ShellResults(many, 256'000), SizeIs(Le(256'000))) << size;
  }
}

TEST(ShellResultsTest, NoCharacterIsCut) {
  std::string text;
  for (int i = 0; i < 1'000; ++i) text += "\xE2\x82\xAC";
  for (size_t most = 1'000; most < 1'006; ++most) {
    const std::string all = ShellResults({text, text}, most);
    EXPECT_THAT(all, SizeIs(Le(most)));
    const size_t cut = all.find('[');
    EXPECT_EQ((cut - 1) % 3, 0u) << all.substr(0, cut);
  }
}

}  // namespace
}  // namespace callslip::runner
