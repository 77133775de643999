#include <string>
#include <utility>
#include <vector>

#include "tracker/domain/command/command_limits.h"
#include "tracker/domain/queue/command_table_fixture.h"

namespace callslip::tracker {
namespace {

auto IsRemoved() { return FailsWith(StatusCode::kNotFound, "command_removed"); }
auto IsUnknown() { return FailsWith(StatusCode::kNotFound, "unknown_command"); }

// How long commands are kept after their end, and their tombstones.
class CommandRetentionTest : public CommandTableTest {
 protected:
  using CommandTableTest::CommandTableTest;

  // Each number has a target of its own, and so most times a partition of its own.
  std::string RegisterAnywhere(int number, std::string client = kClient) {
    CommandRequest request = Request(std::move(client));
    request.target = "target-" + std::to_string(number);
    return Register(std::move(request));
  }
};

TEST_F(CommandRetentionTest, ReadResultLeavesTombstoneAfterRetention) {
  const std::string id = Register();
  ASSERT_OK(Complete(LeaseOne()));
  ASSERT_OK(Get(id));
  Advance(absl::Seconds(60) - kTick);
  ASSERT_OK(Get(id));
  Advance(kTick);
  EXPECT_THAT(Get(id), IsRemoved());
  EXPECT_THAT(Cancel(id), IsRemoved());
  EXPECT_THAT(table_.Watch(id, {.clients = kClient}), IsRemoved());
  EXPECT_THAT(Get(id, "other"), IsUnknown());
  Advance(absl::Minutes(10) - kTick);
  EXPECT_THAT(Get(id), IsRemoved());
  Advance(kTick);
  EXPECT_THAT(Get(id), IsUnknown());
  EXPECT_EQ(table_.NextDeadlineTime(), absl::InfiniteFuture());
}

TEST_F(CommandRetentionTest, UnreadResultExpiresAsDeadLetter) {
  const std::string id = Register();
  ASSERT_OK(Complete(LeaseOne()));
  const absl::Time completed = clock_.Now();
  Peek(id);  // Does not count.
  Advance(absl::Seconds(60) - kTick);
  EXPECT_EQ(StateOf(id), CommandState::kCompleted);
  Advance(kTick);
  const CommandSnapshot command = Peek(id);
  EXPECT_EQ(command.state, CommandState::kExpired);
  EXPECT_EQ(command.error->code, "result_expired");
  EXPECT_TRUE(command.error->may_have_executed);
  EXPECT_EQ(command.result, nullptr);
  EXPECT_EQ(command.end_time(), completed);
  EXPECT_EQ(table_.payload_bytes(), static_cast<int64_t>(command.spec->params->size()));
  EXPECT_OK(table_.Replay(kClient, id, "", clock_.Now()));
}

TEST_F(CommandRetentionTest, LateResultIsStoredAfterUnreadResultExpires) {
  CommandRequest request = IdempotentRequest();
  request.deadlines.result_retention = absl::Seconds(1);
  const std::string id = Register(std::move(request));
  const CommandLease lease = LeaseOne();
  ASSERT_OK(Complete(lease, "1"));
  Advance(absl::Seconds(1));
  EXPECT_FALSE(Complete(lease, "1")->accepted);
  EXPECT_EQ(*Peek(id).late_result, "1");
}

TEST_F(CommandRetentionTest, CancelledCommandIsRemovedAfterTenMinutes) {
  const std::string id = Register();
  ASSERT_OK(Cancel(id));
  Advance(absl::Minutes(10) - kTick);
  EXPECT_EQ(StateOf(id), CommandState::kCancelled);
  Advance(kTick);
  EXPECT_THAT(Get(id), IsRemoved());
  EXPECT_EQ(table_.commands(), 0);
  EXPECT_EQ(table_.payload_bytes(), 0);
}

TEST_F(CommandRetentionTest, LastHundredCancelledCommandsStayAcrossPartitions) {
  const std::string others = RegisterAnywhere(0, "other");
  ASSERT_OK(table_.Cancel("other", others, clock_.Now()));
  std::vector<std::string> ids;
  for (int i = 0; i < 101; ++i) {
    ids.push_back(RegisterAnywhere(i));
    ASSERT_OK(Cancel(ids.back()));
  }
  EXPECT_THAT(Get(ids[0]), IsRemoved());
  for (int i = 1; i < 101; ++i) EXPECT_OK(Get(ids[i]));
  EXPECT_OK(Get(others, "other"));
  EXPECT_EQ(table_.commands(), 101);
}

TEST_F(CommandRetentionTest, LastHundredFailedCommandsStay) {
  std::vector<std::string> ids;
  for (int i = 0; i < 101; ++i) {
    ids.push_back(RegisterAnywhere(i));
    const std::string target = "target-" + std::to_string(i);
    ASSERT_OK(Complete(Poll({.target = target}).leases[0], CommandFailure{{"e", ""}}));
  }
  EXPECT_THAT(Get(ids[0]), IsRemoved());
  for (int i = 1; i < 101; ++i) EXPECT_EQ(StateOf(ids[i]), CommandState::kFailed);
  EXPECT_EQ(table_.commands(), 100);
}

// A late retry must not repeat a click: the request id is known as long as the id of its command.
TEST_F(CommandRetentionTest, RequestIdIsKnownAsLongAsTheTombstone) {
  CommandRequest request = Request();
  request.request_id = "buy-1";
  const std::string id = Register(request);
  ASSERT_OK(Complete(LeaseOne()));
  ASSERT_OK(Get(id));
  Advance(absl::Seconds(60));
  ASSERT_THAT(Get(id), IsRemoved());
  const auto repeated = TryRegister(request);
  EXPECT_THAT(repeated, FailsWith(StatusCode::kAlreadyExists, "command_removed"));
  EXPECT_THAT(std::string(repeated.status().message()), testing::HasSubstr(id));
  EXPECT_THAT(std::string(repeated.status().message()), testing::HasSubstr("completed"));
  // Even if the request and its target differ now.
  CommandRequest elsewhere = request;
  elsewhere.target = "target-1";
  EXPECT_THAT(TryRegister(elsewhere), FailsWith(StatusCode::kAlreadyExists, "command_removed"));
  EXPECT_EQ(table_.commands(), 0);
  CommandRequest of_other = request;
  of_other.client_id = "other";
  EXPECT_OK(TryRegister(of_other));
  Advance(absl::Minutes(10) - kTick);
  EXPECT_THAT(TryRegister(request), FailsWith(StatusCode::kAlreadyExists, "command_removed"));
  Advance(kTick);
  EXPECT_THAT(Get(id), IsUnknown());
  EXPECT_OK(TryRegister(request));
}

class SmallFailedRingTest : public CommandRetentionTest {
 protected:
  SmallFailedRingTest() : CommandRetentionTest({.failed_of_client = 3, .tombstones = 2}) {}
};

TEST_F(SmallFailedRingTest, EvictsOldestFailureOfAnyKindAndCancelsSeparately) {
  const std::string completed = RegisterAnywhere(1);
  ASSERT_OK(Complete(Poll({.target = "target-1"}).leases[0]));
  const std::string failed = RegisterAnywhere(2);
  ASSERT_OK(Complete(Poll({.target = "target-2"}).leases[0], CommandFailure{{"e", ""}}));
  const std::string expired = RegisterAnywhere(3);
  Advance(absl::Seconds(30));
  const std::string given_up = RegisterAnywhere(4);
  ASSERT_OK(table_.Expire(kClient, given_up, {}, clock_.Now()));
  std::vector<std::string> cancelled;
  for (int i = 0; i < 4; ++i) {
    cancelled.push_back(RegisterAnywhere(5 + i));
    ASSERT_OK(Cancel(cancelled.back()));
  }
  EXPECT_EQ(StateOf(failed), CommandState::kFailed);
  // The expired result is the fourth. Cancelled commands only push out each other.
  Advance(absl::Seconds(30));
  EXPECT_EQ(StateOf(expired), CommandState::kExpired);
  EXPECT_EQ(StateOf(given_up), CommandState::kExpired);
  EXPECT_EQ(StateOf(completed), CommandState::kExpired);
  EXPECT_EQ(StateOf(cancelled[1]), CommandState::kCancelled);
  EXPECT_FALSE(Get(failed).ok());
  EXPECT_FALSE(Get(cancelled[0]).ok());
}

TEST_F(SmallFailedRingTest, WorkerIsNotNotifiedOfEvictedCommand) {
  // The news of a worker only name commands that exist.
  std::vector<std::string> ids;
  for (int i = 0; i < 4; ++i) ids.push_back(Register());
  ASSERT_EQ(Lease().size(), 4u);
  for (const std::string& id : ids) ASSERT_OK(Cancel(id));
  EXPECT_THAT(IdsOf(Poll({.worker_id = "w1"}).ended), ElementsAre(ids[1], ids[2], ids[3]));
}

TEST_F(SmallFailedRingTest, OldestTombstoneMakesRoomForTheNext) {
  std::vector<std::string> ids;
  for (int i = 0; i < 6; ++i) {
    ids.push_back(Register());
    ASSERT_OK(Cancel(ids.back()));
  }
  EXPECT_THAT(Get(ids[0]), IsUnknown());
  EXPECT_THAT(Get(ids[1]), IsRemoved());
  EXPECT_THAT(Get(ids[2]), IsRemoved());
  EXPECT_OK(Get(ids[3]));
}

TEST_F(SmallFailedRingTest, RequestIdIsForgottenWithItsTombstone) {
  CommandRequest request = Request();
  std::vector<std::string> ids;
  for (int i = 0; i < 6; ++i) {
    request.request_id = "r" + std::to_string(i);
    ids.push_back(Register(request));
    ASSERT_OK(Cancel(ids.back()));
  }
  request.request_id = "r1";
  EXPECT_THAT(TryRegister(request), FailsWith(StatusCode::kAlreadyExists, "command_removed"));
  request.request_id = "r0";
  const std::string again = Register(request);
  request.request_id = "r5";
  EXPECT_EQ(Register(request), ids[5]) << "it is in the ring";
  request.request_id = "r0";
  EXPECT_EQ(Register(request), again);
}

TEST_F(CommandRetentionTest, NothingIsLeftAfterAllRetentionsEnd) {
  for (int i = 0; i < 50; ++i) {
    RegisterAnywhere(i);
    CommandRequest request = HumanRequest();
    request.request_id = "r" + std::to_string(i);
    Register(std::move(request));
  }
  for (int i = 0; i < 20; ++i) {
    const CommandLeases leases = Poll({.target = "target-" + std::to_string(i)}).leases;
    if (i % 2 == 0) {
      ASSERT_OK(Acknowledge(leases[0]));
    }
    if (i % 3 == 0) {
      ASSERT_OK(Complete(leases[0]));
    }
  }
  // To the end of each command, of its retention, and of its tombstone.
  for (int i = 0; i < 3; ++i) Advance(absl::Minutes(10));
  EXPECT_EQ(table_.commands(), 0);
  EXPECT_EQ(table_.payload_bytes(), 0);
  EXPECT_EQ(table_.leased(), 0);
  EXPECT_EQ(table_.NextDeadlineTime(), absl::InfiniteFuture());
}

}  // namespace
}  // namespace callslip::tracker
