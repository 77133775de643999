#include "gateway/api/recent_statistics.h"

#include <optional>

#include "boost/asio/co_spawn.hpp"
#include "boost/asio/detached.hpp"
#include "boost/asio/io_context.hpp"
#include "common/fake_clock.h"
#include "gtest/gtest.h"
#include "support/fake_tracker_client.h"

namespace callslip::gateway {
namespace {

class RecentStatisticsTest : public testing::Test {
 protected:
  RecentStatisticsTest() {
    for (size_t i = 0; i < LatencyHistogram::kBuckets; ++i) {
      health_.add_dispatch_counts(0);
      health_.add_journal_counts(0);
    }
    tracker_.on_health = [this] {
      ++asked_;
      return away_ ? absl::StatusOr<v1::GetHealthResponse>(absl::UnavailableError("away"))
                   : health_;
    };
  }

  absl::StatusOr<Json> Read() {
    std::optional<absl::StatusOr<Json>> read;
    boost::asio::co_spawn(
        io_, [&]() -> boost::asio::awaitable<void> { read.emplace(co_await statistics_.Read()); },
        boost::asio::detached);
    io_.restart();
    io_.poll();
    return read.value_or(absl::InternalError("not read"));
  }

  // Adds `count` commands with the latency of this bucket.
  void Dispatch(int count, int bucket) {
    health_.set_registered(health_.registered() + count);
    health_.set_dispatch_counts(bucket, health_.dispatch_counts(bucket) + count);
  }

  boost::asio::io_context io_;
  FakeClock clock_;
  FakeTrackerClient tracker_{&clock_};
  v1::GetHealthResponse health_;
  bool away_ = false;
  int asked_ = 0;
  RecentStatistics statistics_{&tracker_, &clock_};
};

TEST_F(RecentStatisticsTest, TrackerIsAskedOnceForAllReaders) {
  health_.set_queued(3);
  EXPECT_EQ((*Read())["queued"], 3);
  health_.set_queued(4);
  EXPECT_EQ((*Read())["queued"], 3);
  EXPECT_EQ(asked_, 1);
  clock_.Advance(RecentStatistics::kFresh);
  EXPECT_EQ((*Read())["queued"], 4);
  EXPECT_EQ(asked_, 2);
}

TEST_F(RecentStatisticsTest, LatenciesCoverLastMinute) {
  Dispatch(1000, 9);  // Slow commands, long ago.
  EXPECT_FALSE(Read()->contains("dispatch_p50_ms"));
  clock_.Advance(absl::Seconds(1));
  EXPECT_FALSE(Read()->contains("dispatch_p50_ms")) << "none since";
  Dispatch(100, 3);  // 0.5 to 1 ms.
  clock_.Advance(absl::Seconds(1));
  EXPECT_NEAR((*Read())["dispatch_p50_ms"].get<double>(), 0.75, 0.01);
  EXPECT_NEAR((*Read())["dispatch_p99_ms"].get<double>(), 0.995, 0.001);
  clock_.Advance(RecentStatistics::kWindow + absl::Seconds(1));
  EXPECT_FALSE(Read()->contains("dispatch_p50_ms")) << "nobody has looked for a minute";
}

TEST_F(RecentStatisticsTest, CountsStartFromZeroAfterTrackerRestart) {
  Dispatch(100, 3);
  ASSERT_TRUE(Read().ok());
  clock_.Advance(absl::Seconds(1));
  away_ = true;
  EXPECT_FALSE(Read().ok());
  away_ = false;
  health_.set_registered(0);
  health_.set_dispatch_counts(3, 0);
  EXPECT_FALSE(Read()->contains("dispatch_p50_ms"));
  Dispatch(10, 0);
  clock_.Advance(absl::Seconds(1));
  EXPECT_NEAR((*Read())["dispatch_p50_ms"].get<double>(), 0.05, 0.001);
}

TEST_F(RecentStatisticsTest, LatenciesAreOmittedWhenBucketsDiffer) {
  health_.mutable_dispatch_counts()->RemoveLast();
  ASSERT_TRUE(Read().ok());
  Dispatch(10, 0);
  clock_.Advance(absl::Seconds(1));
  EXPECT_FALSE(Read()->contains("dispatch_p50_ms"));
}

}  // namespace
}  // namespace callslip::gateway
