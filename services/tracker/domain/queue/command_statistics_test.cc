#include <string>
#include <utility>

#include "tracker/domain/queue/command_table_fixture.h"

namespace callslip::tracker {
namespace {

class CommandStatisticsTest : public CommandTableTest {
 protected:
  CommandStatistics Now() { return table_.Statistics(); }
  int64_t In(CommandState state) { return Now().in_state[static_cast<size_t>(state)]; }
  int64_t Ended(CommandState state, absl::string_view code) {
    for (size_t i = 0; i < kEndCodes.size(); ++i) {
      if (kEndCodes[i] == code) return Now().ended[static_cast<size_t>(state)][i];
    }
    ADD_FAILURE() << code;
    return -1;
  }
};

TEST_F(CommandStatisticsTest, CommandsAreCountedByState) {
  EXPECT_EQ(In(State::kQueued), 0);
  Register();
  Register();
  EXPECT_EQ(Now().registered, 2);
  EXPECT_EQ(In(State::kQueued), 2);

  const CommandLease lease = LeaseOne();
  EXPECT_EQ(In(State::kQueued), 1);
  EXPECT_EQ(In(State::kDelivered), 1);
  ASSERT_OK(Acknowledge(lease));
  EXPECT_EQ(In(State::kDelivered), 0);
  EXPECT_EQ(In(State::kRunning), 1);
  ASSERT_OK(Complete(lease));
  EXPECT_EQ(In(State::kRunning), 0);
  EXPECT_EQ(In(State::kCompleted), 1);
  EXPECT_EQ(Ended(State::kCompleted, "none"), 1);
}

TEST_F(CommandStatisticsTest, RemovedCommandIsInNoStateAndStaysCountedAsEnded) {
  const std::string id = Register();
  ASSERT_OK(Complete(LeaseOne()));
  ASSERT_OK(table_.Get(kClient, id, /*peek=*/false));
  Advance(CommandDeadlines().result_retention);
  EXPECT_EQ(table_.commands(), 0);
  for (const int64_t count : Now().in_state) EXPECT_EQ(count, 0);
  EXPECT_EQ(Ended(State::kCompleted, "none"), 1);
}

TEST_F(CommandStatisticsTest, UncollectedResultIsAlsoCountedAsExpired) {
  Register();
  ASSERT_OK(Complete(LeaseOne()));
  Advance(CommandDeadlines().result_retention);
  EXPECT_EQ(In(State::kExpired), 1);
  EXPECT_EQ(Ended(State::kCompleted, "none"), 1);
  EXPECT_EQ(Ended(State::kExpired, "result_expired"), 1);
  // Its duration is counted once.
  EXPECT_EQ(Now().standard.count(), 1);
}

TEST_F(CommandStatisticsTest, OnlyErrorCodesOfTrackerAreCountedByName) {
  Register();
  Advance(CommandDeadlines().schedule_to_start);
  EXPECT_EQ(Ended(State::kExpired, "never_delivered"), 1);

  ASSERT_OK(table_.Cancel(kClient, Register(), clock_.Now()));
  EXPECT_EQ(Ended(State::kCancelled, "cancelled"), 1);

  Register();
  ASSERT_OK(Complete(LeaseOne(), CommandFailure{{.code = "element_not_found"}}));
  Register();
  ASSERT_OK(Complete(LeaseOne(), CommandFailure{{.code = "none"}}));
  EXPECT_EQ(Ended(State::kFailed, "other"), 2);
}

TEST_F(CommandStatisticsTest, DurationsStartWhenCommandCanBeDelivered) {
  CommandRequest request = Request();
  request.not_before = clock_.Now() + absl::Seconds(30);
  Register(std::move(request));
  Advance(absl::Seconds(30));
  Advance(absl::Seconds(2));
  const CommandLease lease = LeaseOne();
  EXPECT_EQ(Now().dispatch.count(), 1);
  EXPECT_EQ(Now().dispatch.sum_nanos, absl::ToInt64Nanoseconds(absl::Seconds(2)));
  ASSERT_OK(Acknowledge(lease));
  Advance(absl::Seconds(3));
  ASSERT_OK(Complete(lease));
  EXPECT_EQ(Now().standard.count(), 1);
  EXPECT_EQ(Now().standard.sum_nanos, absl::ToInt64Nanoseconds(absl::Seconds(5)));
  EXPECT_EQ(Now().human.count(), 0);
}

TEST_F(CommandStatisticsTest, HumanCommandsAreMeasuredSeparatelyAndNotQueued) {
  const std::string id = Register(HumanRequest());
  EXPECT_EQ(In(State::kQueued), 1);
  EXPECT_EQ(Now().queued, 0);
  EXPECT_EQ(Now().oldest_queued_nanos, 0);
  Advance(absl::Minutes(2));
  ASSERT_OK(table_.Cancel(kClient, id, clock_.Now()));
  EXPECT_EQ(Now().standard.count(), 0);
  EXPECT_EQ(Now().human.sum_nanos, absl::ToInt64Nanoseconds(absl::Minutes(2)));
}

TEST_F(CommandStatisticsTest, SecondDeliveryIsCountedAsRedelivery) {
  Register(IdempotentRequest());
  LeaseOne();
  Advance(CommandDeadlines().ack_wait);
  EXPECT_EQ(In(State::kQueued), 1);
  LeaseOne("w2");
  EXPECT_EQ(Now().dispatch.count(), 1);
  EXPECT_EQ(Now().redelivered, 1);
}

TEST_F(CommandStatisticsTest, QueuesReportDepthAndOldestDeliverableCommand) {
  CommandRequest delayed = Request();
  delayed.not_before = clock_.Now() + absl::Minutes(1);
  Register(std::move(delayed));
  EXPECT_EQ(Now().oldest_queued_nanos, 0);

  Advance(absl::Milliseconds(10));
  const int64_t first = absl::ToUnixNanos(clock_.Now());
  Register();
  Advance(absl::Milliseconds(10));
  CommandRequest elsewhere = Request("other");
  elsewhere.target = "elsewhere";
  Register(std::move(elsewhere));

  const CommandStatistics now = Now();
  EXPECT_EQ(now.queued, 3);
  EXPECT_EQ(now.targets, 2);
  EXPECT_EQ(now.longest_queue, 2);
  EXPECT_EQ(now.oldest_queued_nanos, first);
}

TEST_F(CommandStatisticsTest, LatenessOfDeadlinesIsMeasured) {
  Register();
  // The deadline fires late.
  clock_.Advance(CommandDeadlines().schedule_to_start + absl::Seconds(4));
  table_.FireDeadlines(clock_.Now());
  EXPECT_EQ(Now().lateness.count(), 1);
  // In whole seconds: the resolution of deadlines is a millisecond.
  EXPECT_EQ(absl::Nanoseconds(Now().lateness.sum_nanos) / absl::Seconds(1), 4);
}

}  // namespace
}  // namespace callslip::tracker
