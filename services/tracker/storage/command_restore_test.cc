// A command table that is restored from its journal.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/mortal_journal_storage.h"
#include "tracker/domain/queue/command_table_fixture.h"

namespace callslip::tracker {
namespace {

// A table whose process ends and starts again. Restart() stores the journal first.
class RestoreTest : public HeldCallTest {
 protected:
  explicit RestoreTest(const CommandLimits& limits = {}) : HeldCallTest(limits), limits_(limits) {
    NewTable();
  }

  void SetUp() override { ASSERT_OK(storage_.Restart()); }

  void NewTable() {
    std::destroy_at(&table_);
    std::construct_at(&table_, clocks_, limits_, &journal_);
  }

  void Commit() {
    const Journal::Batch batch = journal_.Take();
    ASSERT_OK(storage_->Append(storage_->position(), batch.entries));
  }

  // The process ends, and begins anew after `down`.
  void Restart(absl::Duration down = absl::ZeroDuration()) {
    Commit();
    clock_.Advance(down);
    NewTable();
    ASSERT_OK(storage_.Restart());
    ASSERT_OK(table_.Restore(*storage_, clock_.Now()));
    table_.FireDeadlines(clock_.Now());
  }

  // As above, on a clock that was set back meanwhile.
  void RestartWithClockSetBack(absl::Duration by) {
    Commit();
    NewTable();
    ASSERT_OK(storage_.Restart());
    ASSERT_OK(table_.Restore(*storage_, clock_.Now() - by));
  }

