// The tracker over its real listener with gRPC's own client: codes, trailers, streams, and callers
// that disconnect.
#include "tracker/rpc/tracker_server.h"

#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "grpcpp/generic/generic_stub.h"
#include "tracker/rpc/tracker_server_fixture.h"
#include "tracker/server/health_check.h"

namespace callslip::tracker {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(TrackerServerTest, CommandTravelsFromClientToWorkerAndBack) {
  const std::string id = Register();
  ASSERT_OK_AND_ASSIGN(const auto leased, Lease());
  ASSERT_EQ(leased.leases_size(), 1);
  EXPECT_EQ(leased.leases(0).command().command_id(), id);
  EXPECT_EQ(leased.leases(0).command().params(), R"({"script":"1"})");
  EXPECT_EQ(leased.leases(0).start_to_close().seconds(), 10);

  v1::AcknowledgeCommandRequest acknowledge;
  acknowledge.set_command_id(id);
  acknowledge.set_lease_token(leased.leases(0).lease_token());
  acknowledge.set_context(R"({"tab_id":7})");
  acknowledge.mutable_progress()->set_message("half way");
  ASSERT_OK(Call(&v1::CommandService::Stub::AcknowledgeCommand, acknowledge));
  EXPECT_EQ(Get(id)->command().progress().message(), "half way");

  EXPECT_TRUE(Complete(leased.leases(0))->accepted());
  const v1::Command command = Get(id)->command();
  EXPECT_EQ(command.state(), v1::COMMAND_STATE_COMPLETED);
  EXPECT_EQ(command.result(), "42");
  EXPECT_EQ(command.context(), R"({"tab_id":7})");
  EXPECT_EQ(command.client_id(), "local");
  EXPECT_EQ(command.register_time().seconds(), 1769947200);
  std::vector<std::string> stages;
  for (const auto& entry : command.trace()) {
    stages.push_back(absl::StrCat(entry.stage(), "/", entry.source(), "/", entry.worker_id()));
  }
  EXPECT_THAT(stages, ElementsAre("queued/client/", "sent/tracker/default", "started/worker/",
                                  "resolved/worker/"));
}

TEST_F(TrackerServerTest, ErrorsCarryReasonAndHint) {
  const absl::Status unknown = Get("corr-1-00000000000000000000000000000000").status();
  EXPECT_THAT(unknown, FailsWith(StatusCode::kNotFound, "unknown_command"));
  EXPECT_FALSE(DetailsOf(unknown).hint.empty());
  EXPECT_THAT(Get(""), FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));

  for (int i = 0; i < 100; ++i) Register();
  v1::RegisterCommandRequest request;
  request.set_type("execute_js");
  const absl::Status full = Call(&v1::CommandService::Stub::RegisterCommand, request).status();
  EXPECT_THAT(full, FailsWith(StatusCode::kResourceExhausted, "queue_full"));
  EXPECT_EQ(DetailsOf(full).depth, 100);
  EXPECT_EQ(DetailsOf(full).retry_after, absl::Seconds(1));
}

