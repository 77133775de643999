// The comparison of CommandTable with CommandModel finds faults: here the model has them.

#include <cstdio>
#include <ostream>
#include <string>

#include "gtest/gtest.h"
#include "model/command_model_generator.h"
#include "model/command_model_shortening.h"

namespace callslip::tracker {
namespace {

struct Mistake {
  const char* name;
  ModelMistake mistake;

  friend void PrintTo(const Mistake& tested, std::ostream* out) { *out << tested.name; }
};

class CommandModelMistakeTest : public testing::TestWithParam<Mistake> {};

// A model with one mistake disagrees with the table, and the harness finds a schedule of a few
// operations that shows it.
TEST_P(CommandModelMistakeTest, IsFoundAndShortened) {
  Schedule schedule;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const std::string disagreement = RunSeed(seed, GetParam().mistake, schedule, nullptr);
    // The right model must agree with the table.
    if (!disagreement.empty() && RunSchedule(schedule, ModelMistake::kNone).empty()) break;
    schedule.ops.clear();
  }
  ASSERT_FALSE(schedule.ops.empty()) << "no schedule shows the mistake";
  const Schedule shortened = Shorten(schedule, GetParam().mistake);
  std::printf("%s%s\n", ToString(shortened).c_str(),
              RunSchedule(shortened, GetParam().mistake).c_str());
  EXPECT_NE(RunSchedule(shortened, GetParam().mistake), "");
  EXPECT_EQ(RunSchedule(shortened, ModelMistake::kNone), "");
  EXPECT_LE(shortened.ops.size(), 8);
}

INSTANTIATE_TEST_SUITE_P(
    Of, CommandModelMistakeTest,
    testing::Values(Mistake{"OrderingKeys", ModelMistake::kIgnoresOrderingKeys},
                    Mistake{"Priorities", ModelMistake::kIgnoresPriorities},
                    Mistake{"Turns", ModelMistake::kIgnoresTurns},
                    Mistake{"Window", ModelMistake::kWindowOfSix},
                    Mistake{"Redelivery", ModelMistake::kNeverRedelivers},
                    Mistake{"RequestIds", ModelMistake::kForgetsRequestIds},
                    Mistake{"Peeking", ModelMistake::kPeeksCollect},
                    Mistake{"Receipts", ModelMistake::kLostUpdatesCollect},
                    Mistake{"Tombstones", ModelMistake::kForgetsTombstones},
                    Mistake{"EndsForWorkers", ModelMistake::kTellsNoEndsToWorkers},
                    Mistake{"StateFilters", ModelMistake::kTellsWatchesOfOtherStates},
                    Mistake{"SuspendedWorkers", ModelMistake::kExpectsNobodyBack}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace callslip::tracker
