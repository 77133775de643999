#include "tracker/metrics/tracker_metrics.h"

#include <memory>
#include <string>
#include <thread>

#include "callslip/tracker/v1/admin_service.grpc.pb.h"
#include "common/metrics_text.h"
#include "support/prometheus_text.h"
#include "tracker/rpc/tracker_server_fixture.h"

namespace callslip::tracker {
namespace {

class TrackerMetricsTest : public TrackerServerTest {
 protected:
  PrometheusText Scrape() {
    MetricsPage page;
    AddMetrics(server_.Statistics(), page);
    PrometheusText read(PlainMetricsText(page));
    EXPECT_EQ(read.problems(), "");
    return read;
  }

  v1::GetHealthResponse Health() {
    const auto stub = v1::AdminService::NewStub(
        grpc::CreateChannel(address_.ToString(), grpc::InsecureChannelCredentials()));
    grpc::ClientContext context;
    v1::GetHealthResponse response;
    EXPECT_TRUE(stub->GetHealth(&context, {}, &response).ok());
    return response;
  }
};

TEST_F(TrackerMetricsTest, CommandsAreCounted) {
  PrometheusText before = Scrape();
  EXPECT_EQ(before.Sum("callslip_commands"), 0);
  EXPECT_EQ(before.Sum("callslip_ready"), 1);

  Register();
  Register();
  clock_.Advance(absl::Seconds(2));
  const auto leased = Lease();
  ASSERT_TRUE(leased.ok());
  ASSERT_EQ(leased->leases_size(), 2);
  ASSERT_TRUE(Complete(leased->leases(0)).ok());

  PrometheusText after = Scrape();
  EXPECT_EQ(after.Sum("callslip_commands_registered_total"), 2);
  EXPECT_EQ(after.Sum("callslip_commands", {{"state", "completed"}}), 1);
  EXPECT_EQ(after.Sum("callslip_commands", {{"state", "delivered"}}), 1);
  EXPECT_EQ(after.Sum("callslip_commands_leased"), 1);
  EXPECT_EQ(after.Sum("callslip_commands_ended_total", {{"outcome", "completed"}}), 1);
  EXPECT_EQ(after.Sum("callslip_dispatch_seconds_count"), 2);
  EXPECT_EQ(after.Sum("callslip_dispatch_seconds_sum"), 4);
  EXPECT_EQ(after.Sum("callslip_command_seconds_count", {{"class", "standard"}}), 1);
  EXPECT_GT(after.Sum("callslip_payload_bytes"), 0);
  EXPECT_EQ(after.Sum("callslip_workers", {{"connected", "yes"}}), 1);
}

TEST(CellMetricsTest, EpochIsReportedByTheOwnerOfTheCell) {
  const auto told = [](const CellStatistics& cell) {
    MetricsPage page;
    AddCell(cell, page);
    PrometheusText read(PlainMetricsText(page));
    EXPECT_EQ(read.problems(), "");
    return read;
  };
  PrometheusText stands_by = told({});
  EXPECT_EQ(stands_by.Names().count("callslip_cell_epoch"), 0u);
  EXPECT_EQ(stands_by.Sum("callslip_cell_owned"), 0);
  PrometheusText owns = told({.may_answer = true, .epoch = 7});
  EXPECT_EQ(owns.Sum("callslip_cell_epoch"), 7);
  EXPECT_EQ(owns.Sum("callslip_cell_owned"), 1);
  EXPECT_EQ(owns.Sum("callslip_cell_has_copy"), 1);
  EXPECT_EQ(told({.epoch = 7, .has_copy = false}).Sum("callslip_cell_has_copy"), 0);
  // While the database does not answer.
  EXPECT_EQ(told({.epoch = 7}).Sum("callslip_cell_owned"), 0);
}

TEST_F(TrackerMetricsTest, CallsAreCountedByMethodAndCode) {
  Register();
  (void)Get("corr-0-00000000000000000000000000000000");
  // A call is counted before it is answered.
  const PrometheusText read = Scrape();
  EXPECT_EQ(read.Sum("callslip_rpc_total", {{"method", "RegisterCommand"}, {"code", "OK"}}), 1);
  EXPECT_EQ(read.Sum("callslip_rpc_total", {{"method", "GetCommand"}, {"code", "NOT_FOUND"}}), 1);
  EXPECT_EQ(read.Sum("callslip_rpc_seconds_count", {{"method", "RegisterCommand"}}), 1);
  // Methods that nobody has called are included, so that rates begin at zero.
  EXPECT_TRUE(read.Has("callslip_rpc_total"));
  EXPECT_EQ(read.Sum("callslip_rpc_under_way", {{"method", "WatchCommands"}}), 0);
}

TEST_F(TrackerMetricsTest, HeldCallIsUnderWayUntilItIsAnswered) {
  grpc::ClientContext context;
  v1::LeaseCommandsRequest request;
  request.mutable_max_wait()->set_seconds(30);
  v1::LeaseCommandsResponse response;
  grpc::Status status;
  std::thread poll([&] { status = stub_->LeaseCommands(&context, request, &response); });
  AwaitWaits(1);
  PrometheusText read = Scrape();
  EXPECT_EQ(read.Sum("callslip_waits"), 1);
  EXPECT_EQ(read.Sum("callslip_rpc_under_way", {{"method", "LeaseCommands"}}), 1);
  Register();
  poll.join();
  EXPECT_TRUE(status.ok());
  // The end of a held call comes out of gRPC's queue some time after its answer has left.
  while (Scrape().Sum("callslip_rpc_under_way", {{"method", "LeaseCommands"}}) != 0) {
    (void)Get("corr-0-00000000000000000000000000000000");
  }
  EXPECT_EQ(Scrape().Sum("callslip_rpc_total", {{"method", "LeaseCommands"}, {"code", "OK"}}), 1);
}

TEST_F(TrackerMetricsTest, SeriesAreBoundedWhateverNamesCallersChoose) {
  const size_t before = Scrape().series();
  for (int i = 0; i < 50; ++i) {
    v1::RegisterCommandRequest request;
    request.set_client_id("client-" + std::to_string(i));
    request.set_target("target-" + std::to_string(i));
    request.set_type("type-" + std::to_string(i));
    ASSERT_TRUE(Call(&v1::CommandService::Stub::RegisterCommand, request).ok());
  }
  // The first call of a method adds its series.
  EXPECT_LT(Scrape().series(), before + 30);
  EXPECT_LT(Scrape().series(), 2000u);
  EXPECT_EQ(Scrape().Sum("callslip_queue_targets"), 50);
  EXPECT_EQ(Scrape().Sum("callslip_queue_longest_depth"), 1);
}

TEST_F(TrackerMetricsTest, HealthReportsTheSameNumbers) {
  Register();
  clock_.Advance(absl::Seconds(3));
  const v1::GetHealthResponse health = Health();
  EXPECT_FALSE(health.version().empty());
  EXPECT_EQ(health.uptime().seconds(), 3);
  EXPECT_TRUE(health.ready());
  EXPECT_EQ(health.reasons_size(), 0);
  ASSERT_EQ(health.states_size(), 1);
  EXPECT_EQ(health.states(0).state(), v1::COMMAND_STATE_QUEUED);
  EXPECT_EQ(health.states(0).commands(), 1);
  EXPECT_EQ(health.queued(), 1);
  EXPECT_EQ(health.oldest_queued().seconds(), 3);
  EXPECT_EQ(health.longest_queue(), 1);
  EXPECT_EQ(health.workers_known(), 0);

  const PrometheusText read = Scrape();
  EXPECT_EQ(read.Sum("callslip_queue_depth"), 1);
  EXPECT_EQ(read.Sum("callslip_queue_oldest_seconds"), 3);

  clock_.Advance(CommandDeadlines().schedule_to_start);
  table_.FireDeadlines(clock_.Now());
  EXPECT_EQ(Health().failed(), 1);
  EXPECT_FALSE(Health().has_oldest_queued());
  EXPECT_EQ(Scrape().Sum("callslip_commands_ended_total", {{"code", "never_delivered"}}), 1);
}

TEST_F(TrackerMetricsTest, DrainingTrackerIsNotReady) {
  Drain();
  const TrackerStatistics after = server_.Statistics();
  EXPECT_FALSE(after.ready);
  EXPECT_THAT(after.reasons, testing::ElementsAre("draining"));
}

}  // namespace
}  // namespace callslip::tracker
