#include "tracker/domain/queue/deadline_wheel.h"

#include <map>
#include <memory>
#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::tracker {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const absl::Time kStart = absl::FromUnixMillis(1'738'012'345'678);

struct Entry : Timed {
  Entry() : Timed(Kind::kCommand) {}
};

std::vector<Timed*> DueAt(DeadlineWheel& wheel, absl::Time now) {
  std::vector<Timed*> due;
  wheel.Advance(now);
  while (Timed* timed = wheel.PopDue()) due.push_back(timed);
  return due;
}

TEST(DeadlineWheelTest, FiresAtTheFirstMillisecondNotBeforeTheDeadline) {
  DeadlineWheel wheel;
  Entry exact;
  Entry between;
  wheel.Set(&exact, kStart + absl::Milliseconds(5));
  wheel.Set(&between, kStart + absl::Microseconds(5001));
  EXPECT_THAT(DueAt(wheel, kStart + absl::Microseconds(4999)), IsEmpty());
  EXPECT_THAT(DueAt(wheel, kStart + absl::Milliseconds(5)), ElementsAre(&exact));
  EXPECT_THAT(DueAt(wheel, kStart + absl::Microseconds(5999)), IsEmpty());
  EXPECT_THAT(DueAt(wheel, kStart + absl::Milliseconds(6)), ElementsAre(&between));
  EXPECT_EQ(wheel.NextAdvance(), absl::InfiniteFuture());
}

TEST(DeadlineWheelTest, OverdueEntryFiresAtOnce) {
  DeadlineWheel wheel;
  wheel.Advance(kStart);
  Entry entry;
  wheel.Set(&entry, kStart - absl::Hours(1));
  EXPECT_LE(wheel.NextAdvance(), kStart);
  EXPECT_THAT(DueAt(wheel, kStart), ElementsAre(&entry));
}

TEST(DeadlineWheelTest, FiresInOrderAfterLongSleep) {
  DeadlineWheel wheel;
  wheel.Advance(kStart);
  Entry hour, day, second, another_second;
  wheel.Set(&hour, kStart + absl::Hours(1));
  wheel.Set(&day, kStart + absl::Hours(24));
  wheel.Set(&second, kStart + absl::Seconds(1));
  wheel.Set(&another_second, kStart + absl::Seconds(1));
  EXPECT_THAT(DueAt(wheel, kStart + absl::Hours(48)),
              ElementsAre(&second, &another_second, &hour, &day));
}

TEST(DeadlineWheelTest, ReportsEarliestDeadlineThatWasSet) {
  DeadlineWheel wheel;
  Entry early, late;
  wheel.Set(&late, kStart + absl::Seconds(9));
  wheel.Set(&early, kStart + absl::Seconds(3));
  EXPECT_EQ(wheel.TakeEarliestSet(), kStart + absl::Seconds(3));
  EXPECT_EQ(wheel.TakeEarliestSet(), absl::InfiniteFuture());
  wheel.Remove(&early);
  wheel.Remove(&late);
}

// Against an ordered map, with deadlines from a millisecond to a day that are set, moved and
// removed, and steps of all sizes.
TEST(DeadlineWheelTest, AgreesWithAnOrderedMap) {
  std::mt19937_64 random(1);
  const auto span = [&] {
    return absl::Microseconds(static_cast<int64_t>(random() % (uint64_t{1} << (random() % 37))));
  };
  DeadlineWheel wheel;
  std::vector<std::unique_ptr<Entry>> entries;
  for (int i = 0; i < 300; ++i) entries.push_back(std::make_unique<Entry>());
  std::map<Timed*, absl::Time> expected;
  absl::Time now = kStart;
  for (int step = 0; step < 100'000; ++step) {
    Entry* entry = entries[random() % entries.size()].get();
    if (random() % 4 == 0) {
      wheel.Remove(entry);
      expected.erase(entry);
    } else {
      const absl::Time due = now + span();
      wheel.Set(entry, due);
      expected[entry] = due;
    }
    if (random() % 3 != 0) continue;
    now += span();
    absl::Time earliest = absl::InfiniteFuture();
    for (const auto& [timed, due] : expected) earliest = std::min(earliest, due);
    ASSERT_LE(wheel.NextAdvance(), std::max(earliest + absl::Milliseconds(1), kStart));
    for (Timed* timed : DueAt(wheel, now)) {
      ASSERT_EQ(expected.count(timed), 1u) << "fired without a deadline";
      ASSERT_LE(expected[timed], now) << "fired early";
      expected.erase(timed);
    }
    for (const auto& [timed, due] : expected) ASSERT_GT(due, now - absl::Milliseconds(1)) << "late";
  }
  for (const auto& entry : entries) wheel.Remove(entry.get());
}

}  // namespace
}  // namespace callslip::tracker
