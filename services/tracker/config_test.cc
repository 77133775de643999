#include "tracker/config.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::tracker {
namespace {

using ::testing::HasSubstr;

TEST(TrackerConfigTest, DefaultsAreValid) { EXPECT_TRUE(TrackerConfig().Validate().ok()); }

TEST(TrackerConfigTest, OtherMachinesReachItOnlyOnRequest) {
  TrackerConfig config;
  config.listen.host = "0.0.0.0";
  const absl::Status refused = config.Validate();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("--allow-insecure-bind"));
  config.allow_insecure_bind = true;
  EXPECT_TRUE(config.Validate().ok());
}

TEST(TrackerConfigTest, TimersThatDoNotNestAreRefused) {
  TrackerConfig config;
  config.deadlines.ack_wait = config.deadlines.heartbeat_timeout;
  const absl::Status refused = config.Validate();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("ack_wait"));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("heartbeat_timeout"));
}

}  // namespace
}  // namespace callslip::tracker
