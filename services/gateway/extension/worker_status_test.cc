#include "gateway/extension/worker_status.h"

#include <string>

#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

using ::testing::SizeIs;

TEST(WorkerStatusTest, ReadsReportOfWorker) {
  const auto parsed = ParseWorkerStatus(
      R"({"worker":"w1","target":"laptop","name":"Work laptop","version":"0.1.0",)"
      R"("browser":"Chrome/131.0","paused":true,"tabs":[{"tab_id":7,"window_id":1,"active":true,)"
      R"("title":"T","url":"http://x/","favicon":"data:"}],"later":1})");
  ASSERT_OK(parsed);
  EXPECT_EQ(parsed->worker_id(), "w1");
  EXPECT_EQ(parsed->target(), "laptop");
  EXPECT_EQ(parsed->report().name(), "Work laptop");
  EXPECT_EQ(parsed->report().version(), "0.1.0");
  EXPECT_EQ(parsed->report().browser(), "Chrome/131.0");
  EXPECT_TRUE(parsed->report().paused());
  EXPECT_EQ(parsed->report().tabs(),
            R"([{"active":true,"tab_id":7,"title":"T","url":"http://x/","window_id":1}])");
}

TEST(WorkerStatusTest, AllMembersAreOptional) {
  const auto parsed = ParseWorkerStatus("{}");
  ASSERT_OK(parsed);
  EXPECT_TRUE(parsed->has_report());
  EXPECT_EQ(parsed->report().tabs(), "");
}

TEST(WorkerStatusTest, RefusesInvalidMembers) {
  for (const char* body : {R"({"worker":7})", R"({"name":[]})", R"({"paused":"yes"})",
                           R"({"tabs":{}})", R"({"version":1})"}) {
    EXPECT_THAT(ParseWorkerStatus(body),
                FailsWith(absl::StatusCode::kInvalidArgument, "invalid_field"))
        << body;
  }
  EXPECT_THAT(ParseWorkerStatus("[]"),
              FailsWith(absl::StatusCode::kInvalidArgument, "invalid_body"));
  Json tabs = {{"tabs", Json::array()}};
  for (int i = 0; i < 201; ++i) tabs["tabs"].push_back({{"tab_id", i}});
  EXPECT_THAT(ParseWorkerStatus(Dump(tabs)),
              FailsWith(absl::StatusCode::kInvalidArgument, "invalid_field"));
}

TEST(WorkerStatusTest, TabsAreTruncatedToLimitOfTracker) {
  Json tabs = Json::array();
  for (int i = 0; i < 200; ++i) {
    tabs.push_back({{"title", std::string(9000, 't')}, {"url", std::string(9000, 'u')}});
  }
  tabs.push_back("no tab");
  const std::string kept = KeptTabs(tabs);
  EXPECT_LE(kept.size(), 256u << 10);
  const auto parsed = ParseJson(kept);
  ASSERT_OK(parsed);
  EXPECT_GT(parsed->size(), 30u);
  EXPECT_THAT((*parsed)[0]["title"].get<std::string>(), SizeIs(600));
  EXPECT_THAT((*parsed)[0]["url"].get<std::string>(), SizeIs(6000));
}

}  // namespace
}  // namespace callslip::gateway
