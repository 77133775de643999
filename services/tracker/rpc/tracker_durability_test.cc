// Nothing leaves the tracker before it is stored, over gRPC.
#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "absl/memory/memory.h"
#include "callslip/tracker/v1/admin_service.grpc.pb.h"
#include "callslip/tracker/v1/command_service.grpc.pb.h"
#include "common/fake_clock.h"
#include "common/rpc_status.h"
#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "support/temporary_folder.h"
#include "tracker/domain/queue/deadline_thread.h"
#include "tracker/process/journal_committer.h"
#include "tracker/rpc/tracker_server.h"
#include "tracker/storage/scripted_journal_storage.h"

namespace callslip::tracker {
namespace {

using Stub = v1::CommandService::Stub;
using Where = JournalCommitter::Where;
using grpc::health::v1::HealthCheckResponse;

// A call that goes on while the test does something else.
template <typename Response>
class PendingCall {
 public:
  explicit PendingCall(std::function<absl::StatusOr<Response>()> call)
      : thread_([this, call = std::move(call)] {
          answer_ = call();
          answered_ = true;
        }) {}
  ~PendingCall() {
    if (thread_.joinable()) thread_.join();
  }

  bool answered() const { return answered_; }
  absl::StatusOr<Response> Await() {
    thread_.join();
    return answer_;
  }

 private:
  std::atomic<bool> answered_{false};
  absl::StatusOr<Response> answer_ = absl::UnknownError("no answer yet");
  std::thread thread_;
};

class TrackerDurabilityTest : public testing::TestWithParam<Where> {
 protected:
  TrackerDurabilityTest() {
    committer_.SetStorageListener([this](bool works) { server_.SetStoring(works); });
    const Address address =
        *server_.Start(Address{.unix_path = folder_.path() + "/tracker.sock"}, 2);
    channel_ = grpc::CreateChannel(address.ToString(), grpc::InsecureChannelCredentials());
    stub_ = v1::CommandService::NewStub(channel_);
  }
  ~TrackerDurabilityTest() override {
    storage_.Unblock();
    server_.Drain(absl::ZeroDuration());
    committer_.SetStorageListener(nullptr);
  }

  template <typename Request, typename Response>
  absl::StatusOr<Response> Call(grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                             Response*),
                                const Request& request) {
    grpc::ClientContext context;
    Response response;
    const grpc::Status status = ((*stub_).*method)(&context, request, &response);
    if (!status.ok()) return FromGrpc(status, context);
    return response;
  }

  absl::StatusOr<v1::RegisterCommandResponse> Register(const std::string& request_id = "") {
    v1::RegisterCommandRequest request;
    request.set_type("click");
    request.set_request_id(request_id);
    return Call(&Stub::RegisterCommand, request);
  }
  absl::StatusOr<v1::GetCommandResponse> Get(const std::string& id) {
    v1::GetCommandRequest request;
    request.set_command_id(id);
    return Call(&Stub::GetCommand, request);
  }
  absl::StatusOr<v1::LeaseCommandsResponse> Lease() {
    return Call(&Stub::LeaseCommands, v1::LeaseCommandsRequest());
  }
  absl::StatusOr<v1::CompleteCommandResponse> Complete(const v1::LeaseCommandsResponse& leased) {
    v1::CompleteCommandRequest report;
    report.set_command_id(leased.leases(0).command().command_id());
    report.set_lease_token(leased.leases(0).lease_token());
    report.set_result("42");
    return Call(&Stub::CompleteCommand, report);
  }
  // The id of a command with a result.
  std::string Completed() {
    const auto registered = Register();
    const auto leased = Lease();
    EXPECT_OK(registered);
    EXPECT_OK(leased);
    EXPECT_OK(Complete(*leased));
    return registered->command().command_id();
  }
  HealthCheckResponse::ServingStatus Health() {
    const auto health = grpc::health::v1::Health::NewStub(channel_);
    grpc::ClientContext context;
    HealthCheckResponse response;
    EXPECT_TRUE(health->Check(&context, {}, &response).ok());
    return response.status();
  }
  // Blocks until the storage works again and has everything. Advances the time by the pauses
  // between tries and little more, because commands have deadlines. A try that was under way may
  // set its pause late.
  void AwaitStored() {
    constexpr int kSoon = 20;
    constexpr int kSeldom = 10'000;
    for (int looks = 0; !committer_.IsOpen(); ++looks) {
      if (looks < kSoon || looks % kSeldom == 0) clock_.Advance(absl::Milliseconds(100));
      std::this_thread::yield();
    }
  }

