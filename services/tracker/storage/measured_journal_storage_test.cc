#include "tracker/storage/measured_journal_storage.h"

#include <utility>
#include <vector>

#include "common/fake_clock.h"
#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tracker/storage/scripted_journal_storage.h"

namespace callslip::tracker {
namespace {

TEST(MeasuredJournalStorageTest, CountsAppendsAndReportsFailures) {
  FakeClock clock;
  auto scripted = std::make_unique<ScriptedStorage>();
  ScriptedStorage* const storage = scripted.get();
  MeasuredJournalStorage measured(&clock, std::move(scripted));
  const std::vector<JournalEntry> entries(3);
  ASSERT_OK(measured.Append(0, entries));
  EXPECT_EQ(measured.position(), 1u);
  JournalStatistics statistics = measured.Statistics();
  EXPECT_EQ(statistics.appends.count(), 1);
  EXPECT_EQ(statistics.entries, 3);
  EXPECT_EQ(statistics.failures, 0);
  EXPECT_EQ(statistics.last_failure, absl::InfinitePast());
  EXPECT_FALSE(statistics.failing);

  storage->FailWith(absl::UnavailableError("disk full"));
  clock.Advance(absl::Seconds(5));
  EXPECT_FALSE(measured.Append(1, entries).ok());
  statistics = measured.Statistics();
  EXPECT_EQ(statistics.appends.count(), 2);
  EXPECT_EQ(statistics.entries, 3);
  EXPECT_EQ(statistics.failures, 1);
  EXPECT_EQ(statistics.last_failure, clock.Now());
  EXPECT_TRUE(statistics.failing);

  storage->FailWith(absl::OkStatus());
  ASSERT_OK(measured.Append(1, entries));
  EXPECT_FALSE(measured.Statistics().failing);
}

}  // namespace
}  // namespace callslip::tracker
