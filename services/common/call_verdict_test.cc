#include "common/call_verdict.h"

#include "gtest/gtest.h"

namespace callslip {
namespace {

TEST(CallVerdictTest, PermanentRefusalIsFinal) {
  EXPECT_TRUE(VerdictOf(Executed::kNo, /*repeatable=*/false).final);
  EXPECT_TRUE(VerdictOf(Executed::kAsked, /*repeatable=*/false).final);
}

TEST(CallVerdictTest, RepeatableCallIsNotFinal) {
  for (const Executed executed : {Executed::kNo, Executed::kAsked, Executed::kPerhaps}) {
    EXPECT_FALSE(VerdictOf(executed, /*repeatable=*/true).final);
  }
}

TEST(CallVerdictTest, PossiblyExecutedCallIsNeverFinal) {
  EXPECT_FALSE(VerdictOf(Executed::kPerhaps, /*repeatable=*/false).final);
}

TEST(CallVerdictTest, CallMayHaveExecutedUnlessRuledOut) {
  EXPECT_FALSE(VerdictOf(Executed::kNo, false).may_have_executed);
  EXPECT_TRUE(VerdictOf(Executed::kAsked, false).may_have_executed);
  EXPECT_TRUE(VerdictOf(Executed::kPerhaps, false).may_have_executed);
}

}  // namespace
}  // namespace callslip
