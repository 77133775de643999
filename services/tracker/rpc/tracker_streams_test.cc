// WatchCommands and StreamCommands over the real listener, with gRPC's own client.
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tracker/domain/command/command_limits.h"
#include "tracker/rpc/tracker_server_fixture.h"

namespace callslip::tracker {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;

class WatchCommandsTest : public TrackerServerTest {
 protected:
  ~WatchCommandsTest() override {
    context_.TryCancel();
    if (!finished_) (void)stream_->Finish();
  }

  static v1::CommandWatch* Add(v1::WatchCommandsRequest& request, int64_t watch_id,
                               const std::string& command_id) {
    v1::CommandWatch* watch = request.add_add();
    watch->set_watch_id(watch_id);
    watch->set_command_id(command_id);
    return watch;
  }

  void WatchOne(int64_t watch_id, const std::string& command_id) {
    v1::WatchCommandsRequest request;
    Add(request, watch_id, command_id);
    ASSERT_TRUE(stream_->Write(request));
  }

  v1::CommandUpdate Next() {
    if (updates_.empty()) {
      v1::WatchCommandsResponse response;
      EXPECT_TRUE(stream_->Read(&response));
      updates_.assign(response.updates().begin(), response.updates().end());
      if (updates_.empty()) return {};
    }
    v1::CommandUpdate next = updates_.front();
    updates_.erase(updates_.begin());
    return next;
  }