  CommandDeadlines clocks_;
  const CommandLimits limits_;
  MortalJournalStorage storage_;
  Journal journal_;
};

TEST_F(RestoreTest, QueuedCommandIsRestoredCompletely) {
  CommandRequest request = IdempotentRequest();
  request.target = "printer";
  request.label = "red";
  request.ordering_key = "tab-1";
  request.request_id = "r1";
  request.priority = -7;
  request.trace = TraceContext::New();
  request.tracestate = "a=1";
  request.baggage = "b=" + std::string(5000, '2');
  request.deadlines.ack_wait = absl::Milliseconds(700);
  request.deadlines.schedule_to_start = absl::Minutes(2);
  const std::string id = Register(request);
  const CommandSnapshot before = Peek(id);
  Restart();
  const CommandSnapshot after = Peek(id);
  EXPECT_TRUE(after.spec->IsFor(request));
  EXPECT_NE(after.spec, before.spec);
  EXPECT_EQ(after.spec->label(), "red");
  EXPECT_EQ(after.spec->request_id(), "r1");
  EXPECT_EQ(after.spec->trace, request.trace);
  EXPECT_EQ(after.spec->tracestate(), "a=1");
  EXPECT_EQ(after.spec->baggage(), request.baggage);
  EXPECT_EQ(after.spec->sequence, before.spec->sequence);
  EXPECT_EQ(after.spec->register_time, before.spec->register_time);
  EXPECT_EQ(after.spec->deadlines->ack_wait, absl::Milliseconds(700));
  EXPECT_EQ(after.spec->deadlines->nanos.schedule_to_close,
            before.spec->deadlines->nanos.schedule_to_close);
  EXPECT_EQ(after.revision, before.revision);
  EXPECT_EQ(after.trace.size(), 1u);
  EXPECT_EQ(table_.commands(), 1);
  EXPECT_EQ(table_.payload_bytes(), before.payload_bytes());
}

TEST_F(RestoreTest, QueueKeepsItsOrder) {
  CommandRequest urgent = Request();
  urgent.priority = 5;
  const std::vector<std::string> ids = {Register(), Register(), Register(urgent)};
  const std::string other = Register(Request("other"));
  Restart();
  // Clients take turns, the one whose command is oldest first.
  EXPECT_THAT(IdsOf(Lease("w1", 4)), ElementsAre(ids[2], other, ids[0], ids[1]));
}

TEST_F(RestoreTest, StatisticsCountRestoredCommands) {
  const auto count = [this](State state) {
    return table_.Statistics().in_state[static_cast<size_t>(state)];
  };
  Register();
  Register();
  ASSERT_OK(Complete(LeaseOne()));
  Restart();
  EXPECT_EQ(count(State::kQueued), 1);
  EXPECT_EQ(count(State::kCompleted), 1);
  EXPECT_EQ(table_.Statistics().registered, 0) << "by this process";
  LeaseOne();
  EXPECT_EQ(count(State::kQueued), 0);
  EXPECT_EQ(count(State::kDelivered), 1);
}

TEST_F(RestoreTest, LeaseSurvivesRestart) {
  const std::string id = Register();
  const CommandLease lease = LeaseOne();
  Restart();
  EXPECT_EQ(StateOf(id), State::kDelivered);
  EXPECT_EQ(table_.leased(), 1);
  EXPECT_THAT(table_.Complete(id, {.token = LeaseToken::New()}, CommandResult{Bytes("1")}, nullptr,
                              clock_.Now()),
              FailsWith(StatusCode::kPermissionDenied, "wrong_lease"));
  ASSERT_OK_AND_ASSIGN(const AcknowledgeResult acknowledged, Acknowledge(lease));
  EXPECT_EQ(acknowledged.state, State::kRunning);
  Restart();
  ASSERT_OK_AND_ASSIGN(const CompleteResult completed,
                       table_.Complete(id, ProofOf(lease), CommandResult{Bytes("42")}, nullptr,
                                       clock_.Now(), {.micros = 300, .age_micros = 20}));
  EXPECT_TRUE(completed.accepted);
  EXPECT_EQ(table_.leased(), 0);
  Restart();
  EXPECT_EQ(Peek(id).work.micros, 300u);
  EXPECT_EQ(Peek(id).work.age_micros, 20u);
  EXPECT_EQ(*Peek(id).result, "42");
  EXPECT_EQ(Peek(id).trace.size(), 4u);
}

TEST_F(RestoreTest, WorkerWithFullWindowGetsNoMoreCommands) {
  for (int i = 0; i < kWorkerWindow + 1; ++i) Register();
  ASSERT_THAT(Lease(), SizeIs(kWorkerWindow));
  Restart();
  EXPECT_THAT(Lease(), IsEmpty());
  EXPECT_THAT(Lease("w2"), SizeIs(1));
}

TEST_F(RestoreTest, OrderingKeyStaysBusy) {
  CommandRequest request = Request();
  request.ordering_key = "tab-1";
  Register(request);
  Register(request);
  const CommandLease lease = LeaseOne();
  Restart();
  EXPECT_THAT(Lease("w2"), IsEmpty());
  ASSERT_OK(Complete(lease));
  EXPECT_THAT(Lease("w2"), SizeIs(1));
}

TEST_F(RestoreTest, ReturnedLeaseIsNotRestored) {
  const std::string id = Register();
  const CommandLease first = LeaseOne("w1");
  table_.GiveBack(first, clock_.Now());
  Restart();
  EXPECT_EQ(Peek(id).attempt, 0);
  EXPECT_EQ(table_.leased(), 0);
  EXPECT_EQ(IdOf(LeaseOne("w2")), id);
  EXPECT_THAT(Complete(first), FailsWith(StatusCode::kPermissionDenied, "wrong_lease"));
}

TEST_F(RestoreTest, RedeliveredCommandRemembersBothWorkers) {
  clocks_.restart_grace = absl::ZeroDuration();
  const std::string id = Register(IdempotentRequest());
  const CommandLease first = LeaseOne("w1");
  Advance(clocks_.ack_wait);
  const CommandLease second = LeaseOne("w2");
  EXPECT_EQ(second.command->attempt, 2);
  Restart();
  ASSERT_THAT(Peek(id).workers, SizeIs(2));
  EXPECT_EQ(*Peek(id).workers[0], "w1");
  EXPECT_EQ(*Peek(id).workers[1], "w2");
  // The second worker never got the command: it belongs to the first one again.
  table_.GiveBack(second, clock_.Now());
  Restart();
  ASSERT_OK(Complete(first));
  EXPECT_EQ(StateOf(id), State::kCompleted);
}

TEST_F(RestoreTest, RepeatedRequestIdReturnsSameCommand) {
  CommandRequest request = Request();
  request.request_id = "r1";
  const std::string id = Register(request);
  Restart();
  ASSERT_OK_AND_ASSIGN(const CommandRegistration again, TryRegister(request));
  EXPECT_TRUE(again.existed);
  EXPECT_EQ(IdOf(*again.command), id);
  request.type = "scroll";
  EXPECT_THAT(TryRegister(request), FailsWith(StatusCode::kAlreadyExists, "request_id_reused"));
}

TEST_F(RestoreTest, RequestIdIsFreeOnceCommandIsForgotten) {
  CommandRequest request = Request();
  request.request_id = "r1";
  Register(request);
  ASSERT_OK(Complete(LeaseOne()));
  Advance(clocks_.result_retention);
  Advance(clocks_.failed_retention);
  Advance(clocks_.tombstone_retention);
  Restart();
  ASSERT_OK_AND_ASSIGN(const CommandRegistration again, TryRegister(request));
  EXPECT_FALSE(again.existed);
}

TEST_F(RestoreTest, ResultsOfAllSizesAreRestored) {
  std::vector<std::pair<std::string, std::string>> expected;
  for (const size_t size : {size_t{0}, size_t{1}, size_t{1024}, size_t{1025}, size_t{1} << 20}) {
    const std::string id = Register();
    ASSERT_OK(Complete(LeaseOne(), std::string(size, 'r')));
    expected.emplace_back(id, std::string(size, 'r'));
  }
  Restart();
  Restart();
  for (const auto& [id, result] : expected) {
    ASSERT_NE(Peek(id).result, nullptr) << result.size();
    EXPECT_EQ(*Peek(id).result, result);
  }
}

TEST_F(RestoreTest, ErrorProgressAndContextAreRestored) {
  const std::string id = Register();
  const CommandLease lease = LeaseOne();
  ASSERT_OK(table_.Acknowledge(id, ProofOf(lease), CommandProgress{0.5, "half"}, Bytes("tab 7"),
                               clock_.Now()));
  ASSERT_OK(Complete(lease, CommandFailure{{"no_tab", "It is gone.", "Open it.", true}}));
  Restart();
  const CommandSnapshot command = Peek(id);
  EXPECT_EQ(command.state, State::kFailed);
  EXPECT_EQ(command.error->code, "no_tab");
  EXPECT_EQ(command.error->message, "It is gone.");
  EXPECT_EQ(command.error->hint, "Open it.");
  EXPECT_TRUE(command.error->may_have_executed);
  EXPECT_EQ(command.progress->fraction, 0.5);
  EXPECT_EQ(command.progress->message, "half");
  EXPECT_EQ(*command.context, "tab 7");
}

TEST_F(RestoreTest, LateResultIsRetained) {
  for (const size_t size : {size_t{10}, size_t{5000}}) {
    const std::string id = Register();
    const CommandLease lease = LeaseOne();
    ASSERT_OK(Cancel(id));
    Restart();
    ASSERT_OK(Complete(lease, std::string(size, 'l')));
    Restart();
    EXPECT_EQ(StateOf(id), State::kCancelled);
    EXPECT_EQ(*Peek(id).late_result, std::string(size, 'l'));
    EXPECT_EQ(Peek(id).result, nullptr);
  }
}

TEST_F(RestoreTest, ReadResultIsRemovedAndUnreadResultExpires) {
  const std::string read = Register();
  ASSERT_OK(Complete(LeaseOne()));
  const std::string watched = Register();
  const auto feed = std::make_shared<RecordingFeed>();
  Watch(watched, feed);
  ASSERT_OK(Complete(LeaseOne()));
  const std::string unread = Register();
  ASSERT_OK(Complete(LeaseOne()));
  Commit();
  ASSERT_OK(Get(read));
  Restart();
  Advance(clocks_.result_retention);
  EXPECT_THAT(Get(read), FailsWith(StatusCode::kNotFound, "command_removed"));
  EXPECT_THAT(Get(watched), FailsWith(StatusCode::kNotFound, "command_removed"));
  EXPECT_EQ(Peek(unread).error->code, "result_expired");
  Restart();
  EXPECT_EQ(Peek(unread).result, nullptr);
}

TEST_F(RestoreTest, ExpiredLargeResultIsNotRestored) {
  const std::string id = Register();
  ASSERT_OK(Complete(LeaseOne(), std::string(5000, 'r')));
  Commit();
  Advance(clocks_.result_retention);
  Restart();
  EXPECT_EQ(StateOf(id), State::kExpired);
  EXPECT_EQ(Peek(id).result, nullptr);
  EXPECT_EQ(Peek(id).late_result, nullptr);
}

TEST_F(RestoreTest, RemovedAndUnknownCommandsDiffer) {
  const std::string id = Register();
  ASSERT_OK(Complete(LeaseOne()));
  ASSERT_OK(Get(id));
  Advance(clocks_.result_retention);
  Restart();
  EXPECT_THAT(Get(id), FailsWith(StatusCode::kNotFound, "command_removed"));
  EXPECT_THAT(Get(id, "stranger"), FailsWith(StatusCode::kNotFound, "unknown_command"));
  EXPECT_EQ(table_.commands(), 0);
  Restart(clocks_.tombstone_retention);
  EXPECT_THAT(Get(id), FailsWith(StatusCode::kNotFound, "unknown_command"));
}

TEST_F(RestoreTest, WorkerIsNotifiedOfMissedEnd) {
  const std::string id = Register();
  const CommandLease lease = LeaseOne();
  ASSERT_OK(Cancel(id));
  Restart();
  EXPECT_THAT(IdsOf(Poll({.worker_id = "w1"}).ended), ElementsAre(id));
  Restart();
  EXPECT_THAT(Poll({.worker_id = "w1"}).ended, IsEmpty());
  ASSERT_OK_AND_ASSIGN(const AcknowledgeResult told, Acknowledge(lease));
  EXPECT_TRUE(told.cancel_requested);
}

TEST_F(RestoreTest, SequencesContinueAfterRestart) {
  const std::string first = Register();
  const uint64_t sequence = Peek(first).spec->sequence;
  ASSERT_OK(Complete(LeaseOne()));
  ASSERT_OK(Get(first));
  Advance(clocks_.result_retention);
  ASSERT_EQ(table_.commands(), 0);
  Restart();
  EXPECT_GT(Peek(Register()).spec->sequence, sequence);
}

TEST_F(RestoreTest, HumanCommandIsRestored) {
  const std::string id = Register(HumanRequest());
  Restart();
  EXPECT_EQ(StateOf(id), State::kQueued);
  EXPECT_THAT(Lease(), IsEmpty());
  ExpectEndAfter(clocks_.human_schedule_to_close, id, State::kExpired, "user_did_not_finish",
                 false);
}

TEST_F(RestoreTest, DelayedCommandWaitsForItsTime) {
  CommandRequest request = Request();
  request.not_before = clock_.Now() + absl::Minutes(5);
  const std::string id = Register(request);
  Restart(absl::Minutes(1));
  EXPECT_THAT(Lease(), IsEmpty());
  Advance(absl::Minutes(4));
  EXPECT_THAT(IdsOf(Lease()), ElementsAre(id));
  const std::string passed = Register([&] {
    request.not_before = clock_.Now() + absl::Minutes(5);
    return request;
  }());
  Restart(absl::Minutes(5));
  EXPECT_THAT(IdsOf(Lease("w2")), ElementsAre(passed));
}

TEST_F(RestoreTest, QueuedCommandExpiresAtItsOriginalDeadline) {
  const std::string id = Register();
  Restart(absl::Seconds(10));
  ExpectEndAfter(clocks_.schedule_to_start - absl::Seconds(10), id, State::kExpired,
                 "never_delivered", false);
}

// Neither the client nor a worker could do anything meanwhile.
TEST_F(RestoreTest, NothingEndsWithinRestartGrace) {
  const std::string held = Register();
  const CommandLease lease = LeaseOne();
  const std::string done = Register();
  ASSERT_OK(Complete(LeaseOne("w2")));
  const std::string queued = Register();
  Restart(absl::Hours(1));
  EXPECT_EQ(StateOf(held), State::kDelivered);
  EXPECT_EQ(StateOf(queued), State::kQueued);
  EXPECT_EQ(StateOf(done), State::kCompleted);
  Advance(clocks_.restart_grace - kTick);
  EXPECT_EQ(StateOf(held), State::kDelivered);
  ASSERT_OK(Acknowledge(lease));
  EXPECT_EQ(StateOf(held), State::kRunning);
  EXPECT_EQ(StateOf(queued), State::kQueued);
  Advance(kTick);
  ExpectEnd(held, State::kTimedOut, "execution_timeout", true);
  ExpectEnd(queued, State::kExpired, "never_delivered", false);
  EXPECT_EQ(Peek(done).error->code, "result_expired");
}

TEST_F(RestoreTest, NewCommandAfterRestartHasNoGrace) {
  Register();
  Restart();
  CommandRequest request = Request();
  request.deadlines.ack_wait = absl::Milliseconds(500);
  request.deadlines.schedule_to_start = absl::Seconds(2);
  ExpectEndAfter(absl::Seconds(2), Register(request), State::kExpired, "never_delivered", false);
}

TEST_F(RestoreTest, WorkerSilentAfterRestartIsLost) {
  const std::string id = Register([] {
    CommandRequest request = Request();
    request.deadlines.start_to_close = absl::Seconds(100);
    return request;
  }());
  ASSERT_OK(Acknowledge(LeaseOne()));
  Restart(absl::Seconds(30));
  ExpectEndAfter(clocks_.restart_grace, id, State::kFailed, "worker_lost", true);
}

TEST_F(RestoreTest, WorkerWithoutHeartbeatsIsNotLost) {
  CommandRequest request = Request();
  request.deadlines.start_to_close = absl::Seconds(100);
  const std::string id = Register(request);
  const CommandLease lease = LeaseOne();
  ASSERT_OK(Acknowledge(lease));
  ASSERT_OK(table_.Acknowledge(id, ProofOf(lease), std::nullopt, nullptr, clock_.Now(),
                               Heartbeats::kNone));
  Restart();
  Advance(absl::Seconds(90));
  EXPECT_EQ(StateOf(id), State::kRunning);
}

TEST_F(RestoreTest, ClockSetBackDoesNotProlongCommands) {
  const std::string queued = Register();
  const std::string held = Register();
  const CommandLease lease = LeaseOne("w1");
  const std::string other = IdOf(lease) == queued ? held : queued;
  const absl::Time registered = Peek(other).spec->register_time;
  RestartWithClockSetBack(absl::Hours(1));
  const absl::Time now = clock_.Now() - absl::Hours(1);
  EXPECT_EQ(Peek(other).spec->register_time, registered - absl::Hours(1));
  EXPECT_EQ(Peek(IdOf(lease)).deliver_time(), now);
  table_.FireDeadlines(now + clocks_.schedule_to_start - kTick);
  EXPECT_EQ(StateOf(other), State::kQueued);
  table_.FireDeadlines(now + clocks_.schedule_to_start);
  EXPECT_EQ(StateOf(other), State::kExpired);
}

TEST_F(RestoreTest, ClockSetBackDoesNotShiftLaterCommands) {
  const std::string old = Register();
  RestartWithClockSetBack(absl::Hours(1));
  const absl::Time now = clock_.Now() - absl::Hours(1);
  ASSERT_OK_AND_ASSIGN(const CommandRegistration later, table_.Register(Request(), now));
  RestartWithClockSetBack(absl::Hours(1) - absl::Seconds(1));
  EXPECT_EQ(Peek(later.command->spec->id.ToString()).spec->register_time, now);
  EXPECT_EQ(Peek(old).spec->register_time, now + absl::Seconds(1));
}

TEST_F(RestoreTest, ChangedCommandIsNotShiftedTwice) {
  const std::string id = Register();
  RestartWithClockSetBack(absl::Hours(1));
  const absl::Time now = clock_.Now() - absl::Hours(1);
  ASSERT_OK(table_.Cancel(kClient, id, now).status());
  RestartWithClockSetBack(absl::Hours(1) - absl::Seconds(1));
  EXPECT_EQ(Peek(id).spec->register_time, now);
  EXPECT_EQ(Peek(id).end_time(), now);
}

TEST_F(RestoreTest, RepeatedRestartsDoNotPostponeEndForever) {
  const std::string id = Register();
  for (int i = 0; i < 20; ++i) {
    Restart();
    Advance(clocks_.restart_grace / 3);
  }
  EXPECT_EQ(StateOf(id), State::kExpired);
}

class SmallRingRestoreTest : public RestoreTest {
 protected:
  SmallRingRestoreTest()
      : RestoreTest([] {
          CommandLimits limits;
          limits.failed_of_client = 2;
          limits.queued_of_client = 3;
          limits.tombstones = 1;
          return limits;
        }()) {}
};

TEST_F(SmallRingRestoreTest, RingEvictsOldestEndedCommand) {
  const std::vector<std::string> ids = {Register(), Register(), Register()};
  // The commands end in another order, at the same time.
  ASSERT_OK(Complete(LeaseOne("w1"), CommandFailure{{"a", "", "", false}}));
  const CommandLease second = LeaseOne("w2");
  const CommandLease third = LeaseOne("w3");
  ASSERT_OK(Complete(third, CommandFailure{{"c", "", "", false}}));
  Restart();
  ASSERT_OK(Complete(second, CommandFailure{{"b", "", "", false}}));
  EXPECT_THAT(Get(ids[0]), FailsWith(StatusCode::kNotFound, "command_removed"));
  Restart();
  Register();
  ASSERT_OK(Complete(LeaseOne("w4"), CommandFailure{{"d", "", "", false}}));
  EXPECT_THAT(Get(ids[2]), FailsWith(StatusCode::kNotFound, "command_removed"));
  EXPECT_OK(Get(ids[1]));
}

TEST_F(RestoreTest, RequestIdLivesAsLongAsItsTombstone) {
  CommandRequest request = Request();
  request.request_id = "buy-1";
  const std::string id = Register(request);
  ASSERT_OK(Complete(LeaseOne()));
  ASSERT_OK(Get(id));
  Advance(absl::Seconds(60));
  // From the log, then from a row.
  for (int i = 0; i < 3; ++i) {
    Restart(absl::Minutes(1));
    EXPECT_THAT(TryRegister(request), FailsWith(StatusCode::kAlreadyExists, "command_removed"));
    ASSERT_OK(storage_->WriteRows());
  }
  Restart(absl::Minutes(10));
  EXPECT_OK(TryRegister(request));
}

TEST_F(SmallRingRestoreTest, TombstonesOfSameTimeAreEvictedInRemovalOrder) {
  const std::string first = Register();
  clock_.Advance(kTick);
  const std::string second = Register();
  const CommandLease lease_of_first = LeaseOne("w1");
  const auto fail = [&](const CommandLease& lease) {
    ASSERT_OK(Complete(lease, CommandFailure{{"a", "", "", false}}));
  };
  fail(LeaseOne("w2"));
  fail(lease_of_first);
  // Each of these pushes out the command that has ended first.
  for (const char* worker : {"w3", "w4"}) {
    Register();
    fail(LeaseOne(worker));
  }
  const auto expect_order = [&] {
    EXPECT_THAT(Get(second), FailsWith(StatusCode::kNotFound, "unknown_command"));
    EXPECT_THAT(Get(first), FailsWith(StatusCode::kNotFound, "command_removed"));
  };
  expect_order();
  Restart();
  expect_order();
}

TEST_F(SmallRingRestoreTest, LimitsCountRestoredCommands) {
  for (int i = 0; i < 3; ++i) Register();
  Restart();
  EXPECT_THAT(TryRegister(Request()), FailsWith(StatusCode::kResourceExhausted, "queue_full"));
}

}  // namespace
}  // namespace callslip::tracker
