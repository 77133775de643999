#include "tracker/domain/command/command_id.h"

#include "absl/container/flat_hash_set.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::tracker {
namespace {

using ::testing::MatchesRegex;

const absl::Time kNow = absl::FromUnixMillis(1738012345678);

TEST(CommandIdTest, HasDocumentedFormat) {
  EXPECT_THAT(CommandId::New(kNow, false, 0).ToString(),
              MatchesRegex("corr-1738012345678-00[0-9a-f]{30}"));
  EXPECT_THAT(CommandId::New(kNow, true, 255).ToString(),
              MatchesRegex("ann_1738012345678_ff[0-9a-f]{30}"));
}

TEST(CommandIdTest, TextParsesBackToIdWithPartition) {
  for (int partition = 0; partition < 256; ++partition) {
    for (const bool annotation : {false, true}) {
      const CommandId id = CommandId::New(kNow, annotation, static_cast<uint8_t>(partition));
      EXPECT_EQ(id.partition(), partition);
      EXPECT_EQ(CommandId::Parse(id.ToString()), id);
    }
  }
}

TEST(CommandIdTest, MalformedTextIsRejected) {
  const std::string hex(32, 'a');
  EXPECT_TRUE(CommandId::Parse("corr-1-" + hex).has_value());
  for (const std::string& text : {std::string(),
                                  std::string("corr-"),
                                  std::string("corr-1-"),
                                  std::string("cmd-0-0"),
                                  "corr-" + hex,
                                  "corr--" + hex,
                                  "corr--1-" + hex,
                                  "corr-+1-" + hex,
                                  "corr- 1-" + hex,
                                  "corr-01-" + hex,
                                  "corr-1_" + hex,
                                  "ann_1-" + hex,
                                  "corr_1_" + hex,
                                  "exec-1-" + hex,
                                  "corr-1-" + hex + "a",
                                  "corr-1-" + hex.substr(1),
                                  "corr-1-" + hex.substr(1) + "g",
                                  "corr-1-" + hex.substr(1) + "A",
                                  "corr-99999999999999999999-" + hex,
                                  "corr-9223372036854775807-" + hex,
                                  "corr-1-" + hex + "\n"}) {
    EXPECT_EQ(CommandId::Parse(text), std::nullopt) << text;
  }
}

TEST(CommandIdTest, NewIdsAreUnique) {
  absl::flat_hash_set<CommandId> ids;
  for (int i = 0; i < 10000; ++i) ids.insert(CommandId::New(kNow, false, 7));
  EXPECT_EQ(ids.size(), 10000u);
}

TEST(LeaseTokenTest, TextParsesBackToToken) {
  const LeaseToken token = LeaseToken::New();
  EXPECT_THAT(token.ToString(), MatchesRegex("lease-[0-9a-f]{16}"));
  EXPECT_EQ(LeaseToken::Parse(token.ToString()), token);
  EXPECT_FALSE(LeaseToken::New() == token);
  EXPECT_EQ(LeaseToken::Parse("lease-"), std::nullopt);
  EXPECT_EQ(LeaseToken::Parse(token.ToString() + "0"), std::nullopt);
  EXPECT_EQ(LeaseToken::Parse(token.ToString().substr(6)), std::nullopt);
}

}  // namespace
}  // namespace callslip::tracker
