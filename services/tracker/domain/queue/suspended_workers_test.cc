#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tracker/domain/command/command_limits.h"
#include "tracker/domain/queue/command_table_fixture.h"

namespace callslip::tracker {
namespace {

using absl::Seconds;
using ::testing::HasSubstr;

// Workers that announce their return, and commands that wait for them.
class SuspendedWorkersTest : public HeldCallTest {
 protected:
  // Asks for commands, then is suspended.
  void Suspend(absl::Duration back_within, std::string worker = "w1") {
    EXPECT_THAT(Poll({.worker_id = std::move(worker), .back_within = back_within}).leases,
                IsEmpty());
  }
  std::shared_ptr<HeldCall> HoldThenSuspend(absl::Duration wait, absl::Duration back_within,
                                            const std::string& worker = "w1") {
    return Hold(
        {.worker_id = worker, .hold_until = clock_.Now() + wait, .back_within = back_within});
  }
  void ExpectNeverDeliveredAfter(absl::Duration after, const std::string& id) {
    ExpectEndAfter(after, id, State::kExpired, "never_delivered", false);
  }
};

TEST_F(SuspendedWorkersTest, CommandWaitsForTheWorkerAndHasItsFullTime) {
  Suspend(Seconds(45));
  const std::string id = Register();
  Advance(Seconds(34) - kTick);
  EXPECT_EQ(StateOf(id), State::kQueued);
  Advance(kTick);
  const CommandLease lease = LeaseOne();
  EXPECT_EQ(IdOf(lease), id);
  EXPECT_EQ(lease.start_to_close, Seconds(10));
  EXPECT_THAT(Lease(), IsEmpty()) << "the same attempt again";
  ASSERT_OK(Acknowledge(lease));
  Advance(Seconds(9));
  EXPECT_TRUE(Complete(lease)->accepted);
}

TEST_F(SuspendedWorkersTest, CommandExpiresWhenWorkerIsOverdue) {
  for (const int seconds : {31, 34, 45, 60}) {
    SCOPED_TRACE(seconds);
    Suspend(Seconds(seconds));
    const std::string id = Register();
    ExpectNeverDeliveredAfter(Seconds(seconds), id);
    EXPECT_THAT(Peek(id).error->message,
                HasSubstr("within " + absl::FormatDuration(Seconds(seconds))));
  }
}

TEST_F(SuspendedWorkersTest, WorkerReturningAtDeadlineIsLate) {
  Suspend(Seconds(34));
  const std::string id = Register();
  Advance(Seconds(34));
  EXPECT_THAT(Lease(), IsEmpty());
  EXPECT_EQ(StateOf(id), State::kExpired);
}

TEST_F(SuspendedWorkersTest, ShortBackWithinChangesNothing) {
  for (const absl::Duration back_within : {absl::ZeroDuration(), Seconds(29), Seconds(30)}) {
    Suspend(back_within);
    ExpectNeverDeliveredAfter(Seconds(30), Register());
  }
}

TEST_F(SuspendedWorkersTest, WorkerOfOtherTargetIsNotAwaited) {
  Poll({.target = "elsewhere", .worker_id = "w1", .back_within = Seconds(60)});
  ExpectNeverDeliveredAfter(Seconds(30), Register());
}

TEST_F(SuspendedWorkersTest, BackWithinStartsWhenCallEnds) {
  HoldThenSuspend(Seconds(5), Seconds(45));
  Advance(Seconds(5));
  EXPECT_THAT(answers_, SizeIs(1));
  ExpectNeverDeliveredAfter(Seconds(45), Register());
}

TEST_F(SuspendedWorkersTest, BackWithinStartsWhenCallIsAbandoned) {
  const auto call = HoldThenSuspend(Seconds(30), Seconds(45));
  Advance(Seconds(3));
  ASSERT_TRUE(table_.Abandon(call, clock_.Now()));
  ExpectNeverDeliveredAfter(Seconds(45), Register());
}

TEST_F(SuspendedWorkersTest, BackWithinStartsWhenCallIsAnswered) {
  HoldThenSuspend(Seconds(30), Seconds(45));
  Register();
  EXPECT_THAT(answers_, SizeIs(1));
  ExpectNeverDeliveredAfter(Seconds(45), Register());
}

TEST_F(SuspendedWorkersTest, BusyWorkerWithHeldCallIsNotAwaited) {
  CommandRequest slow = Request();
  slow.deadlines = {
      .ack_wait = Seconds(25), .heartbeat_timeout = Seconds(59), .start_to_close = Seconds(120)};
  Register(std::move(slow));
  const CommandLease held = LeaseOne();
  ASSERT_OK(Acknowledge(held));
  Poll({.worker_id = "w1", .window = 1, .back_within = Seconds(60)});
  const std::string id = Register();
  Hold({.worker_id = "w1",
        .window = 1,
        .hold_until = absl::InfiniteFuture(),
        .back_within = Seconds(60)});
  ExpectNeverDeliveredAfter(Seconds(30), id);
  EXPECT_THAT(answers_, IsEmpty());
}

TEST_F(SuspendedWorkersTest, ReturnOfOneWorkerDoesNotCountForAnother) {
  Suspend(Seconds(45), "w1");
  Suspend(Seconds(60), "w2");
  Suspend(absl::ZeroDuration(), "w2");
  ExpectNeverDeliveredAfter(Seconds(45), Register());
}

TEST_F(SuspendedWorkersTest, LatestReturnOfSeveralWorkersCounts) {
  Suspend(Seconds(60), "w1");
  Suspend(Seconds(45), "w2");
  ExpectNeverDeliveredAfter(Seconds(60), Register());
}

TEST_F(SuspendedWorkersTest, RepeatedSuspensionExtendsWaitByOneMinuteAtMost) {
  // A worker that takes nothing: all of its places are taken.
  CommandRequest slow = Request();
  slow.target = "busy";
  slow.deadlines = {.heartbeat_timeout = Seconds(120), .start_to_close = Seconds(120)};
  Register(slow);
  const CommandLease held =
      Poll({.target = "busy", .worker_id = "w1", .max_commands = 1}).leases[0];
  ASSERT_OK(Acknowledge(held));
  CommandRequest request = Request();
  request.target = "busy";
  const std::string id = Register(std::move(request));
  for (int i = 0; i < 8; ++i) {
    Poll({.target = "busy", .worker_id = "w1", .window = 1, .back_within = Seconds(60)});
    Advance(Seconds(11));
    ASSERT_OK(Acknowledge(held));
  }
  ExpectNeverDeliveredAfter(Seconds(90 - 88), id);
  EXPECT_THAT(Peek(id).error->message, HasSubstr("busy"));
}

TEST_F(SuspendedWorkersTest, ScheduleToCloseOfClientIsRespected) {
  Suspend(Seconds(60));
  CommandRequest request = Request();
  request.deadlines.schedule_to_close = Seconds(40);
  const std::string id = Register(request);
  const std::string expired = Register(request);
  Advance(Seconds(34));
  const CommandLease lease = LeaseOne();
  EXPECT_EQ(IdOf(lease), id);
  EXPECT_EQ(lease.start_to_close, Seconds(6));
  ASSERT_OK(Acknowledge(lease));
  Advance(Seconds(6) - kTick);
  EXPECT_EQ(StateOf(id), State::kRunning);
  EXPECT_EQ(StateOf(expired), State::kQueued);
  Advance(kTick);
  ExpectEnd(id, State::kExpired, "schedule_to_close", true);
  ExpectEnd(expired, State::kExpired, "never_delivered", false);
}

TEST_F(SuspendedWorkersTest, DefaultScheduleToCloseAllowsSecondDelivery) {
  Suspend(Seconds(60));
  const std::string id = Register(IdempotentRequest());
  Advance(Seconds(60) - kTick);
  EXPECT_EQ(LeaseOne().start_to_close, Seconds(10));
  Advance(Seconds(3));
  EXPECT_EQ(StateOf(id), State::kQueued);
  EXPECT_EQ(LeaseOne("w2").start_to_close, Seconds(10));
}

TEST_F(SuspendedWorkersTest, HardStopMovesByDelayOfFirstDelivery) {
  Suspend(Seconds(45));
  const std::string id = Register(IdempotentRequest());
  Advance(Seconds(40));
  LeaseOne();
  Advance(Seconds(3));
  EXPECT_EQ(StateOf(id), State::kQueued);
  // 45 s in all, and the 10 s that it was delivered late.
  ExpectEndAfter(Seconds(12), id, State::kExpired, "schedule_to_close", true);
}

TEST_F(SuspendedWorkersTest, CommandGivenBackLateKeepsWaiting) {
  Suspend(Seconds(60));
  const std::string id = Register();
  Advance(Seconds(40));
  const CommandLease lease = Poll({.worker_id = "w1", .back_within = Seconds(10)}).leases[0];
  table_.GiveBack(lease, clock_.Now());
  EXPECT_EQ(StateOf(id), State::kQueued);
  Advance(absl::ZeroDuration());
  ExpectNeverDeliveredAfter(Seconds(10), id);
}

TEST_F(SuspendedWorkersTest, NoWorkerIsAwaitedDuringDrain) {
  Suspend(Seconds(60));
  HoldThenSuspend(Seconds(60), Seconds(60), "w2");
  Advance(kTick);
  EXPECT_THAT(answers_, IsEmpty());
  const std::string taken = Register();
  const std::string id = Register();
  EXPECT_THAT(answers_, SizeIs(1));
  table_.Drain();
  ExpectNeverDeliveredAfter(Seconds(30), id);
}

TEST_F(SuspendedWorkersTest, BackWithinIsBounded) {
  for (const absl::Duration bad :
       {-kTick, kMaxBackWithin + kTick, absl::InfiniteDuration(), -absl::InfiniteDuration()}) {
    const auto refused =
        table_.Lease({.back_within = bad}, clock_.Now(), [](WorkerNews) { FAIL(); });
    EXPECT_THAT(refused, FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
    EXPECT_THAT(std::string(refused.status().message()), HasSubstr("back_within"));
  }
  EXPECT_EQ(kMaxBackWithin, Seconds(60));
}

TEST_F(SuspendedWorkersTest, FloodOfOtherWorkersDoesNotEvictSuspendedOnes) {
  Suspend(Seconds(45));
  for (int i = 0; i < 5000; ++i) {
    const std::string name = "n" + std::to_string(i);
    Poll({.target = name, .worker_id = "w1"});
    Poll({.worker_id = name});
  }
  ExpectNeverDeliveredAfter(Seconds(45), Register());
}

}  // namespace
}  // namespace callslip::tracker