  grpc::Status Finish() {
    finished_ = true;
    v1::WatchCommandsResponse rest;
    while (stream_->Read(&rest)) {
    }
    return stream_->Finish();
  }

  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::WatchCommandsRequest, v1::WatchCommandsResponse>>
      stream_ = stub_->WatchCommands(&context_);
  std::vector<v1::CommandUpdate> updates_;
  bool finished_ = false;
};

TEST_F(WatchCommandsTest, SeveralCommandsAreWatchedUntilTheyEnd) {
  const std::string one = Register();
  const std::string other = Register();
  v1::WatchCommandsRequest request;
  Add(request, 1, one);
  Add(request, 2, other)->set_only_end(true);
  ASSERT_TRUE(stream_->Write(request));
  EXPECT_EQ(Next().command().state(), v1::COMMAND_STATE_QUEUED);
  AwaitWaits(2);

  const auto leased = Lease();
  ASSERT_EQ(leased->leases_size(), 2);
  for (const v1::CommandLease& lease : leased->leases()) ASSERT_OK(Complete(lease));
  std::map<int64_t, v1::CommandUpdate> ends;
  while (ends.size() < 2) {
    const v1::CommandUpdate update = Next();
    if (update.last()) ends[update.watch_id()] = update;
    EXPECT_TRUE(update.watch_id() == 1 || update.last());
  }
  EXPECT_EQ(ends[1].command().command_id(), one);
  EXPECT_EQ(ends[1].command().result(), "42");
  EXPECT_EQ(ends[2].command().command_id(), other);
  EXPECT_EQ(table_.waits(), 0);

  // Its ids may be used again.
  WatchOne(1, one);
  EXPECT_TRUE(Next().last());
  ASSERT_TRUE(stream_->WritesDone());
  EXPECT_TRUE(Finish().ok());
}

TEST_F(WatchCommandsTest, FailedWatchDoesNotEndTheStream) {
  WatchOne(7, "corr-1-00000000000000000000000000000000");
  const v1::CommandUpdate failed = Next();
  EXPECT_EQ(failed.watch_id(), 7);
  EXPECT_EQ(failed.error().code(), static_cast<int>(StatusCode::kNotFound));
  EXPECT_EQ(failed.error().reason(), "unknown_command");
  EXPECT_FALSE(failed.error().hint().empty());
  EXPECT_TRUE(failed.last());
  WatchOne(7, Register());
  EXPECT_EQ(Next().command().state(), v1::COMMAND_STATE_QUEUED);
}

TEST_F(WatchCommandsTest, WatchIdInUseEndsTheStream) {
  const std::string id = Register();
  WatchOne(1, id);
  Next();
  WatchOne(1, id);
  EXPECT_EQ(Finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  AwaitWaits(0);
}

TEST_F(WatchCommandsTest, RemovedWatchSendsNoUpdates) {
  const std::string removed = Register();
  const std::string kept = Register();
  WatchOne(1, removed);
  WatchOne(2, kept);
  Next();
  Next();
  v1::WatchCommandsRequest request;
  request.add_remove(1);
  request.add_remove(99);
  ASSERT_TRUE(stream_->Write(request));
  AwaitWaits(1);
  const auto leased = Lease();
  for (const v1::CommandLease& lease : leased->leases()) ASSERT_OK(Complete(lease));
  for (v1::CommandUpdate update = Next(); !update.last(); update = Next()) {
    EXPECT_EQ(update.watch_id(), 2);
  }
  ASSERT_TRUE(stream_->WritesDone());
  EXPECT_TRUE(Finish().ok());
}

TEST_F(WatchCommandsTest, FilterReportsExistingAndNewCommands) {
  const std::string there = Register();
  Register("other");
  v1::WatchCommandsRequest request;
  v1::CommandWatch& watch = *request.add_add();
  watch.set_watch_id(1);
  watch.mutable_filter()->set_target("browser");
  ASSERT_TRUE(stream_->Write(request));
  EXPECT_EQ(Next().command().command_id(), there);
  const std::string comes = Register();
  const v1::CommandUpdate update = Next();
  EXPECT_EQ(update.command().command_id(), comes);
  EXPECT_FALSE(update.last());
  EXPECT_TRUE(update.command().params().empty());
}

TEST_F(WatchCommandsTest, FilterReportsOnlyChangesAndRemovals) {
  const std::string id = Register();
  v1::WatchCommandsRequest request;
  v1::CommandWatch& watch = *request.add_add();
  watch.set_watch_id(1);
  watch.mutable_filter();
  watch.set_only_changes(true);
  watch.set_removals(true);
  ASSERT_TRUE(stream_->Write(request));
  EXPECT_EQ(Next().DebugString(), "watch_id: 1\n");
  v1::CancelCommandRequest cancel;
  cancel.set_command_id(id);
  ASSERT_OK(Call(&v1::CommandService::Stub::CancelCommand, cancel));
  v1::CommandUpdate update = Next();
  EXPECT_EQ(update.command().state(), v1::COMMAND_STATE_CANCELLED);
  EXPECT_FALSE(update.removed());
  clock_.Advance(absl::Minutes(10));
  update = Next();
  EXPECT_EQ(update.command().command_id(), id);
  EXPECT_TRUE(update.removed());
  EXPECT_FALSE(update.last());
}

TEST_F(WatchCommandsTest, WatchWithoutFilterRefusesOnlyChangesAndRemovals) {
  v1::WatchCommandsRequest request;
  Add(request, 1, Register())->set_removals(true);
  Add(request, 2, Register())->set_only_changes(true);
  ASSERT_TRUE(stream_->Write(request));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(Next().error().reason(), "invalid_argument");
}

TEST_F(WatchCommandsTest, WatchEndsAfterItsMaxWait) {
  v1::WatchCommandsRequest request;
  Add(request, 1, Register())->mutable_max_wait()->set_seconds(5);
  ASSERT_TRUE(stream_->Write(request));
  Next();
  clock_.Advance(absl::Seconds(5));
  const v1::CommandUpdate over = Next();
  EXPECT_TRUE(over.last());
  EXPECT_EQ(over.update_case(), v1::CommandUpdate::UPDATE_NOT_SET);
}

TEST_F(WatchCommandsTest, WatchesAreFreedWhenTheirCallerLeaves) {
  v1::WatchCommandsRequest request;
  for (int i = 0; i < 50; ++i) Add(request, i, Register());
  ASSERT_TRUE(stream_->Write(request));
  AwaitWaits(50);
  context_.TryCancel();
  AwaitWaits(0);
}

TEST_F(WatchCommandsTest, StreamWithTooManyWatchesEnds) {
  constexpr int kMessages = static_cast<int>(kMaxWatchesOfStream) / kMaxWatchesInMessage;
  int64_t watch_id = 0;
  for (int i = 0; i < kMessages; ++i) {
    v1::WatchCommandsRequest request;
    // Of several clients, none of which has that many.
    const std::string client = absl::StrCat("client-", i);
    const std::string id = Register(client);
    for (int j = 0; j < kMaxWatchesInMessage; ++j) {
      v1::CommandWatch* watch = Add(request, watch_id++, id);
      watch->set_client_id(client);
      watch->set_only_end(true);
    }
    ASSERT_TRUE(stream_->Write(request));
  }
  AwaitWaits(watch_id);
  WatchOne(watch_id, Register());
  EXPECT_THAT(FromGrpc(Finish(), context_),
              FailsWith(StatusCode::kResourceExhausted, "too_many_waits"));
  AwaitWaits(0);
}

TEST_F(WatchCommandsTest, StreamThatAddsWatchesWithoutReadingEnds) {
  // More than is sent to a caller that does not read, in parts that would each be sent: the second
  // waits.
  constexpr int kLarge = 3;
  v1::WatchCommandsRequest large;
  for (int i = 0; i < kLarge; ++i) {
    Add(large, -1 - i, Register());
    ASSERT_OK_AND_ASSIGN(const auto leased, Lease());
    ASSERT_OK(Complete(leased.leases(0), absl::StrCat("\"", std::string(3 << 20, 'x'), "\"")));
  }
  // This watch goes on until the stream is given up.
  Add(large, -1 - kLarge, Register())->set_only_end(true);
  ASSERT_TRUE(stream_->Write(large));
  AwaitWaits(1);
  // Each leaves an error that is never read.
  v1::WatchCommandsRequest request;
  for (int i = 0; i < kMaxWatchesInMessage; ++i) {
    Add(request, i, "corr-1-00000000000000000000000000000000");
    request.add_remove(i);
  }
  for (size_t sent = 0; sent <= kMaxWaitingUpdates + kMaxWatchesInMessage;
       sent += kMaxWatchesInMessage) {
    if (!stream_->Write(request)) break;
  }
  AwaitWaits(0);
  // The messages that are held back come first.
  EXPECT_THAT(FromGrpc(Finish(), context_), FailsWith(StatusCode::kResourceExhausted, "too_slow"));
}

TEST_F(WatchCommandsTest, DrainEndsWatchesAndStreams) {
  WatchOne(1, Register());
  Next();
  v1::WatchCommandsRequest request;
  v1::CommandWatch& watch = *request.add_add();
  watch.set_watch_id(2);
  watch.mutable_filter()->set_label("nobody's");
  ASSERT_TRUE(stream_->Write(request));
  AwaitWaits(1);
  std::thread drain([&] { Drain(); });
  const v1::CommandUpdate update = Next();
  EXPECT_EQ(update.DebugString(), "watch_id: 1\nlast: true\ndraining: true\n");
  EXPECT_TRUE(Finish().ok());
  drain.join();
}

class StreamCommandsTest : public TrackerServerTest {
 protected:
  using Stream = std::unique_ptr<grpc::ClientReader<v1::StreamCommandsResponse>>;

  ~StreamCommandsTest() override { context_.TryCancel(); }

  Stream Open(int max_unfinished = 0, int back_within_s = 0) {
    v1::StreamCommandsRequest request;
    request.set_worker_id("w1");
    request.set_max_unfinished(max_unfinished);
    request.mutable_back_within()->set_seconds(back_within_s);
    return stub_->StreamCommands(&context_, request);
  }

  grpc::ClientContext context_;
};

TEST_F(StreamCommandsTest, CommandsArePushedWhileTheWindowHasRoom) {
  const Stream stream = Open(2);
  AwaitWaits(1);
  std::vector<std::string> ids;
  for (int i = 0; i < 3; ++i) ids.push_back(Register());
  std::vector<v1::CommandLease> leases;
  v1::StreamCommandsResponse response;
  while (leases.size() < 2) {
    ASSERT_TRUE(stream->Read(&response));
    for (const auto& lease : response.leases()) leases.push_back(lease);
  }
  EXPECT_EQ(leases[0].command().command_id(), ids[0]);
  EXPECT_EQ(leases[1].command().command_id(), ids[1]);
  EXPECT_EQ(Get(ids[2])->command().state(), v1::COMMAND_STATE_QUEUED);
  ASSERT_OK(Complete(leases[0]));
  ASSERT_TRUE(stream->Read(&response));
  ASSERT_EQ(response.leases_size(), 1);
  EXPECT_EQ(response.leases(0).command().command_id(), ids[2]);
}

TEST_F(StreamCommandsTest, CancelReachesTheWorkerAtOnce) {
  const Stream stream = Open();
  const std::string id = Register();
  v1::StreamCommandsResponse response;
  ASSERT_TRUE(stream->Read(&response));
  ASSERT_EQ(response.leases_size(), 1);
  const std::string token = response.leases(0).lease_token();
  v1::CancelCommandRequest cancel;
  cancel.set_command_id(id);
  ASSERT_OK(Call(&v1::CommandService::Stub::CancelCommand, cancel));
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_THAT(response.ended_command_ids(), ElementsAre(id));
  EXPECT_THAT(response.ended_lease_tokens(), ElementsAre(token));
}

TEST_F(StreamCommandsTest, DisconnectedCallerGetsNoMoreCommands) {
  const Stream stream = Open();
  AwaitWaits(1);
  context_.TryCancel();
  AwaitWaits(0);
  const std::string id = Register();
  EXPECT_EQ(Get(id)->command().state(), v1::COMMAND_STATE_QUEUED);
}

TEST_F(StreamCommandsTest, DrainEndsTheStream) {
  const Stream stream = Open();
  AwaitWaits(1);
  std::thread drain([&] { Drain(); });
  v1::StreamCommandsResponse response;
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_TRUE(stream->Finish().ok());
  drain.join();
}

TEST_F(StreamCommandsTest, InvalidWindowIsRefused) {
  const Stream stream = Open(6);
  v1::StreamCommandsResponse response;
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(StreamCommandsTest, BackWithinIsAccepted) {
  const Stream stream = Open(0, /*back_within_s=*/60);
  AwaitWaits(1);
}

class BackWithinTest : public StreamCommandsTest, public testing::WithParamInterface<int> {};

TEST_P(BackWithinTest, ValueOutOfBoundsIsRefused) {
  const Stream stream = Open(0, GetParam());
  v1::StreamCommandsResponse response;
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_THAT(FromGrpc(stream->Finish(), context_),
              FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
}

INSTANTIATE_TEST_SUITE_P(Seconds, BackWithinTest, testing::Values(-1, 61));

}  // namespace
}  // namespace callslip::tracker
