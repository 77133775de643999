#include "tracker/domain/command/command_deadlines.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tracker/domain/queue/command_table_fixture.h"

namespace callslip::tracker {
namespace {

using ::testing::HasSubstr;

// Each clock: nothing a tick before, everything on time.

class CommandDeadlinesTest : public CommandTableTest {};

TEST_F(CommandDeadlinesTest, UndeliveredCommandExpiresAfterScheduleToStart) {
  const std::string id = Register();
  ExpectEndAfter(absl::Seconds(30), id, CommandState::kExpired, "never_delivered", false);
  EXPECT_THAT(Peek(id).error->message, HasSubstr("No worker"));
  EXPECT_EQ(Peek(id).trace.back().source, TraceEntry::Source::kTracker);
  EXPECT_THAT(Lease(), IsEmpty());
}

TEST_F(CommandDeadlinesTest, NeverDeliveredErrorReportsBusyWorkers) {
  for (int i = 0; i < 5; ++i) {
    CommandRequest request = Request();
    request.deadlines.ack_wait = absl::Seconds(20);
    request.deadlines.heartbeat_timeout = absl::Seconds(30);
    request.deadlines.start_to_close = absl::Seconds(60);
    Register(std::move(request));
  }
  EXPECT_THAT(Lease(), SizeIs(5));
  CommandRequest waiting = Request();
  waiting.deadlines.schedule_to_start = absl::Seconds(10);
  const std::string id = Register(std::move(waiting));
  EXPECT_THAT(Lease(), IsEmpty());
  ExpectEndAfter(absl::Seconds(10), id, CommandState::kExpired, "never_delivered", false);
  EXPECT_THAT(Peek(id).error->message, HasSubstr("busy"));
}

TEST_F(CommandDeadlinesTest, UnacknowledgedCommandExpiresAfterAckWait) {
  const std::string id = Register();
  Lease();
  ExpectEndAfter(absl::Seconds(3), id, CommandState::kExpired, "extension_no_response", true);
}

TEST_F(CommandDeadlinesTest, ExpiredLeaseReturnsIdempotentCommandToItsQueueOnce) {
  const std::string id = Register(IdempotentRequest());
  const CommandLease first = LeaseOne("w1");
  Advance(absl::Seconds(3) - kTick);
  EXPECT_EQ(StateOf(id), CommandState::kDelivered);
  Advance(kTick);
  EXPECT_EQ(StateOf(id), CommandState::kQueued);
  EXPECT_EQ(Peek(id).trace.back().stage, TraceEntry::Stage::kReturned);
  const CommandLease second = LeaseOne("w2");
  EXPECT_EQ(second.command->attempt, 2);
  EXPECT_FALSE(second.token == first.token);
  ExpectEndAfter(absl::Seconds(3), id, CommandState::kExpired, "extension_no_response", true);
}

TEST_F(CommandDeadlinesTest, SilentWorkerIsLostAfterHeartbeatTimeout) {
  CommandRequest request = Request();
  request.deadlines.start_to_close = absl::Seconds(60);
  const std::string id = Register(std::move(request));
  const CommandLease lease = LeaseOne();
  ASSERT_OK(Acknowledge(lease));
  Advance(absl::Seconds(9));
  ASSERT_OK(Acknowledge(lease));
  ExpectEndAfter(absl::Seconds(10), id, CommandState::kFailed, "worker_lost", true);
}

TEST_F(CommandDeadlinesTest, TrackerEnforcesExecutionTimeoutAfterBackstop) {
  const std::string id = Register();
  const CommandLease lease = LeaseOne();
  for (int i = 0; i < 4; ++i) {
    Advance(absl::Seconds(2));
    ASSERT_OK(Acknowledge(lease));
  }
  // 10 s of execution, 2 s of backstop, 8 s of which have passed.
  ExpectEndAfter(absl::Seconds(4), id, CommandState::kTimedOut, "execution_timeout", true);
}

TEST_F(CommandDeadlinesTest, ReturnedCommandWithoutWorkerExpiresAtHardStop) {
  const std::string id = Register(IdempotentRequest());
  Advance(absl::Seconds(29));
  Lease();
  Advance(absl::Seconds(3));
  EXPECT_EQ(StateOf(id), CommandState::kQueued);
  // 30 s to start, 3 s for one more delivery, 10 s of execution, 2 s of backstop.
  ExpectEndAfter(absl::Seconds(13), id, CommandState::kExpired, "schedule_to_close", true);
}

TEST_F(CommandDeadlinesTest, LeaseReportsRemainingTimeWhenHardStopComesFirst) {
  CommandRequest request = IdempotentRequest();
  request.deadlines.schedule_to_close = absl::Seconds(31);
  const std::string id = Register(std::move(request));
  Advance(absl::Seconds(29));
  const CommandLease lease = LeaseOne();
  EXPECT_EQ(lease.start_to_close, absl::Seconds(2));
  ASSERT_OK(Acknowledge(lease));
  ExpectEndAfter(absl::Seconds(2), id, CommandState::kExpired, "schedule_to_close", true);
}

TEST_F(CommandDeadlinesTest, LeaseOfOverdueCommandHasNoTimeLeft) {
  CommandRequest request = Request();
  request.deadlines.schedule_to_close = absl::Seconds(31);
  Register(std::move(request));
  clock_.Advance(absl::Seconds(32));
  EXPECT_EQ(LeaseOne().start_to_close, absl::ZeroDuration());
}

TEST_F(CommandDeadlinesTest, WorkerWithoutHeartbeatsHasFullExecutionTime) {
  CommandRequest request = Request();
  request.deadlines.start_to_close = absl::Seconds(60);
  const std::string id = Register(std::move(request));
  const CommandLease lease = LeaseOne();
  ASSERT_OK(table_.Acknowledge(id, ProofOf(lease), std::nullopt, nullptr, clock_.Now(),
                               Heartbeats::kNone));
  ExpectEndAfter(absl::Seconds(62), id, CommandState::kTimedOut, "execution_timeout", true);
}

TEST_F(CommandDeadlinesTest, HumanCommandExpiresAfterTenMinutesDespiteReports) {
  const std::string id = Register(HumanRequest());
  Advance(absl::Minutes(9));
  ASSERT_OK(table_.Acknowledge(id, {}, std::nullopt, nullptr, clock_.Now()));
  ExpectEndAfter(absl::Minutes(1), id, CommandState::kExpired, "user_did_not_finish", true);
}

TEST_F(CommandDeadlinesTest, DelayedCommandAndItsClocksStartAtNotBefore) {
  CommandRequest request = Request();
  request.not_before = clock_.Now() + absl::Minutes(5);
  const std::string id = Register(std::move(request));
  const std::string prompt = Register();
  EXPECT_EQ(IdOf(LeaseOne()), prompt);
  Advance(absl::Minutes(5) - kTick);
  EXPECT_THAT(Lease(), IsEmpty());
  EXPECT_EQ(StateOf(id), CommandState::kQueued);
  Advance(kTick);
  ExpectEndAfter(absl::Seconds(30), id, CommandState::kExpired, "never_delivered", false);
}

TEST_F(CommandDeadlinesTest, DelayedCommandIsOrderedByAge) {
  CommandRequest request = Request();
  request.not_before = clock_.Now() + absl::Seconds(1);
  const std::string delayed = Register(std::move(request));
  const std::string younger = Register();
  Advance(absl::Seconds(1));
  EXPECT_THAT(IdsOf(Lease()), testing::ElementsAre(delayed, younger));
}

TEST_F(CommandDeadlinesTest, PastNotBeforeMeansImmediateDelivery) {
  CommandRequest request = Request();
  request.not_before = clock_.Now() - absl::Seconds(1);
  const std::string id = Register(std::move(request));
  EXPECT_EQ(IdOf(LeaseOne()), id);
  EXPECT_EQ(Peek(id).spec->not_before, absl::InfinitePast());
}

TEST_F(CommandDeadlinesTest, DelayedCommandCanBeCancelled) {
  CommandRequest request = Request();
  request.not_before = clock_.Now() + absl::Seconds(1);
  const std::string id = Register(std::move(request));
  ASSERT_OK(Cancel(id));
  Advance(absl::Seconds(1));
  EXPECT_EQ(StateOf(id), CommandState::kCancelled);
  EXPECT_THAT(Lease(), IsEmpty());
}

TEST_F(CommandDeadlinesTest, NextDeadlineTimeIsNeverLaterThanTheNextDeadline) {
  EXPECT_EQ(table_.NextDeadlineTime(), absl::InfiniteFuture());
  const std::string id = Register();
  int steps = 0;
  while (StateOf(id) == CommandState::kQueued) {
    ASSERT_LT(++steps, 100);
    const absl::Time next = table_.NextDeadlineTime();
    ASSERT_LE(next, Peek(id).spec->register_time + absl::Seconds(30));
    Advance(next - clock_.Now());
  }
  ExpectEnd(id, CommandState::kExpired, "never_delivered", false);
}

// Clocks of a command.

TEST_F(CommandDeadlinesTest, CommandCanOverrideEachClock) {
  CommandRequest request = IdempotentRequest();
  request.deadlines = {.schedule_to_start = absl::Seconds(5),
                       .ack_wait = absl::Seconds(1),
                       .heartbeat_timeout = absl::Seconds(2),
                       .start_to_close = absl::Seconds(4),
                       .schedule_to_close = absl::Seconds(20),
                       .result_retention = absl::Seconds(7)};
  const std::string undelivered = Register(request);
  ExpectEndAfter(absl::Seconds(5), undelivered, CommandState::kExpired, "never_delivered", false);

  const std::string lost = Register(request);
  ASSERT_OK(Acknowledge(LeaseOne()));
  ExpectEndAfter(absl::Seconds(2), lost, CommandState::kFailed, "worker_lost", true);

  const std::string slow = Register(request);
  const CommandLease lease = LeaseOne();
  EXPECT_EQ(lease.start_to_close, absl::Seconds(4));
  for (int i = 0; i < 10; ++i) {
    ASSERT_OK(Acknowledge(lease));
    Advance(absl::Milliseconds(500));
  }
  ExpectEndAfter(absl::Seconds(1), slow, CommandState::kTimedOut, "execution_timeout", true);

  const std::string returned = Register(request);
  LeaseOne();
  Advance(absl::Seconds(1));
  EXPECT_EQ(StateOf(returned), CommandState::kQueued);
  ExpectEndAfter(absl::Seconds(19), returned, CommandState::kExpired, "schedule_to_close", true);

  const std::string completed = Register(request);
  ASSERT_OK(Complete(LeaseOne()));
  Advance(absl::Seconds(7) - kTick);
  EXPECT_EQ(StateOf(completed), CommandState::kCompleted);
  Advance(kTick);
  EXPECT_EQ(StateOf(completed), CommandState::kExpired);
}

TEST_F(CommandDeadlinesTest, HardStopGrowsWithTheClocksThatItContains) {
  CommandRequest request = IdempotentRequest();
  request.deadlines.start_to_close = absl::Seconds(60);
  EXPECT_EQ(TryRegister(request)->command->spec->deadlines->ScheduleToClose(),
            absl::Seconds(30 + 3 + 60 + 2));
}

TEST_F(CommandDeadlinesTest, EachClockIsBounded) {
  using Clocks = DeadlineOverrides;
  struct Bound {
    std::string name;
    std::optional<absl::Duration> Clocks::*clock;
    absl::Duration min;
    absl::Duration max;
    // Further clocks that are set so that the bounds nest.
    DeadlineOverrides with;
  };
  const std::vector<Bound> bounds = {
      {"schedule_to_start", &Clocks::schedule_to_start, kMinDeadline, absl::Hours(1), {}},
      {"ack_wait",
       &Clocks::ack_wait,
       kMinDeadline,
       absl::Minutes(1),
       {.schedule_to_start = absl::Hours(1), .heartbeat_timeout = absl::Minutes(10)}},
      {"heartbeat_timeout", &Clocks::heartbeat_timeout, kMinDeadline, absl::Minutes(10), {}},
      {"start_to_close", &Clocks::start_to_close, kMinDeadline, absl::Seconds(120), {}},
      {"schedule_to_close", &Clocks::schedule_to_close, kMinDeadline, absl::Hours(24), {}},
      {"result_retention", &Clocks::result_retention, absl::Seconds(1), absl::Minutes(9), {}}};
  for (const Bound& bound : bounds) {
    CommandRequest request = Request();
    request.deadlines = bound.with;
    request.deadlines.*bound.clock = bound.max;
    EXPECT_OK(TryRegister(request)) << bound.name;
    for (const absl::Duration bad : {bound.max + kTick, bound.min - kTick, absl::ZeroDuration(),
                                     -bound.max, absl::InfiniteDuration()}) {
      request.deadlines.*bound.clock = bad;
      const auto refused = TryRegister(request);
      EXPECT_THAT(refused, FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
      EXPECT_THAT(std::string(refused.status().message()), HasSubstr("deadlines." + bound.name));
    }
  }
  // The shortest of all.
  CommandRequest request = Request();
  request.deadlines = {.schedule_to_start = 2 * kMinDeadline,
                       .ack_wait = kMinDeadline,
                       .heartbeat_timeout = 2 * kMinDeadline,
                       .start_to_close = kMinDeadline,
                       .schedule_to_close = 3 * kMinDeadline,
                       .result_retention = absl::Seconds(1)};
  EXPECT_OK(TryRegister(request));
}

TEST_F(CommandDeadlinesTest, ClocksOfACommandMustNest) {
  for (const DeadlineOverrides& clocks : std::vector<DeadlineOverrides>{
           {.ack_wait = absl::Seconds(30)},
           {.schedule_to_start = absl::Seconds(3)},
           {.ack_wait = absl::Seconds(10)},
           {.heartbeat_timeout = absl::Seconds(3)},
           {.schedule_to_close = absl::Seconds(30)},
           {.schedule_to_start = absl::Seconds(5), .schedule_to_close = absl::Seconds(10)},
           {.start_to_close = absl::Seconds(60), .schedule_to_close = absl::Seconds(60)}}) {
    CommandRequest request = Request();
    request.deadlines = clocks;
    const auto refused = TryRegister(request);
    EXPECT_THAT(refused, FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
    EXPECT_THAT(std::string(refused.status().message()), HasSubstr("nest"));
  }
}

TEST_F(CommandDeadlinesTest, HumanCommandAcceptsOnlyApplicableClocks) {
  CommandRequest request = HumanRequest();
  request.deadlines.schedule_to_close = absl::Seconds(5);
  const std::string id = Register(request);
  ExpectEndAfter(absl::Seconds(5), id, CommandState::kExpired, "user_did_not_finish", false);
  request.deadlines.ack_wait = absl::Seconds(5);
  EXPECT_THAT(TryRegister(request), FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
}

// Clocks of a tracker.

TEST(TrackerDeadlinesTest, DefaultsNest) { EXPECT_OK(CommandDeadlines{}.Validate()); }

TEST(TrackerDeadlinesTest, ClocksThatDoNotNestAreRefused) {
  const std::vector<std::function<void(CommandDeadlines&)>> mistakes = {
      [](auto& clocks) { clocks.ack_wait = absl::Seconds(2); },
      [](auto& clocks) { clocks.schedule_to_start = absl::Seconds(3); },
      [](auto& clocks) { clocks.heartbeat_timeout = absl::Seconds(3); },
      [](auto& clocks) { clocks.backstop = absl::ZeroDuration(); },
      [](auto& clocks) { clocks.result_retention = absl::Seconds(55); },
      [](auto& clocks) { clocks.result_retention = absl::Minutes(10); },
      [](auto& clocks) { clocks.human_schedule_to_close = absl::Seconds(55); },
      [](auto& clocks) { clocks.failed_retention = absl::Seconds(60); },
      [](auto& clocks) { clocks.tombstone_retention = absl::Seconds(60); }};
  for (size_t i = 0; i < mistakes.size(); ++i) {
    CommandDeadlines clocks;
    mistakes[i](clocks);
    EXPECT_FALSE(clocks.Validate().ok()) << "mistake " << i;
  }
}

// Calls `on_ready` when the feed is notified: between two parts of the deadlines that fire
// together.
class CallingFeed : public CommandFeed {
 public:
  explicit CallingFeed(std::function<void()> on_ready) : on_ready_(std::move(on_ready)) {}
  void OnReady() override { on_ready_(); }

 private:
  const std::function<void()> on_ready_;
};

class CommandDeadlinesAtOnceTest : public CommandTableTest {
 protected:
  CommandDeadlinesAtOnceTest() : CommandTableTest({.queued_of_client = 2000, .queued = 2000}) {}
};

TEST_F(CommandDeadlinesAtOnceTest, WatchesAreNotifiedAfterEachFiveHundredDeadlines) {
  std::vector<std::string> ids;
  for (int i = 0; i < 1100; ++i) ids.push_back(Register());
  std::vector<int> queued;
  const auto count = [&] {
    int still = 0;
    for (const std::string& id : ids) {
      const auto command = table_.Get(kClient, id, /*peek=*/true);
      if (command.ok() && (*command)->state == CommandState::kQueued) ++still;
    }
    queued.push_back(still);
  };
  const auto feed = std::make_shared<CallingFeed>(count);
  const auto later_feed = std::make_shared<CallingFeed>(count);
  Watch(ids[0], feed, {.after_revision = 1});
  Watch(ids[500], later_feed, {.after_revision = 1});
  Advance(absl::Seconds(30));
  EXPECT_THAT(queued, testing::ElementsAre(600, 100));
  count();
  EXPECT_EQ(queued.back(), 0);
}

}  // namespace
}  // namespace callslip::tracker
