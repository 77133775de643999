#include "callslip/tracker/v1/worker_service.grpc.pb.h"

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tracker/rpc/tracker_server_fixture.h"

namespace callslip::tracker {
namespace {

using ::testing::ElementsAre;

class WorkerServiceTest : public TrackerServerTest {
 protected:
  WorkerServiceTest()
      : workers_(v1::WorkerService::NewStub(
            grpc::CreateChannel(address_.ToString(), grpc::InsecureChannelCredentials()))) {}

  template <typename Request, typename Response>
  absl::StatusOr<Response> CallWorkers(grpc::Status (v1::WorkerService::Stub::*method)(
                                           grpc::ClientContext*, const Request&, Response*),
                                       const Request& request) {
    grpc::ClientContext context;
    Response response;
    const grpc::Status status = ((*workers_).*method)(&context, request, &response);
    if (!status.ok()) return FromGrpc(status, context);
    return response;
  }

  v1::ListWorkersResponse List(const std::string& client = "", bool all_clients = false) {
    v1::ListWorkersRequest request;
    request.set_client_id(client);
    request.set_all_clients(all_clients);
    const auto listed = CallWorkers(&v1::WorkerService::Stub::ListWorkers, request);
    EXPECT_OK(listed);
    return listed.value_or(v1::ListWorkersResponse());
  }