  const TemporaryFolder folder_;
  FakeClock clock_;
  ScriptedStorage& storage_ = *new ScriptedStorage;  // Owned by measured_.
  MeasuredJournalStorage measured_{&clock_, absl::WrapUnique(&storage_)};
  Journal journal_;
  JournalCommitter committer_{&clock_, &journal_, &measured_, GetParam()};
  CommandTable table_{CommandDeadlines{}, {}, &journal_};
  DeadlineThread deadlines_{&clock_, &table_};
  TrackerServer server_{&clock_, &table_, nullptr, &committer_, {.commands = &measured_}};
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<Stub> stub_;
};

// With a thread of its own for the storage. Without one, the polling thread appends, and other
// calls wait for it.
class TrackerHangingStorageTest : public TrackerDurabilityTest {};

TEST_P(TrackerDurabilityTest, AnswerIsSentAfterItsChangeIsStored) {
  ASSERT_OK_AND_ASSIGN(const auto registered, Register());
  EXPECT_EQ(storage_.sequences().size(), 1u);
  ASSERT_OK(Get(registered.command().command_id()));
  ASSERT_OK_AND_ASSIGN(const auto leased, Lease());
  EXPECT_EQ(leased.leases_size(), 1);
  EXPECT_EQ(storage_.sequences().size(), 2u);
}

TEST_P(TrackerDurabilityTest, AnswerWaitsForStorageButHealthCheckDoesNot) {
  storage_.Block();
  PendingCall<v1::RegisterCommandResponse> call([this] { return Register(); });
  storage_.AwaitTries(1);
  // Otherwise the polling thread appends, and this call would wait for it.
  if (GetParam() == Where::kOnThread) {
    EXPECT_EQ(Health(), HealthCheckResponse::SERVING);
  }
  EXPECT_FALSE(call.answered());
  EXPECT_EQ(table_.commands(), 1);
  storage_.Unblock();
  EXPECT_OK(call.Await());
}

// The worker must not begin a command whose lease a crash would undo.
TEST_P(TrackerDurabilityTest, LeaseThatCannotBeStoredIsReturnedToTheQueue) {
  ASSERT_OK(Register());
  storage_.FailWith(absl::UnavailableError("disk full"));
  EXPECT_THAT(Lease(), FailsWith(absl::StatusCode::kUnavailable, "storage_unavailable"));
  storage_.FailWith(absl::OkStatus());
  AwaitStored();
  ASSERT_OK_AND_ASSIGN(const auto leased, Lease());
  ASSERT_EQ(leased.leases_size(), 1);
  EXPECT_EQ(leased.leases(0).command().attempt(), 1);
}

// A result that did not reach its reader is not collected: it can be read again, and its loss is
// reported.
TEST_P(TrackerDurabilityTest, ResultThatCouldNotBeSentIsNotCollected) {
  const std::string id = Completed();
  ASSERT_OK_AND_ASSIGN(const auto other, Register());
  v1::CancelCommandRequest cancel;
  cancel.set_command_id(other.command().command_id());
  storage_.FailWith(absl::UnavailableError("disk full"));
  EXPECT_THAT(Call(&Stub::CancelCommand, cancel),
              FailsWith(absl::StatusCode::kUnavailable, "storage_unavailable"));
  EXPECT_THAT(Get(id), FailsWith(absl::StatusCode::kUnavailable, "storage_unavailable"));
  EXPECT_FALSE((*table_.Get("local", id, /*peek=*/true))->spec->is_read());
  clock_.Advance(CommandDeadlines().result_retention);
  for (auto now = table_.Get("local", id, true); now.ok() && (*now)->result != nullptr;) {
    std::this_thread::yield();
    now = table_.Get("local", id, true);
  }
  storage_.FailWith(absl::OkStatus());
  AwaitStored();
  ASSERT_OK_AND_ASSIGN(const auto read, Get(id));
  EXPECT_EQ(read.command().state(), v1::COMMAND_STATE_EXPIRED);
  EXPECT_EQ(read.command().error().code(), "result_expired");
}

TEST_P(TrackerDurabilityTest, ResultIsCollectedOnceItIsSent) {
  const std::string id = Completed();
  ASSERT_OK_AND_ASSIGN(const auto read, Get(id));
  EXPECT_EQ(read.command().result(), "42");
  // The answer may arrive before its call is over.
  const CommandPtr command = *table_.Get("local", id, /*peek=*/true);
  while (!command->spec->is_read()) std::this_thread::yield();
  clock_.Advance(CommandDeadlines().result_retention);
  while (table_.commands() != 0) std::this_thread::yield();
  EXPECT_THAT(Get(id), FailsWith(absl::StatusCode::kNotFound, "command_removed"));
}

TEST_P(TrackerDurabilityTest, UpdateThatCouldNotBeSentIsNotCollected) {
  ASSERT_OK_AND_ASSIGN(const auto registered, Register());
  const std::string id = registered.command().command_id();
  grpc::ClientContext context;
  const auto stream = stub_->WatchCommands(&context);
  v1::WatchCommandsRequest watch;
  watch.add_add()->set_command_id(id);
  watch.mutable_add(0)->set_only_end(true);
  ASSERT_TRUE(stream->Write(watch));
  while (table_.waits() == 0) std::this_thread::yield();
  ASSERT_OK_AND_ASSIGN(const auto leased, Lease());
  storage_.FailWith(absl::UnavailableError("disk full"));
  EXPECT_THAT(Complete(leased), FailsWith(absl::StatusCode::kUnavailable, "storage_unavailable"));
  v1::WatchCommandsResponse message;
  EXPECT_FALSE(stream->Read(&message));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_FALSE((*table_.Get("local", id, /*peek=*/true))->spec->is_read());
  storage_.FailWith(absl::OkStatus());
  AwaitStored();
  ASSERT_OK_AND_ASSIGN(const auto read, Get(id));
  EXPECT_EQ(read.command().result(), "42");
}

TEST_P(TrackerDurabilityTest, StorageFailureIsReportedUntilItPasses) {
  storage_.FailWith(absl::UnavailableError("disk full"));
  EXPECT_THAT(Register("r1"), FailsWith(absl::StatusCode::kUnavailable, "storage_unavailable"));
  EXPECT_EQ(Health(), HealthCheckResponse::NOT_SERVING);
  EXPECT_FALSE(server_.Statistics().ready);
  v1::GetHealthResponse health;
  grpc::ClientContext context;
  ASSERT_TRUE(v1::AdminService::NewStub(channel_)->GetHealth(&context, {}, &health).ok());
  EXPECT_FALSE(health.ready());
  EXPECT_THAT(health.reasons(), testing::ElementsAre("storage_failed"));
  EXPECT_GT(health.storage_failures(), 0);
  EXPECT_THAT(Register(), FailsWith(absl::StatusCode::kUnavailable, "storage_unavailable"));
  EXPECT_EQ(table_.commands(), 1);
  storage_.FailWith(absl::OkStatus());
  AwaitStored();
  ASSERT_OK_AND_ASSIGN(const auto repeated, Register("r1"));
  EXPECT_TRUE(repeated.existed());
  while (Health() != HealthCheckResponse::SERVING) std::this_thread::yield();
  EXPECT_TRUE(server_.Statistics().ready);
  EXPECT_OK(Register());
}

TEST_P(TrackerHangingStorageTest, IsReported) {
  storage_.Block();
  PendingCall<v1::RegisterCommandResponse> call([this] { return Register("hanging"); });
  storage_.AwaitTries(1);
  clock_.Advance(absl::Seconds(6));
  PendingCall<v1::RegisterCommandResponse> late([this] { return Register("late"); });
  const auto is_there = [&] { return late.answered() || table_.commands() == 2; };
  while (server_.Statistics().ready || !is_there()) std::this_thread::yield();
  EXPECT_THAT(server_.Statistics().reasons, testing::ElementsAre("storage_failed"));
  storage_.Unblock();
  EXPECT_THAT(call.Await(), FailsWith(absl::StatusCode::kUnavailable, "storage_unavailable"));
  // A call that was accepted just before the storage was given up is stored now.
  if (const auto answer = late.Await(); !answer.ok()) {
    EXPECT_THAT(answer, FailsWith(absl::StatusCode::kUnavailable, "storage_unavailable"));
  }
  while (!server_.Statistics().ready) std::this_thread::yield();
}

TEST_P(TrackerDurabilityTest, WaitReportsTheEndAfterItIsStored) {
  ASSERT_OK_AND_ASSIGN(const auto registered, Register());
  const std::string id = registered.command().command_id();
  grpc::ClientContext context;
  v1::WaitForCommandRequest wait;
  wait.set_command_id(id);
  const auto stream = stub_->WaitForCommand(&context, wait);
  v1::WaitForCommandResponse message;
  ASSERT_TRUE(stream->Read(&message));
  const size_t before = storage_.sequences().size();
  v1::CancelCommandRequest cancel;
  cancel.set_command_id(id);
  ASSERT_OK(Call(&Stub::CancelCommand, cancel));
  ASSERT_TRUE(stream->Read(&message));
  EXPECT_EQ(message.command().state(), v1::COMMAND_STATE_CANCELLED);
  EXPECT_GT(storage_.sequences().size(), before);
  EXPECT_FALSE(stream->Read(&message));
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_P(TrackerDurabilityTest, StreamEndsAndFreesItsWatchesWhenStorageFails) {
  ASSERT_OK_AND_ASSIGN(const auto registered, Register());
  grpc::ClientContext context;
  const auto stream = stub_->WatchCommands(&context);
  v1::WatchCommandsRequest watch;
  watch.add_add()->set_command_id(registered.command().command_id());
  ASSERT_TRUE(stream->Write(watch));
  v1::WatchCommandsResponse message;
  ASSERT_TRUE(stream->Read(&message));
  storage_.FailWith(absl::UnavailableError("disk full"));
  EXPECT_THAT(Lease(), FailsWith(absl::StatusCode::kUnavailable, "storage_unavailable"));
  EXPECT_FALSE(stream->Read(&message));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  while (table_.waits() != 0) std::this_thread::yield();
  storage_.FailWith(absl::OkStatus());
  AwaitStored();
}

TEST_P(TrackerDurabilityTest, DeadlinesAreStoredWithoutACall) {
  ASSERT_OK(Register());
  const size_t before = storage_.sequences().size();
  clock_.Advance(absl::Seconds(30));
  while (storage_.sequences().size() == before) std::this_thread::yield();
}

INSTANTIATE_TEST_SUITE_P(, TrackerHangingStorageTest, testing::Values(Where::kOnThread));

INSTANTIATE_TEST_SUITE_P(, TrackerDurabilityTest,
                         testing::Values(Where::kOnCaller, Where::kOnThread),
                         [](const auto& tested) {
                           return tested.param == Where::kOnCaller ? "OnCaller" : "OnThread";
                         });

}  // namespace
}  // namespace callslip::tracker
