#include <thread>

#include "common/clock.h"
#include "common/fake_clock.h"
#include "common/mutex.h"
#include "gtest/gtest.h"

namespace callslip {
namespace {

TEST(FakeClockTest, MovesOnlyOnAdvance) {
  FakeClock clock;
  const absl::Time start = clock.Now();
  EXPECT_EQ(clock.Now(), start);
  clock.Advance(absl::Seconds(3));
  EXPECT_EQ(clock.Now(), start + absl::Seconds(3));
}

TEST(FakeClockTest, SleeperReturnsWhenTheClockReachesItsDeadline) {
  FakeClock clock;
  auto sleeper = clock.NewSleeper();
  Notification returned;
  std::thread thread([&, deadline = clock.Now() + absl::Seconds(10)] {
    sleeper->SleepUntil(deadline);
    returned.Notify();
  });
  clock.Advance(absl::Seconds(9));
  EXPECT_FALSE(returned.HasBeenNotified());
  clock.Advance(absl::Seconds(1));
  returned.Wait();
  thread.join();
}

// Runs against both clocks: a wake that comes first must not be lost.
template <typename T>
class SleeperTest : public testing::Test {};
using Clocks = testing::Types<RealClock, FakeClock>;
TYPED_TEST_SUITE(SleeperTest, Clocks);

TYPED_TEST(SleeperTest, WakeBeforeSleepEndsTheSleepAtOnce) {
  TypeParam clock;
  auto sleeper = clock.NewSleeper();
  sleeper->Wake();
  sleeper->Wake();
  sleeper->SleepUntil(absl::InfiniteFuture());
}

TYPED_TEST(SleeperTest, WakeFromAnotherThreadEndsTheSleep) {
  TypeParam clock;
  auto sleeper = clock.NewSleeper();
  std::thread thread([&] { sleeper->Wake(); });
  sleeper->SleepUntil(absl::InfiniteFuture());
  thread.join();
}

TYPED_TEST(SleeperTest, PastDeadlineReturnsAtOnce) {
  TypeParam clock;
  clock.NewSleeper()->SleepUntil(clock.Now() - absl::Seconds(1));
}

constexpr absl::Time kBegin = absl::FromUnixSeconds(1'769'947'200);

TEST(WallAnchorTest, ClockStepChangesOffsetButNotDeadlines) {
  WallAnchor anchor(kBegin, absl::Hours(3));
  const absl::Time deadline = anchor.At(absl::Hours(3)) + absl::Seconds(20);
  EXPECT_EQ(anchor.Offset(kBegin + absl::Hours(1) + absl::Seconds(10),
                          absl::Hours(3) + absl::Seconds(10)),
            absl::Hours(1));
  EXPECT_EQ(deadline - anchor.At(absl::Hours(3) + absl::Seconds(10)), absl::Seconds(10));
  EXPECT_EQ(anchor.Offset(kBegin + absl::Seconds(20), absl::Hours(3) + absl::Seconds(20)),
            absl::ZeroDuration());
}

TEST(WallAnchorTest, DriftBelowHalfASecondIsIgnored) {
  WallAnchor anchor(kBegin, absl::ZeroDuration());
  EXPECT_EQ(anchor.Offset(kBegin + absl::Milliseconds(10'499), absl::Seconds(10)),
            absl::ZeroDuration());
  EXPECT_EQ(anchor.Offset(kBegin + absl::Milliseconds(20'501), absl::Seconds(20)),
            absl::Milliseconds(501));
  EXPECT_EQ(anchor.Offset(kBegin + absl::Milliseconds(21'400), absl::Seconds(21)),
            absl::Milliseconds(501));
}

TEST(RealClockTest, NeverGoesBack) {
  RealClock clock;
  absl::Time last = clock.Now();
  for (int i = 0; i < 1000; ++i) {
    const absl::Time now = clock.Now();
    ASSERT_GE(now, last);
    last = now;
  }
}

}  // namespace
}  // namespace callslip
