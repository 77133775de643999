#include "tracker/metrics/statistics_history.h"

#include <algorithm>
#include <vector>

#include "callslip/tracker/v1/admin_service.grpc.pb.h"
#include "common/fake_clock.h"
#include "tracker/rpc/tracker_server_fixture.h"

namespace callslip::tracker {
namespace {

using Sample = StatisticsHistory::Sample;

constexpr int64_t kMillisecond = 1'000'000;

size_t CodeAt(absl::string_view code) {
  return static_cast<size_t>(std::find(kEndCodes.begin(), kEndCodes.end(), code) -
                             kEndCodes.begin());
}

class StatisticsHistoryTest : public testing::Test {
 protected:
  int64_t& Ended(CommandState state, absl::string_view code) {
    return commands_.ended[static_cast<size_t>(state)][CodeAt(code)];
  }

  // The newest sample, after `wait`.
  Sample Note(absl::Duration wait = StatisticsHistory::kEvery) {
    clock_.Advance(wait);
    history_.Note(clock_.Now(), commands_, {.active = 3, .in_turn = 2});
    return history_.Read().back();
  }

  FakeClock clock_;
  CommandStatistics commands_;
  StatisticsHistory history_{clock_.Now()};
};

TEST_F(StatisticsHistoryTest, HistoryIsEmptyAtTheStart) { EXPECT_TRUE(history_.Read().empty()); }

TEST_F(StatisticsHistoryTest, SampleCountsOnlyItsOwnInterval) {
  commands_.registered = 7;
  commands_.queued = 4;
  Ended(CommandState::kCompleted, "none") = 3;
  Sample sample = Note();
  EXPECT_EQ(sample.end, clock_.Now());
  EXPECT_EQ(sample.length, StatisticsHistory::kEvery);
  EXPECT_EQ(sample.registered, 7);
  EXPECT_EQ(sample.completed, 3);
  EXPECT_EQ(sample.queued, 4);
  EXPECT_EQ(sample.sessions.active, 3);
  EXPECT_EQ(sample.sessions.in_turn, 2);

  commands_.registered = 9;
  commands_.queued = 1;
  sample = Note(absl::Seconds(70));
  EXPECT_EQ(sample.length, absl::Seconds(70)) << "it was held up";
  EXPECT_EQ(sample.registered, 2);
  EXPECT_EQ(sample.completed, 0);
  EXPECT_EQ(sample.queued, 1);
  EXPECT_EQ(history_.Read().size(), 2u);
}

TEST_F(StatisticsHistoryTest, FailuresAreCountedByCode) {
  Ended(CommandState::kExpired, "never_delivered") = 2;
  Ended(CommandState::kFailed, "other") = 1;
  Ended(CommandState::kTimedOut, "other") = 4;
  Ended(CommandState::kCancelled, "cancelled") = 8;
  Note();
  Ended(CommandState::kFailed, "other") = 3;
  Note();
  const std::vector<Sample> samples = history_.Read();
  EXPECT_EQ(samples[0].failed[CodeAt("never_delivered")], 2);
  EXPECT_EQ(samples[0].failed[CodeAt("other")], 5);
  EXPECT_EQ(samples[0].failed[CodeAt("cancelled")], 0) << "somebody wanted it so";
  EXPECT_EQ(samples[1].failed[CodeAt("never_delivered")], 0);
  EXPECT_EQ(samples[1].failed[CodeAt("other")], 2);
}

TEST_F(StatisticsHistoryTest, QuantilesCoverOnlyTheirOwnInterval) {
  for (int i = 0; i < 1000; ++i) commands_.dispatch.Observe(400'000 * kMillisecond);
  ASSERT_TRUE(Note().dispatch.has_value());
  EXPECT_FALSE(Note().dispatch.has_value()) << "nothing was delivered";

  // 90 in the bucket up to 1 ms, 10 in that up to 100 ms.
  for (int i = 0; i < 90; ++i) commands_.dispatch.Observe(kMillisecond);
  for (int i = 0; i < 10; ++i) commands_.dispatch.Observe(100 * kMillisecond);
  const Sample sample = Note();
  ASSERT_TRUE(sample.dispatch.has_value());
  EXPECT_LE(sample.dispatch->p50, absl::Milliseconds(1));
  EXPECT_GT(sample.dispatch->p50, absl::ZeroDuration());
  EXPECT_EQ(sample.dispatch->p95, absl::Milliseconds(75)) << "half of 50 to 100 ms";
  EXPECT_FALSE(sample.standard.has_value()) << "none has ended";
}

TEST_F(StatisticsHistoryTest, OldestSamplesAreDroppedFirst) {
  const int all = static_cast<int>(StatisticsHistory::kSamples) + 7;
  for (int i = 1; i <= all; ++i) {
    commands_.registered += i;
    Note();
  }
  const std::vector<Sample> samples = history_.Read();
  ASSERT_EQ(samples.size(), StatisticsHistory::kSamples);
  EXPECT_EQ(samples.front().registered, 8);
  EXPECT_EQ(samples.back().registered, all);
  EXPECT_EQ(samples.back().end - samples.front().end + StatisticsHistory::kEvery,
            absl::Minutes(15));
}

class ServedHistoryTest : public TrackerServerTest {
 protected:
  v1::GetHealthResponse Health(bool with_history) {
    const auto stub = v1::AdminService::NewStub(
        grpc::CreateChannel(address_.ToString(), grpc::InsecureChannelCredentials()));
    grpc::ClientContext context;
    v1::GetHealthRequest request;
    request.set_with_history(with_history);
    v1::GetHealthResponse response;
    EXPECT_TRUE(stub->GetHealth(&context, request, &response).ok());
    return response;
  }
};

TEST_F(ServedHistoryTest, HistoryIsReportedOnRequest) {
  Register();
  Register();
  clock_.Advance(StatisticsHistory::kEvery);
  const auto leased = Lease();
  ASSERT_TRUE(leased.ok() && leased->leases_size() == 2);
  ASSERT_TRUE(Complete(leased->leases(0)).ok());
  server_.NoteStatistics();
  clock_.Advance(CommandDeadlines().ack_wait);
  table_.FireDeadlines(clock_.Now());
  server_.NoteStatistics();

  EXPECT_EQ(Health(/*with_history=*/false).history_size(), 0);
  EXPECT_FALSE(Health(/*with_history=*/false).has_time());
  const v1::GetHealthResponse health = Health(/*with_history=*/true);
  EXPECT_LT(health.ByteSizeLong(), 1000u);
  ASSERT_EQ(health.history_size(), 2);
  const v1::HistorySample& first = health.history(0);
  EXPECT_EQ(first.length().seconds(), 10);
  EXPECT_EQ(first.registered(), 2);
  EXPECT_EQ(first.completed(), 1);
  EXPECT_EQ(first.failures_size(), 0);
  EXPECT_EQ(first.delivery().p95().seconds(), 9) << "between 5 and 10 s, for all that is known";
  EXPECT_TRUE(first.has_completion());
  const v1::HistorySample& second = health.history(1);
  EXPECT_EQ(second.registered(), 0);
  EXPECT_FALSE(second.has_delivery());
  ASSERT_EQ(second.failures_size(), 1);
  EXPECT_EQ(second.failures(0).code(), "extension_no_response");
  EXPECT_EQ(second.failures(0).commands(), 1);
  EXPECT_EQ(second.time().seconds(), health.time().seconds());
}

}  // namespace
}  // namespace callslip::tracker
