#include "tracker/process/config.h"

#include <fstream>
#include <string>
#include <vector>

#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::tracker {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(TrackerConfigTest, DefaultsAreValid) { EXPECT_TRUE(TrackerConfig().Validate().ok()); }

TEST(TrackerConfigTest, InsecureBindNeedsExplicitOption) {
  TrackerConfig config;
  config.listen[0].host = "0.0.0.0";
  const absl::Status refused = config.Validate();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("--allow-insecure-bind"));
  config.allow_insecure_bind = true;
  EXPECT_TRUE(config.Validate().ok());
}

TEST(TrackerConfigTest, MetricsAddressIsOptionalAndValidated) {
  TrackerConfig config;
  EXPECT_EQ(config.MetricsAddress(), std::nullopt);
  config.metrics_listen = "127.0.0.1:7901";
  EXPECT_TRUE(config.Validate().ok());
  ASSERT_TRUE(config.MetricsAddress().has_value());
  EXPECT_EQ(config.MetricsAddress()->port, 7901);

  config.metrics_listen = "0.0.0.0:7901";
  EXPECT_THAT(std::string(config.Validate().message()), HasSubstr("0.0.0.0:7901"));
  config.allow_insecure_bind = true;
  EXPECT_TRUE(config.Validate().ok());
  // This option is for metrics alone: it does not allow strangers to call the tracker.
  config.allow_insecure_bind = false;
  config.metrics_allow_insecure_bind = true;
  EXPECT_TRUE(config.Validate().ok());
  config.listen[0].host = "0.0.0.0";
  EXPECT_THAT(std::string(config.Validate().message()), HasSubstr("--token-file"));
  config.listen[0].host = "127.0.0.1";

  for (const char* wrong : {"7901", "unix:/tmp/metrics", "host:port"}) {
    config.metrics_listen = wrong;
    EXPECT_FALSE(config.Validate().ok()) << wrong;
  }
}

absl::StatusOr<TrackerConfig> Parse(const std::vector<std::string>& arguments) {
  TrackerConfig config;
  OptionSet options("callslip-tracker", "");
  config.AddTo(options);
  const auto parsed = options.Parse(arguments, [](const char*) { return nullptr; });
  if (!parsed.ok()) return parsed.status();
  return config;
}

absl::StatusOr<TrackerConfig> ParseFile(const std::string& yaml) {
  const std::string path = ::testing::TempDir() + "/tracker_config_test.yaml";
  std::ofstream(path) << yaml;
  return Parse({"--config", path});
}

TEST(TrackerConfigTest, YamlFileConfiguresQueues) {
  ASSERT_OK_AND_ASSIGN(const TrackerConfig config, ParseFile("conversations:\n"
                                                             "  queue:\n"
                                                             "    enabled: false\n"
                                                             "    delay_seconds: 5\n"));
  EXPECT_FALSE(config.Queue().enabled);
  EXPECT_EQ(config.Queue().delay, absl::Seconds(5));
  EXPECT_FALSE(ParseFile("conversations: {queue: {delay_seconds: 86401}}").ok());
  EXPECT_FALSE(ParseFile("conversations: {queue: {delay: 5}}").ok());
}

TEST(TrackerConfigTest, QueuesAreEnabledWithoutDelayByDefault) {
  EXPECT_TRUE(TrackerConfig().Queue().enabled);
  EXPECT_EQ(TrackerConfig().Queue().delay, absl::ZeroDuration());
}

TEST(TrackerConfigTest, DurabilityIsRelaxedByDefault) {
  EXPECT_EQ(TrackerConfig().durability, "relaxed");
  ASSERT_OK_AND_ASSIGN(const TrackerConfig config, Parse({"--durability=strict"}));
  EXPECT_EQ(config.durability, "strict");
  EXPECT_FALSE(Parse({"--durability=eternal"}).ok());
}

TEST(TrackerConfigTest, AllSessionsAreRetainedByDefault) {
  const SessionRetention retention = TrackerConfig().Retention();
  EXPECT_EQ(retention.max_events, 0);
  EXPECT_EQ(retention.max_bytes, 0);
  EXPECT_EQ(retention.keep_ended, absl::ZeroDuration());
}

TEST(TrackerConfigTest, RetentionIsSetByOptions) {
  ASSERT_OK_AND_ASSIGN(const TrackerConfig config,
                       Parse({"--max-session-events=1000", "--max-session-mebibytes=3000",
                              "--keep-ended-sessions=720h"}));
  EXPECT_EQ(config.Retention().max_events, 1000);
  EXPECT_EQ(config.Retention().max_bytes, int64_t{3000} << 20);
  EXPECT_EQ(config.Retention().keep_ended, absl::Hours(720));
}

TEST(TrackerConfigTest, DatabaseUrlWithPasswordIsRefused) {
  TrackerConfig config;
  for (const char* url :
       {"postgres://a:secret@db/c", "postgresql://a:s@cret@db/c", "postgres://a:se/cret@db/c",
        "postgres://a:se?cret@db/c", "postgres://a:sec%zz@db/c", "postgres://a@b:secret@db/c",
        "postgres://db/c?password=secret", "postgres://db/c?user=a&password=secret"}) {
    config.storage = url;
    for (const absl::Status& refused : {config.Validate(), config.ValidateForCopy(false)}) {
      EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument) << url;
      EXPECT_THAT(std::string(refused.message()), HasSubstr("PGPASSFILE"));
      EXPECT_THAT(std::string(refused.message()), Not(HasSubstr("cret")));
    }
  }
  for (const char* url : {"postgres://a@db1:5432,db2:5433/c", "postgres://[::1]:5432/c",
                          "postgres://a@db/c?options=-csearch_path%3Dx&application_name=a@b"}) {
    config.storage = url;
    EXPECT_OK(config.Validate());
  }
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
