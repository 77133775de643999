#include "common/ids.h"

#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip {
namespace {

using ::testing::MatchesRegex;

const absl::Time kNow = absl::FromUnixMillis(1738012345678);

TEST(IdsTest, CorrelationIdHasTheDocumentedShape) {
  EXPECT_THAT(NewCorrelationId(kNow, 0), MatchesRegex("corr-1738012345678-00[0-9a-f]{30}"));
}

TEST(IdsTest, AnnotationIdHasTheDocumentedShape) {
  EXPECT_THAT(NewAnnotationId(kNow, 255), MatchesRegex("ann_1738012345678_ff[0-9a-f]{30}"));
}

TEST(IdsTest, PartitionIsRecoverableFromTheId) {
  for (int partition = 0; partition < kMaxPartitions; ++partition) {
    EXPECT_EQ(PartitionOfId(NewCorrelationId(kNow, partition)), partition);
    EXPECT_EQ(PartitionOfId(NewAnnotationId(kNow, partition)), partition);
  }
}

TEST(IdsTest, ForeignTextHasNoPartition) {
  for (const char* text :
       {"", "corr-", "corr-1-", "cmd-0-0", "corr-1-zz345678901234567890123456789012",
        "exec-1-00345678901234567890123456789012"}) {
    EXPECT_EQ(PartitionOfId(text), std::nullopt) << text;
  }
}

TEST(IdsTest, IdsDoNotRepeat) {
  std::set<std::string> ids;
  for (int i = 0; i < 10000; ++i) ids.insert(NewCorrelationId(kNow, 7));
  EXPECT_EQ(ids.size(), 10000u);
}

TEST(IdsTest, RandomHexHasTwoDigitsAByte) {
  EXPECT_EQ(RandomHex(0), "");
  EXPECT_THAT(RandomHex(4), MatchesRegex("[0-9a-f]{8}"));
}

}  // namespace
}  // namespace callslip
