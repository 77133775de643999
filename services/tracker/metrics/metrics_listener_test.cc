#include "tracker/metrics/metrics_listener.h"

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "httplib.h"

namespace callslip::tracker {
namespace {

class MetricsListenerTest : public testing::Test {
 protected:
  MetricsListenerTest()
      : listener_(
            *MetricsListener::Start({.host = "127.0.0.1"}, {"Tracker:7901"},
                                    [](absl::string_view accept) {
                                      return MetricsAnswer{"x/y", absl::StrCat("for ", accept)};
                                    })),
        client_("127.0.0.1", listener_->bound().port) {}

  int StatusOf(const std::string& path, const httplib::Headers& headers = {}) {
    const auto answer = client_.Get(path, headers);
    return answer ? answer->status : 0;
  }

  std::unique_ptr<MetricsListener> listener_;
  httplib::Client client_;
};

TEST_F(MetricsListenerTest, AnswersWithThePage) {
  const auto answer = client_.Get("/metrics", {{"Accept", "a/b, c/d;q=0.5"}});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "for a/b, c/d;q=0.5");
  EXPECT_EQ(answer->get_header_value("Content-Type"), "x/y");
  EXPECT_EQ(answer->get_header_value("Cache-Control"), "no-store");
}

TEST_F(MetricsListenerTest, ServesNothingElse) {
  EXPECT_EQ(StatusOf("/"), 404);
  EXPECT_EQ(StatusOf("/metrics/x"), 404);
  EXPECT_EQ(StatusOf("/../etc/passwd"), 404);
  const auto posted = client_.Post("/metrics", "{}", "application/json");
  ASSERT_TRUE(posted);
  EXPECT_EQ(posted->status, 405);
  EXPECT_EQ(posted->get_header_value("Allow"), "GET");
}

TEST_F(MetricsListenerTest, UnknownHostIsRefused) {
  const std::string port = std::to_string(listener_->bound().port);
  EXPECT_EQ(StatusOf("/metrics", {{"Host", "localhost:" + port}}), 200);
  EXPECT_EQ(StatusOf("/metrics", {{"Host", "tracker:7901"}}), 200);
  EXPECT_EQ(StatusOf("/metrics", {{"Host", "localhost"}}), 403);
  EXPECT_EQ(StatusOf("/metrics", {{"Host", "evil.example:" + port}}), 403);
  // On every path.
  EXPECT_EQ(StatusOf("/", {{"Host", "evil.example:" + port}}), 403);
}

TEST_F(MetricsListenerTest, CrossSiteRequestIsRefused) {
  EXPECT_EQ(StatusOf("/metrics", {{"Origin", "http://evil.example"}}), 403);
  EXPECT_EQ(StatusOf("/metrics", {{"Origin", "null"}}), 403);
  EXPECT_EQ(StatusOf("/metrics", {{"Sec-Fetch-Site", "cross-site"}}), 403);
  EXPECT_EQ(StatusOf("/metrics", {{"Sec-Fetch-Site", "none"}}), 200);
}

TEST_F(MetricsListenerTest, PortInUseIsAnError) {
  const auto second = MetricsListener::Start(listener_->bound(), {},
                                             [](absl::string_view) { return MetricsAnswer(); });
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace callslip::tracker