TEST_F(TrackerServerTest, WaitStreamsEachStateAndEndsWithTheLast) {
  const std::string id = Register();
  v1::WaitForCommandRequest request;
  request.set_command_id(id);
  grpc::ClientContext context;
  const auto stream = stub_->WaitForCommand(&context, request);
  v1::WaitForCommandResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.command().state(), v1::COMMAND_STATE_QUEUED);
  ASSERT_OK_AND_ASSIGN(const auto leased, Lease());
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.command().state(), v1::COMMAND_STATE_DELIVERED);
  ASSERT_OK(Complete(leased.leases(0)));
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.command().state(), v1::COMMAND_STATE_COMPLETED);
  EXPECT_EQ(response.command().result(), "42");
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(TrackerServerTest, WaitEndsAfterItsMaxWait) {
  v1::WaitForCommandRequest request;
  request.set_command_id(Register());
  request.mutable_max_wait()->set_seconds(8);
  grpc::ClientContext context;
  const auto stream = stub_->WaitForCommand(&context, request);
  v1::WaitForCommandResponse response;
  ASSERT_TRUE(stream->Read(&response));
  clock_.Advance(absl::Seconds(8));
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(TrackerServerTest, WaitForAnUnknownCommandFails) {
  v1::WaitForCommandRequest request;
  request.set_command_id("nonsense");
  grpc::ClientContext context;
  const auto stream = stub_->WaitForCommand(&context, request);
  v1::WaitForCommandResponse response;
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_THAT(FromGrpc(stream->Finish(), context),
              FailsWith(StatusCode::kNotFound, "unknown_command"));
}

TEST_F(TrackerServerTest, WaitIsFreedWhenItsCallerLeaves) {
  v1::WaitForCommandRequest request;
  request.set_command_id(Register());
  grpc::ClientContext context;
  const auto stream = stub_->WaitForCommand(&context, request);
  v1::WaitForCommandResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(table_.waits(), 1);
  context.TryCancel();
  AwaitWaits(0);
  EXPECT_FALSE(stream->Finish().ok());
}

TEST_F(TrackerServerTest, HeldPollOfADisconnectedCallerLeasesNothing) {
  v1::LeaseCommandsRequest request;
  request.mutable_max_wait()->set_seconds(5);
  grpc::ClientContext context;
  std::thread poller([&] {
    v1::LeaseCommandsResponse response;
    EXPECT_EQ(stub_->LeaseCommands(&context, request, &response).error_code(),
              grpc::StatusCode::CANCELLED);
  });
  AwaitWaits(1);
  context.TryCancel();
  poller.join();
  AwaitWaits(0);
  const std::string id = Register();
  EXPECT_EQ(Get(id)->command().state(), v1::COMMAND_STATE_QUEUED);
  EXPECT_EQ(Lease()->leases_size(), 1);
}

TEST_F(TrackerServerTest, HeldPollWakesForNewWork) {
  std::string id;
  std::thread poller([&] {
    const auto leased = Lease(5);
    ASSERT_OK(leased);
    ASSERT_EQ(leased->leases_size(), 1);
    id = leased->leases(0).command().command_id();
  });
  AwaitWaits(1);
  const std::string registered = Register();
  poller.join();
  EXPECT_EQ(id, registered);
}

TEST_F(TrackerServerTest, BackWithinIsBounded) {
  v1::LeaseCommandsRequest request;
  for (const auto& [seconds, nanos] : {std::pair(-1, 0), {0, -1}, {60, 1}, {61, 0}}) {
    request.mutable_back_within()->set_seconds(seconds);
    request.mutable_back_within()->set_nanos(nanos);
    const absl::Status refused = Call(&v1::CommandService::Stub::LeaseCommands, request).status();
    EXPECT_THAT(refused, FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
    EXPECT_THAT(std::string(refused.message()), HasSubstr("back_within"));
  }
  request.mutable_back_within()->set_nanos(0);
  for (const int seconds : {0, 60}) {
    request.mutable_back_within()->set_seconds(seconds);
    EXPECT_OK(Call(&v1::CommandService::Stub::LeaseCommands, request));
  }
}

TEST_F(TrackerServerTest, RepeatedReplayIsAnsweredAfterItsOriginIsRemoved) {
  const std::string origin = Register();
  v1::ExpireCommandRequest expire;
  expire.set_command_id(origin);
  ASSERT_OK(Call(&v1::CommandService::Stub::ExpireCommand, expire));
  // Dead letters are kept for 10 minutes.
  clock_.Advance(absl::Minutes(9));
  v1::ReplayCommandRequest request;
  request.set_command_id(origin);
  request.set_request_id("r1");
  ASSERT_OK_AND_ASSIGN(const auto replay, Call(&v1::CommandService::Stub::ReplayCommand, request));
  EXPECT_FALSE(replay.existed());
  EXPECT_EQ(replay.command().replay_of(), origin);

  clock_.Advance(absl::Minutes(2));
  while (Get(origin).ok()) {
  }
  ASSERT_OK_AND_ASSIGN(const auto again, Call(&v1::CommandService::Stub::ReplayCommand, request));
  EXPECT_TRUE(again.existed());
  EXPECT_EQ(again.command().command_id(), replay.command().command_id());
  request.set_request_id("r2");
  EXPECT_EQ(Call(&v1::CommandService::Stub::ReplayCommand, request).status().code(),
            StatusCode::kNotFound);
}

TEST_F(TrackerServerTest, CommandsAreListedInPages) {
  for (int i = 0; i < 3; ++i) Register("agent");
  v1::ListCommandsRequest request;
  request.set_client_id("agent");
  request.set_page_size(2);
  ASSERT_OK_AND_ASSIGN(auto page, Call(&v1::CommandService::Stub::ListCommands, request));
  EXPECT_EQ(page.commands_size(), 2);
  EXPECT_TRUE(page.commands(0).params().empty());
  request.set_page_token(page.next_page_token());
  ASSERT_OK_AND_ASSIGN(page, Call(&v1::CommandService::Stub::ListCommands, request));
  EXPECT_EQ(page.commands_size(), 1);
  EXPECT_TRUE(page.next_page_token().empty());
}

TEST_F(TrackerServerTest, HealthCheckSucceedsOnlyWhileTheTrackerServes) {
  EXPECT_OK(CheckHealth(address_, std::nullopt, absl::Seconds(10)));
  Drain();
  EXPECT_EQ(CheckHealth(address_, std::nullopt, absl::Seconds(10)).code(),
            StatusCode::kUnavailable);
}

TEST_F(TrackerServerTest, ReflectionListsTheService) {
  // Written by hand, since Debian ships the service but not its proto: ServerReflectionRequest
  // with list_services (field 7) as an empty string.
  const grpc::Slice list_services(std::string("\x3a\x00", 2));
  const grpc::ByteBuffer request(&list_services, 1);
  grpc::GenericStub stub(
      grpc::CreateChannel(address_.ToString(), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  const auto await_next = [&queue] {
    void* tag = nullptr;
    bool ok = false;
    return queue.Next(&tag, &ok) && ok;
  };
  const auto call = stub.PrepareCall(
      &context, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", &queue);
  call->StartCall(nullptr);
  ASSERT_TRUE(await_next());
  call->WriteLast(request, grpc::WriteOptions(), nullptr);
  ASSERT_TRUE(await_next());
  grpc::ByteBuffer response;
  call->Read(&response, nullptr);
  ASSERT_TRUE(await_next());
  grpc::Slice bytes;
  ASSERT_TRUE(response.DumpToSingleSlice(&bytes).ok());
  EXPECT_THAT(std::string(reinterpret_cast<const char*>(bytes.begin()), bytes.size()),
              HasSubstr("callslip.tracker.v1.CommandService"));
  grpc::Status status;
  call->Finish(&status, nullptr);
  ASSERT_TRUE(await_next());
  EXPECT_TRUE(status.ok());
}

// Each of these streams holds a thread.
TEST_F(TrackerServerTest, NumberOfReflectionStreamsIsLimited) {
  constexpr int kStreams = 64;
  grpc::GenericStub stub(
      grpc::CreateChannel(address_.ToString(), grpc::InsecureChannelCredentials()));
  grpc::CompletionQueue queue;
  const auto await_next = [&queue] {
    void* tag = nullptr;
    bool ok = false;
    return queue.Next(&tag, &ok) && ok;
  };
  const grpc::Slice list_services(std::string("\x3a\x00", 2));
  const grpc::ByteBuffer request(&list_services, 1);
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::GenericClientAsyncReaderWriter>> calls;
  int answered = 0;
  for (int i = 0; i < kStreams; ++i) {
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    calls.push_back(
        stub.PrepareCall(contexts.back().get(),
                         "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", &queue));
    calls.back()->StartCall(nullptr);
    await_next();
    calls.back()->Write(request, nullptr);
    await_next();
    grpc::ByteBuffer response;
    calls.back()->Read(&response, nullptr);
    if (await_next()) ++answered;
  }
  EXPECT_GT(answered, 0);
  EXPECT_LT(answered, 16);
  EXPECT_FALSE(Register().empty()) << "others go on";
  for (int i = 0; i < kStreams; ++i) {
    contexts[i]->TryCancel();
    grpc::Status status;
    calls[i]->Finish(&status, nullptr);
    await_next();
  }
  queue.Shutdown();
  while (await_next()) {
  }
}

TEST_F(TrackerServerTest, SecondTrackerOnTheSamePortIsRefused) {
  TrackerServer second(&clock_, &table_);
  EXPECT_EQ(second.Start(address_, 1).status().code(), StatusCode::kUnavailable);
}

TEST_F(TrackerServerTest, DrainEndsWaitsAndPollsButAcceptsReports) {
  v1::WaitForCommandRequest request;
  request.set_command_id(Register());
  const auto lease = Lease();
  ASSERT_OK(lease);
  grpc::ClientContext context;
  const auto stream = stub_->WaitForCommand(&context, request);
  v1::WaitForCommandResponse response;
  ASSERT_TRUE(stream->Read(&response));
  std::thread poller([&] {
    const auto leased = Lease(5);
    ASSERT_OK(leased);
    EXPECT_EQ(leased->leases_size(), 0);
  });
  AwaitWaits(2);
  std::thread drain([&] { Drain(); });
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_TRUE(stream->Finish().ok());
  poller.join();

  v1::RegisterCommandRequest late;
  late.set_type("execute_js");
  EXPECT_THAT(Call(&v1::CommandService::Stub::RegisterCommand, late),
              FailsWith(StatusCode::kUnavailable, "draining"));
  // The drain goes on until the worker has reported: no clock moves here.
  const auto completed = Complete(lease->leases(0));
  ASSERT_OK(completed);
  EXPECT_TRUE(completed->accepted());
  drain.join();
}

}  // namespace
}  // namespace callslip::tracker