  const std::unique_ptr<v1::WorkerService::Stub> workers_;
};

TEST_F(WorkerServiceTest, WorkerIsKnownFromItsFirstCall) {
  EXPECT_EQ(List().workers_size(), 0);
  ASSERT_OK(Lease());
  clock_.Advance(absl::Seconds(11));
  const v1::ListWorkersResponse listed = List();
  ASSERT_EQ(listed.workers_size(), 1);
  const v1::Worker& worker = listed.workers(0);
  EXPECT_EQ(worker.target(), "browser");
  EXPECT_EQ(worker.worker_id(), "default");
  EXPECT_FALSE(worker.connected());
  EXPECT_EQ(worker.seen_ago().seconds(), 11);
  EXPECT_FALSE(worker.has_report());
  EXPECT_FALSE(worker.has_report_ago());
}

TEST_F(WorkerServiceTest, WorkerIsConnectedDuringAndShortlyAfterAHeldCall) {
  std::thread worker([&] { ASSERT_OK(Lease(30)); });
  AwaitWaits(1);
  clock_.Advance(absl::Seconds(20));
  EXPECT_TRUE(List().workers(0).connected());
  EXPECT_EQ(List().workers(0).seen_ago().seconds(), 0);
  clock_.Advance(absl::Seconds(10));
  worker.join();
  clock_.Advance(absl::Seconds(10));
  EXPECT_TRUE(List().workers(0).connected()) << "it was there 10 s ago";
}

TEST_F(WorkerServiceTest, ReportIsListedAsItWasSent) {
  v1::ReportWorkerRequest request;
  request.set_target("laptop");
  request.set_worker_id("w1");
  v1::WorkerReport& report = *request.mutable_report();
  report.set_name("Work laptop");
  report.set_version("0.1.0");
  report.set_browser("Chrome/131.0");
  report.set_paused(true);
  report.set_tabs(R"([{"tab_id":7}])");
  ASSERT_OK(CallWorkers(&v1::WorkerService::Stub::ReportWorker, request));
  const v1::ListWorkersResponse listed = List();
  ASSERT_EQ(listed.workers_size(), 1);
  EXPECT_EQ(listed.workers(0).report().SerializeAsString(), report.SerializeAsString());
  EXPECT_TRUE(listed.workers(0).connected());
  request.clear_report();
  EXPECT_THAT(CallWorkers(&v1::WorkerService::Stub::ReportWorker, request),
              FailsWith(absl::StatusCode::kInvalidArgument, "invalid_argument"));
}

TEST_F(WorkerServiceTest, CommandsOfOtherClientsAreOnlyCounted) {
  const std::string own = Register("a");
  Register("b");
  Register("b");
  ASSERT_OK(Lease());
  v1::ListWorkersResponse listed = List("a");
  ASSERT_EQ(listed.workers(0).commands_size(), 1);
  EXPECT_EQ(listed.workers(0).commands(0).command_id(), own);
  EXPECT_EQ(listed.workers(0).commands(0).type(), "execute_js");
  EXPECT_EQ(listed.workers(0).commands(0).state(), v1::COMMAND_STATE_DELIVERED);
  EXPECT_EQ(listed.workers(0).commands(0).deliver_time().seconds(),
            absl::ToUnixSeconds(clock_.Now()));
  EXPECT_EQ(listed.workers(0).other_commands(), 2);
  listed = List("a@viewer", /*all_clients=*/true);
  EXPECT_EQ(listed.workers(0).commands_size(), 3);
  EXPECT_EQ(listed.workers(0).other_commands(), 0);
  EXPECT_EQ(List().workers(0).other_commands(), 3) << "empty is the client `local`";
}

TEST_F(WorkerServiceTest, TargetsAreListedWithTheirQueuesAndWorkers) {
  const auto targets = [&](const std::string& client, bool all, const std::string& contains = "",
                           int page_size = 0) {
    v1::ListTargetsRequest request;
    request.set_client_id(client);
    request.set_all_clients(all);
    request.set_contains(contains);
    request.set_page_size(page_size);
    const auto listed = CallWorkers(&v1::WorkerService::Stub::ListTargets, request);
    EXPECT_OK(listed);
    return listed.value_or(v1::ListTargetsResponse());
  };
  EXPECT_EQ(targets("a", false).targets_size(), 0);
  ASSERT_OK(Lease());
  // Of two clients: six at a target whose worker leases five, and one at a target without a worker.
  for (int i = 0; i < 5; ++i) Register("a");
  ASSERT_OK(Lease());
  Register("b");
  clock_.Advance(absl::Seconds(1));
  Register("b", "Nobody-is-here");
  clock_.Advance(absl::Seconds(1));

  const v1::ListTargetsResponse all = targets("v@viewer", true);
  EXPECT_EQ(all.total(), 2);
  ASSERT_EQ(all.targets_size(), 2);
  const v1::Target& alone = all.targets(0);
  EXPECT_EQ(alone.target(), "Nobody-is-here") << "what nobody works off comes first";
  EXPECT_EQ(alone.queued(), 1);
  EXPECT_EQ(alone.oldest_queued().seconds(), 1);
  EXPECT_EQ(alone.workers_known(), 0);
  const v1::Target& browser = all.targets(1);
  EXPECT_EQ(browser.target(), "browser");
  EXPECT_EQ(browser.queued(), 1);
  EXPECT_EQ(browser.oldest_queued().seconds(), 2);
  EXPECT_EQ(browser.delivered(), 5);
  EXPECT_EQ(browser.running(), 0);
  EXPECT_EQ(browser.workers_connected(), 1);
  EXPECT_EQ(browser.workers_known(), 1);
  EXPECT_EQ(browser.queue_limit(), 1000);

  const v1::ListTargetsResponse own = targets("a", false);
  ASSERT_EQ(own.targets_size(), 1) << "where only others have anything is not told";
  EXPECT_EQ(own.targets(0).delivered(), 5);
  EXPECT_EQ(own.targets(0).queued(), 0);
  EXPECT_FALSE(own.targets(0).has_oldest_queued());
  EXPECT_EQ(targets("b", false).targets(1).queued(), 1);

  EXPECT_EQ(targets("v@viewer", true, "NOBODY").targets_size(), 1);
  EXPECT_EQ(targets("v@viewer", true, "", 1).targets_size(), 1);
  EXPECT_EQ(targets("v@viewer", true, "", 1).total(), 2);
  v1::ListTargetsRequest request;
  request.set_page_size(-1);
  EXPECT_THAT(CallWorkers(&v1::WorkerService::Stub::ListTargets, request),
              FailsWith(absl::StatusCode::kInvalidArgument, "invalid_argument"));
}

TEST_F(WorkerServiceTest, LogIsStoredAndListed) {
  v1::AppendWorkerLogRequest append;
  append.set_worker_id("w1");
  append.set_kind("logs");
  append.add_entries(R"({"level":"error"})");
  append.add_entries(R"({"level":"info"})");
  ASSERT_OK(CallWorkers(&v1::WorkerService::Stub::AppendWorkerLog, append));
  v1::ListWorkerLogRequest request;
  request.set_kind("logs");
  const auto listed = CallWorkers(&v1::WorkerService::Stub::ListWorkerLog, request);
  ASSERT_OK(listed);
  ASSERT_EQ(listed->entries_size(), 2);
  EXPECT_EQ(listed->entries(0).entry(), R"({"level":"info"})");
  EXPECT_EQ(listed->entries(0).sequence(), 2);
  EXPECT_EQ(listed->entries(0).target(), "browser");
  EXPECT_EQ(listed->entries(0).worker_id(), "w1");
  EXPECT_EQ(listed->entries(0).time().seconds(), absl::ToUnixSeconds(clock_.Now()));
  append.clear_kind();
  EXPECT_THAT(CallWorkers(&v1::WorkerService::Stub::AppendWorkerLog, append),
              FailsWith(absl::StatusCode::kInvalidArgument, "invalid_argument"));
}

TEST_F(WorkerServiceTest, ClientSeesOnlyLogEntriesFromTabsOfItsCommands) {
  const std::string id = Register("alice");
  const auto leased = Lease();
  ASSERT_OK(leased);
  v1::AppendWorkerLogRequest append;
  append.set_client_id("extension");
  append.set_kind("logs");
  append.add_entries("1");
  append.add_entries("2");
  append.add_places("tab-7");
  append.add_places("tab-8");
  ASSERT_OK(CallWorkers(&v1::WorkerService::Stub::AppendWorkerLog, append));
  const auto listed = [this](const std::string& client) {
    v1::ListWorkerLogRequest request;
    request.set_client_id(client);
    const auto response = CallWorkers(&v1::WorkerService::Stub::ListWorkerLog, request);
    EXPECT_OK(response);
    std::vector<std::string> entries;
    for (const v1::WorkerLogEntry& entry : response->entries()) entries.push_back(entry.entry());
    return entries;
  };
  EXPECT_THAT(listed("alice"), testing::IsEmpty());
  v1::CompleteCommandRequest complete;
  complete.set_command_id(id);
  complete.set_lease_token("lease-0123456789abcdee");
  complete.set_result("{}");
  complete.set_place("tab-8");
  EXPECT_FALSE(Call(&v1::CommandService::Stub::CompleteCommand, complete).ok());
  EXPECT_THAT(listed("alice"), testing::IsEmpty()) << "a forged report claims nothing";
  complete.set_lease_token(leased->leases(0).lease_token());
  complete.set_place("tab-7");
  ASSERT_OK(Call(&v1::CommandService::Stub::CompleteCommand, complete));
  EXPECT_THAT(listed("alice"), ElementsAre("1"));
  EXPECT_THAT(listed("bob"), testing::IsEmpty());
  EXPECT_THAT(listed("extension"), ElementsAre("2"));
  for (const char* role : {"viewer", "admin"}) {
    EXPECT_THAT(listed(absl::StrCat("eve@", role)), ElementsAre("2", "1"));
  }

  complete.set_place(std::string(129, 'p'));
  EXPECT_THAT(Call(&v1::CommandService::Stub::CompleteCommand, complete),
              FailsWith(absl::StatusCode::kInvalidArgument, "invalid_argument"));
  append.add_places("tab-9");
  EXPECT_THAT(CallWorkers(&v1::WorkerService::Stub::AppendWorkerLog, append),
              FailsWith(absl::StatusCode::kInvalidArgument, "invalid_argument"));
}

TEST_F(WorkerServiceTest, WorkerThatSendsNoHeartbeatsIsNotLost) {
  const std::string id = Register();
  const auto leased = Lease();
  ASSERT_OK(leased);
  v1::AcknowledgeCommandRequest acknowledge;
  acknowledge.set_command_id(id);
  acknowledge.set_lease_token(leased->leases(0).lease_token());
  acknowledge.set_without_heartbeats(true);
  ASSERT_OK(Call(&v1::CommandService::Stub::AcknowledgeCommand, acknowledge));
  clock_.Advance(absl::Seconds(11));
  EXPECT_EQ(Get(id)->command().state(), v1::COMMAND_STATE_RUNNING);
  ASSERT_OK(Complete(leased->leases(0)));
  EXPECT_EQ(Get(id)->command().state(), v1::COMMAND_STATE_COMPLETED);
}

}  // namespace
}  // namespace callslip::tracker
