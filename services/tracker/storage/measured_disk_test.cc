#include "tracker/storage/measured_disk.h"

#include "common/fake_clock.h"
#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::tracker {
namespace {

class MeasuredDiskTest : public testing::Test {
 protected:
  MeasuredDiskTest() : path_(testing::TempDir() + "/measured_disk_test") {}
  ~MeasuredDiskTest() override { (void)Disk().RemoveFile(path_); }

  const std::string path_;
  FakeClock clock_;
  MeasuredDisk disk_{&clock_};
};

TEST_F(MeasuredDiskTest, CountsWrittenBytesAndSyncs) {
  EXPECT_EQ(disk_.Statistics().syncs.count(), 0);
  ASSERT_OK(disk_.ReplaceFile(testing::TempDir(), "measured_disk_test", "12345"));
  const StorageStatistics statistics = disk_.Statistics();
  EXPECT_EQ(statistics.written_bytes, 5);
  // Of the file and of its folder.
  EXPECT_EQ(statistics.syncs.count(), 2);
  EXPECT_EQ(statistics.failures, 0);
  EXPECT_EQ(statistics.last_failure, absl::InfinitePast());
  ASSERT_OK_AND_ASSIGN(const std::string contents, disk_.ReadFile(path_, 100));
  EXPECT_EQ(contents, "12345");
}

TEST_F(MeasuredDiskTest, CountsFailuresAndRecordsLastFailureTime) {
  EXPECT_FALSE(disk_.OpenEmpty("/nowhere/at/all").ok());
  clock_.Advance(absl::Seconds(5));
  EXPECT_FALSE(disk_.Write(File(), "1").ok());
  EXPECT_FALSE(disk_.Rename("/nowhere/a", "/nowhere/b").ok());
  const StorageStatistics statistics = disk_.Statistics();
  EXPECT_EQ(statistics.failures, 3);
  EXPECT_EQ(statistics.last_failure, clock_.Now());
  EXPECT_EQ(statistics.written_bytes, 0);
}

}  // namespace
}  // namespace callslip::tracker
