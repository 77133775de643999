#include "tracker/domain/command/command_table.h"

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/fake_clock.h"
#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tracker/domain/command/command_limits.h"

namespace callslip::tracker {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::SizeIs;

constexpr char kClient[] = "agent";

Payload Bytes(std::string text) { return std::make_shared<const std::string>(std::move(text)); }

class RecordingWatcher : public CommandWatcher {
 public:
  void OnCommand(const CommandSnapshot& command) override { seen.push_back(command); }
  void OnWaitOver() override { ++waits_over; }

  std::vector<CommandState> States() const {
    std::vector<CommandState> states;
    for (const CommandSnapshot& command : seen) states.push_back(command.state);
    return states;
  }

  std::vector<CommandSnapshot> seen;
  int waits_over = 0;
};

class CommandTableTest : public testing::Test {
 protected:
  static CommandSpec Spec(std::string client = kClient) {
    CommandSpec spec;
    spec.client_id = std::move(client);
    spec.type = "execute_js";
    spec.params = Bytes(R"({"script":"1"})");
    return spec;
  }

  std::string Register(CommandSpec spec = Spec()) {
    auto registration = table_.Register(std::move(spec), clock_.Now());
    EXPECT_OK(registration);
    return registration->command.spec->id;
  }

  // Leases without waiting.
  std::vector<CommandLease> Lease(std::string worker = "w1", int max = 0) {
    std::vector<CommandLease> leases;
    EXPECT_OK(
        table_.Lease({.target = "browser", .worker_id = std::move(worker), .max_commands = max},
                     absl::ZeroDuration(), clock_.Now(),
                     [&](std::vector<CommandLease> got) { leases = std::move(got); }));
    return leases;
  }

  CommandSnapshot Peek(const std::string& id) {
    auto command = table_.Get(kClient, id, /*peek=*/true);
    EXPECT_OK(command);
    return *command;
  }

  absl::StatusOr<CompleteResult> Complete(const CommandLease& lease, std::string result = "42") {
    return table_.Complete(lease.command.spec->id, lease.lease_token,
                           CommandResult{Bytes(std::move(result))}, nullptr, clock_.Now());
  }

  absl::StatusOr<AcknowledgeResult> Acknowledge(const CommandLease& lease) {
    return table_.Acknowledge(lease.command.spec->id, lease.lease_token, std::nullopt, nullptr,
                              clock_.Now());
  }

  // Moves the clock in one step, so that deadlines that were overlooked would fire too late.
  void AdvanceTo(absl::Duration by) {
    clock_.Advance(by);
    table_.FireDeadlines(clock_.Now());
  }

  void ExpectEnd(const std::string& id, CommandState state, const std::string& code,
                 bool may_have_executed) {
    const CommandSnapshot command = Peek(id);
    EXPECT_EQ(CommandStateName(command.state), CommandStateName(state));
    ASSERT_NE(command.error, nullptr);
    EXPECT_EQ(command.error->code, code);
    EXPECT_EQ(command.error->may_have_executed, may_have_executed);
    EXPECT_FALSE(command.error->message.empty());
    EXPECT_EQ(command.end_time, clock_.Now());
    EXPECT_EQ(command.trace.back().stage, TraceEntry::Stage::kResolved);
  }

  FakeClock clock_;
  CommandTable table_{CommandDeadlines{}};
};

constexpr absl::Duration kTick = absl::Milliseconds(1);

// The ordinary way.

TEST_F(CommandTableTest, CommandGoesFromQueueToResult) {
  const std::string id = Register();
  EXPECT_THAT(id, MatchesRegex("corr-[0-9]+-[0-9a-f]{32}"));
  EXPECT_EQ(Peek(id).state, CommandState::kQueued);

  const auto leases = Lease();
  ASSERT_THAT(leases, SizeIs(1));
  EXPECT_EQ(leases[0].command.spec->id, id);
  EXPECT_EQ(*leases[0].command.spec->params, R"({"script":"1"})");
  EXPECT_EQ(Peek(id).state, CommandState::kDelivered);

  ASSERT_OK(Acknowledge(leases[0]));
  EXPECT_EQ(Peek(id).state, CommandState::kRunning);

  ASSERT_OK_AND_ASSIGN(const CompleteResult completed, Complete(leases[0]));
  EXPECT_TRUE(completed.accepted);
  const CommandSnapshot command = Peek(id);
  EXPECT_EQ(command.state, CommandState::kCompleted);
  EXPECT_EQ(*command.result, "42");
  std::vector<TraceEntry::Stage> stages;
  for (const TraceEntry& entry : command.trace) stages.push_back(entry.stage);
  EXPECT_THAT(stages, ElementsAre(TraceEntry::Stage::kQueued, TraceEntry::Stage::kSent,
                                  TraceEntry::Stage::kStarted, TraceEntry::Stage::kResolved));
}

TEST_F(CommandTableTest, ResultMayComeWithoutAcknowledgement) {
  const std::string id = Register();
  ASSERT_OK(Complete(Lease()[0]));
  EXPECT_EQ(Peek(id).state, CommandState::kCompleted);
}

TEST_F(CommandTableTest, CommandsAreLeasedOldestFirst) {
  const std::string first = Register();
  const std::string second = Register();
  const auto leases = Lease();
  ASSERT_THAT(leases, SizeIs(2));
  EXPECT_EQ(leases[0].command.spec->id, first);
  EXPECT_EQ(leases[1].command.spec->id, second);
}

TEST_F(CommandTableTest, WorkerErrorAndTimeoutEndTheCommand) {
  const std::string failed = Register();
  ASSERT_OK(table_.Complete(failed, Lease()[0].lease_token,
                            CommandFailure{{"element_not_found", "No such element.", "", true}},
                            nullptr, clock_.Now()));
  ExpectEnd(failed, CommandState::kFailed, "element_not_found", true);

  const std::string timed_out = Register();
  ASSERT_OK(table_.Complete(timed_out, Lease()[0].lease_token,
                            CommandTimeout{{"whatever", "Too slow.", "", false}}, nullptr,
                            clock_.Now()));
  ExpectEnd(timed_out, CommandState::kTimedOut, "execution_timeout", true);
}

// Deadlines: nothing a tick before, everything on time.

TEST_F(CommandTableTest, UndeliveredCommandExpiresAfterScheduleToStart) {
  const std::string id = Register();
  AdvanceTo(absl::Seconds(30) - kTick);
  EXPECT_EQ(Peek(id).state, CommandState::kQueued);
  AdvanceTo(kTick);
  ExpectEnd(id, CommandState::kExpired, "never_delivered", false);
  EXPECT_THAT(Lease(), IsEmpty());
}

TEST_F(CommandTableTest, UnacknowledgedCommandExpiresAfterAckWait) {
  const std::string id = Register();
  Lease();
  AdvanceTo(absl::Seconds(3) - kTick);
  EXPECT_EQ(Peek(id).state, CommandState::kDelivered);
  AdvanceTo(kTick);
  ExpectEnd(id, CommandState::kExpired, "extension_no_response", true);
}

TEST_F(CommandTableTest, ExpiredLeaseReturnsIdempotentCommandToItsQueueOnce) {
  CommandSpec spec = Spec();
  spec.idempotent = true;
  const std::string id = Register(std::move(spec));
  const auto first = Lease();
  AdvanceTo(absl::Seconds(3));
  EXPECT_EQ(Peek(id).state, CommandState::kQueued);
  const auto second = Lease("w2");
  ASSERT_THAT(second, SizeIs(1));
  EXPECT_EQ(second[0].command.attempt, 2);
  EXPECT_NE(second[0].lease_token, first[0].lease_token);
  AdvanceTo(absl::Seconds(3));
  ExpectEnd(id, CommandState::kExpired, "extension_no_response", true);
}

TEST_F(CommandTableTest, LateAcknowledgementTakesAReturnedCommandBackOutOfTheQueue) {
  CommandSpec spec = Spec();
  spec.idempotent = true;
  const std::string id = Register(std::move(spec));
  const auto leases = Lease();
  AdvanceTo(absl::Seconds(3));
  ASSERT_OK(Acknowledge(leases[0]));
  EXPECT_EQ(Peek(id).state, CommandState::kRunning);
  EXPECT_THAT(Lease("w2"), IsEmpty());
  ASSERT_OK(Complete(leases[0]));
  EXPECT_EQ(Peek(id).state, CommandState::kCompleted);
}

TEST_F(CommandTableTest, SilentWorkerIsLostAfterHeartbeatTimeout) {
  CommandSpec spec = Spec();
  spec.start_to_close = absl::Seconds(60);
  const std::string id = Register(std::move(spec));
  const auto leases = Lease();
  ASSERT_OK(Acknowledge(leases[0]));
  AdvanceTo(absl::Seconds(9));
  ASSERT_OK(Acknowledge(leases[0]));
  AdvanceTo(absl::Seconds(10) - kTick);
  EXPECT_EQ(Peek(id).state, CommandState::kRunning);
  AdvanceTo(kTick);
  ExpectEnd(id, CommandState::kFailed, "worker_lost", true);
}

TEST_F(CommandTableTest, TrackerBacksUpTheExecutionTimeout) {
  const std::string id = Register();
  const auto leases = Lease();
  AdvanceTo(absl::Seconds(2));
  ASSERT_OK(Acknowledge(leases[0]));
  AdvanceTo(absl::Seconds(6));
  ASSERT_OK(Acknowledge(leases[0]));
  AdvanceTo(absl::Seconds(4) - kTick);
  EXPECT_EQ(Peek(id).state, CommandState::kRunning);
  AdvanceTo(kTick);
  ExpectEnd(id, CommandState::kTimedOut, "execution_timeout", true);
}

TEST_F(CommandTableTest, ReturnedCommandThatNobodyTakesMeetsTheHardStop) {
  CommandSpec spec = Spec();
  spec.idempotent = true;
  const std::string id = Register(std::move(spec));
  AdvanceTo(absl::Seconds(29));
  Lease();
  AdvanceTo(absl::Seconds(3));
  EXPECT_EQ(Peek(id).state, CommandState::kQueued);
  // 30 s to start, 3 s for one more delivery, 10 s of execution, 2 s of backstop.
  AdvanceTo(absl::Seconds(13) - kTick);
  EXPECT_EQ(Peek(id).state, CommandState::kQueued);
  AdvanceTo(kTick);
  ExpectEnd(id, CommandState::kExpired, "schedule_to_close", true);
}

TEST_F(CommandTableTest, HumanCommandLivesForTenMinutes) {
  CommandSpec spec = Spec();
  spec.command_class = CommandClass::kHuman;
  const std::string id = Register(std::move(spec));
  EXPECT_THAT(id, MatchesRegex("ann_[0-9]+_[0-9a-f]{32}"));
  EXPECT_THAT(Lease(), IsEmpty());
  AdvanceTo(absl::Minutes(10) - kTick);
  EXPECT_EQ(Peek(id).state, CommandState::kQueued);
  AdvanceTo(kTick);
  ExpectEnd(id, CommandState::kExpired, "user_did_not_finish", false);
}

TEST_F(CommandTableTest, ReadResultIsRemovedAfterItsRetentionAndLeavesATombstone) {
  const std::string id = Register();
  ASSERT_OK(Complete(Lease()[0]));
  ASSERT_OK(table_.Get(kClient, id, /*peek=*/false));
  AdvanceTo(absl::Seconds(60) - kTick);
  ASSERT_OK(table_.Get(kClient, id, /*peek=*/false));
  AdvanceTo(kTick);
  EXPECT_THAT(table_.Get(kClient, id, false), FailsWith(StatusCode::kNotFound, "command_removed"));
  EXPECT_THAT(table_.Get("other", id, false), FailsWith(StatusCode::kNotFound, "unknown_command"));
  AdvanceTo(absl::Minutes(10));
  EXPECT_THAT(table_.Get(kClient, id, false), FailsWith(StatusCode::kNotFound, "unknown_command"));
}

TEST_F(CommandTableTest, UnreadResultExpiresIntoTheFailedRing) {
  const std::string id = Register();
  ASSERT_OK(Complete(Lease()[0]));
  Peek(id);  // Does not count.
  AdvanceTo(absl::Seconds(60));
  const CommandSnapshot command = Peek(id);
  EXPECT_EQ(command.state, CommandState::kExpired);
  EXPECT_EQ(command.error->code, "result_expired");
  EXPECT_TRUE(command.error->may_have_executed);
  EXPECT_EQ(command.result, nullptr);
}

TEST_F(CommandTableTest, FailedRingKeepsTheLastHundred) {
  std::vector<std::string> ids;
  for (size_t i = 0; i < kFailedRingCapacity + 1; ++i) {
    ids.push_back(Register());
    ASSERT_OK(table_.Cancel(kClient, ids.back(), clock_.Now()));
  }
  EXPECT_THAT(table_.Get(kClient, ids[0], false),
              FailsWith(StatusCode::kNotFound, "command_removed"));
  EXPECT_OK(table_.Get(kClient, ids[1], false));
  EXPECT_OK(table_.Get(kClient, ids.back(), false));
}

TEST_F(CommandTableTest, FailedCommandIsForgottenInTheEnd) {
  const std::string id = Register();
  ASSERT_OK(table_.Cancel(kClient, id, clock_.Now()));
  AdvanceTo(absl::Minutes(10) - kTick);
  EXPECT_EQ(Peek(id).state, CommandState::kCancelled);
  AdvanceTo(kTick);
  EXPECT_THAT(table_.Get(kClient, id, false), FailsWith(StatusCode::kNotFound, "command_removed"));
}

TEST_F(CommandTableTest, LeaseThatIsGivenBackDidNotHappen) {
  const std::string id = Register();
  const auto lost = Lease("w1");
  table_.GiveBack(lost[0], clock_.Now());
  EXPECT_EQ(Peek(id).state, CommandState::kQueued);
  EXPECT_EQ(Peek(id).attempt, 0);
  EXPECT_THAT(Complete(lost[0]), FailsWith(StatusCode::kPermissionDenied, "wrong_lease"));
  const auto leases = Lease("w2");
  ASSERT_THAT(leases, SizeIs(1));
  EXPECT_EQ(leases[0].command.attempt, 1);
  ASSERT_OK(Acknowledge(leases[0]));
  table_.GiveBack(leases[0], clock_.Now());
  EXPECT_EQ(Peek(id).state, CommandState::kRunning);
}

// Waiting.

TEST_F(CommandTableTest, WatcherSeesEachStateAndTheEnd) {
  const std::string id = Register();
  auto watcher = std::make_shared<RecordingWatcher>();
  ASSERT_OK(table_.Watch(kClient, id, 0, absl::Seconds(55), watcher, clock_.Now()));
  const auto leases = Lease();
  ASSERT_OK(Acknowledge(leases[0]));
  ASSERT_OK(Complete(leases[0]));
  EXPECT_THAT(watcher->States(), ElementsAre(CommandState::kQueued, CommandState::kDelivered,
                                             CommandState::kRunning, CommandState::kCompleted));
  EXPECT_EQ(table_.waits(), 0);
  AdvanceTo(absl::Seconds(55));
  EXPECT_EQ(watcher->waits_over, 0);
}

TEST_F(CommandTableTest, WatchResumesAfterARevision) {
  const std::string id = Register();
  auto watcher = std::make_shared<RecordingWatcher>();
  ASSERT_OK(table_.Watch(kClient, id, Peek(id).revision, absl::Seconds(1), watcher, clock_.Now()));
  EXPECT_THAT(watcher->seen, IsEmpty());
  Lease();
  EXPECT_THAT(watcher->States(), ElementsAre(CommandState::kDelivered));
}

TEST_F(CommandTableTest, WatchOfAnEndedCommandAnswersAtOnceAndCountsAsRead) {
  const std::string id = Register();
  ASSERT_OK(Complete(Lease()[0]));
  auto watcher = std::make_shared<RecordingWatcher>();
  ASSERT_OK(table_.Watch(kClient, id, Peek(id).revision, absl::Seconds(1), watcher, clock_.Now()));
  EXPECT_THAT(watcher->States(), ElementsAre(CommandState::kCompleted));
  AdvanceTo(absl::Seconds(60));
  EXPECT_THAT(table_.Get(kClient, id, false), FailsWith(StatusCode::kNotFound, "command_removed"));
}

TEST_F(CommandTableTest, WaitEndsOnTime) {
  const std::string id = Register();
  auto watcher = std::make_shared<RecordingWatcher>();
  ASSERT_OK(table_.Watch(kClient, id, 0, absl::Seconds(8), watcher, clock_.Now()));
  AdvanceTo(absl::Seconds(8) - kTick);
  EXPECT_EQ(watcher->waits_over, 0);
  AdvanceTo(kTick);
  EXPECT_EQ(watcher->waits_over, 1);
  EXPECT_EQ(Peek(id).state, CommandState::kQueued);
  EXPECT_EQ(table_.waits(), 0);
}

TEST_F(CommandTableTest, OneCompletionWakesItsOwnWatchersOnly) {
  const std::string one = Register();
  const std::string other = Register();
  auto watcher = std::make_shared<RecordingWatcher>();
  ASSERT_OK(table_.Watch(kClient, other, 1, absl::Seconds(8), watcher, clock_.Now()));
  ASSERT_OK(Complete(Lease("w1", 1)[0]));
  EXPECT_EQ(Peek(one).state, CommandState::kCompleted);
  EXPECT_THAT(watcher->seen, IsEmpty());
}

TEST_F(CommandTableTest, UnwatchedWatcherHearsNothingMore) {
  const std::string id = Register();
  auto watcher = std::make_shared<RecordingWatcher>();
  ASSERT_OK(table_.Watch(kClient, id, 1, absl::Seconds(8), watcher, clock_.Now()));
  table_.Unwatch(id, watcher.get());
  table_.Unwatch(id, watcher.get());
  Lease();
  AdvanceTo(absl::Seconds(9));
  EXPECT_THAT(watcher->seen, IsEmpty());
  EXPECT_EQ(watcher->waits_over, 0);
  EXPECT_EQ(table_.waits(), 0);
}

TEST_F(CommandTableTest, TooLongWaitIsRefused) {
  const std::string id = Register();
  EXPECT_THAT(table_.Watch(kClient, id, 0, absl::Seconds(56), std::make_shared<RecordingWatcher>(),
                           clock_.Now()),
              FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
}

// Polling and windows.

class HeldPollTest : public CommandTableTest {
 protected:
  CommandTable::PollHandle Hold(std::string worker = "w1") {
    auto handle = table_.Lease(
        {.target = "browser", .worker_id = std::move(worker)}, absl::Seconds(5), clock_.Now(),
        [this](std::vector<CommandLease> leases) { answers_.push_back(std::move(leases)); });
    EXPECT_OK(handle);
    return *handle;
  }

  std::vector<std::vector<CommandLease>> answers_;
};

TEST_F(HeldPollTest, WakesAtOnceForNewWork) {
  Hold();
  EXPECT_THAT(answers_, IsEmpty());
  const std::string id = Register();
  ASSERT_THAT(answers_, SizeIs(1));
  ASSERT_THAT(answers_[0], SizeIs(1));
  EXPECT_EQ(answers_[0][0].command.spec->id, id);
  EXPECT_EQ(table_.waits(), 0);
}

TEST_F(HeldPollTest, ComesBackEmptyWhenItsTimeIsOver) {
  Hold();
  AdvanceTo(absl::Seconds(5) - kTick);
  EXPECT_THAT(answers_, IsEmpty());
  AdvanceTo(kTick);
  EXPECT_THAT(answers_, ElementsAre(IsEmpty()));
}

TEST_F(HeldPollTest, AbandonedPollSwallowsNothing) {
  const auto handle = Hold();
  EXPECT_TRUE(table_.AbandonPoll(handle));
  EXPECT_FALSE(table_.AbandonPoll(handle));
  const std::string id = Register();
  EXPECT_EQ(Peek(id).state, CommandState::kQueued);
  EXPECT_THAT(answers_, IsEmpty());
  EXPECT_THAT(Lease(), SizeIs(1));
}

TEST_F(HeldPollTest, OneCommandWakesOnePoll) {
  Hold("w1");
  Hold("w2");
  Register();
  EXPECT_THAT(answers_, SizeIs(1));
}

TEST_F(CommandTableTest, SixthCommandWaitsForAPlaceInTheWindow) {
  std::vector<std::string> ids;
  for (int i = 0; i < 6; ++i) ids.push_back(Register());
  const auto leases = Lease();
  ASSERT_THAT(leases, SizeIs(5));
  EXPECT_THAT(Lease(), IsEmpty());
  EXPECT_EQ(Peek(ids[5]).state, CommandState::kQueued);
  ASSERT_OK(Complete(leases[2]));
  const auto next = Lease();
  ASSERT_THAT(next, SizeIs(1));
  EXPECT_EQ(next[0].command.spec->id, ids[5]);
}

TEST_F(HeldPollTest, HeldPollOfABusyWorkerWakesWhenAPlaceIsFree) {
  for (int i = 0; i < 6; ++i) Register();
  const auto leases = Lease("w1");
  Hold("w1");
  EXPECT_THAT(answers_, IsEmpty());
  ASSERT_OK(Complete(leases[0]));
  ASSERT_THAT(answers_, SizeIs(1));
  EXPECT_THAT(answers_[0], SizeIs(1));
}

TEST_F(CommandTableTest, ExpiredLeasesFreeTheWindow) {
  for (int i = 0; i < 10; ++i) Register();
  EXPECT_THAT(Lease(), SizeIs(5));
  AdvanceTo(absl::Seconds(3));
  EXPECT_THAT(Lease(), SizeIs(5));
}

// Leases and late results.

TEST_F(CommandTableTest, ReportsMustProveTheirLease) {
  const std::string id = Register();
  EXPECT_THAT(table_.Complete(id, "", CommandResult{Bytes("1")}, nullptr, clock_.Now()),
              FailsWith(StatusCode::kPermissionDenied, "wrong_lease"));
  const auto leases = Lease();
  EXPECT_THAT(table_.Complete(id, "lease-00", CommandResult{Bytes("1")}, nullptr, clock_.Now()),
              FailsWith(StatusCode::kPermissionDenied, "wrong_lease"));
  EXPECT_THAT(table_.Acknowledge(id, "lease-00", std::nullopt, nullptr, clock_.Now()),
              FailsWith(StatusCode::kPermissionDenied, "wrong_lease"));
  EXPECT_EQ(Peek(id).state, CommandState::kDelivered);
  // Workers without leases in their protocol are believed once the command has been delivered.
  EXPECT_OK(table_.Complete(id, "", CommandResult{Bytes("1")}, nullptr, clock_.Now()));
}

TEST_F(CommandTableTest, LateResultChangesNothingButIsKept) {
  const std::string id = Register();
  const auto leases = Lease();
  AdvanceTo(absl::Seconds(3));
  ASSERT_OK_AND_ASSIGN(const CompleteResult late, Complete(leases[0], "7"));
  EXPECT_FALSE(late.accepted);
  EXPECT_EQ(late.state, CommandState::kExpired);
  const CommandSnapshot command = Peek(id);
  EXPECT_EQ(command.state, CommandState::kExpired);
  EXPECT_EQ(command.result, nullptr);
  EXPECT_EQ(*command.late_result, "7");
  EXPECT_EQ(command.trace.back().stage, TraceEntry::Stage::kLateResult);
  EXPECT_EQ(table_.late_results(), 1);
}

TEST_F(CommandTableTest, RepeatedResultIsNotAccepted) {
  const std::string id = Register();
  const auto leases = Lease();
  ASSERT_OK(Complete(leases[0], "1"));
  EXPECT_FALSE(Complete(leases[0], "2")->accepted);
  EXPECT_EQ(*Peek(id).result, "1");
  EXPECT_EQ(Peek(id).late_result, nullptr);
}

TEST_F(CommandTableTest, ResultForAnUnknownIdIsAnError) {
  for (const char* id : {"corr-1-00000000000000000000000000000000", "nonsense", "cmd-0-0",
                         "corr-1-ff000000000000000000000000000000"}) {
    EXPECT_THAT(table_.Complete(id, "", CommandResult{Bytes("1")}, nullptr, clock_.Now()),
                FailsWith(StatusCode::kNotFound, "unknown_command"));
  }
}

// Cancelling.

TEST_F(CommandTableTest, CancelledQueuedCommandWasNotExecuted) {
  const std::string id = Register();
  ASSERT_OK(table_.Cancel(kClient, id, clock_.Now()));
  ExpectEnd(id, CommandState::kCancelled, "cancelled", false);
  EXPECT_THAT(Lease(), IsEmpty());
  EXPECT_OK(table_.Cancel(kClient, id, clock_.Now()));
}

TEST_F(CommandTableTest, WorkerLearnsOfTheCancelWhenItAcknowledges) {
  const std::string id = Register();
  const auto leases = Lease();
  ASSERT_OK(table_.Cancel(kClient, id, clock_.Now()));
  ExpectEnd(id, CommandState::kCancelled, "cancelled", true);
  EXPECT_TRUE(Acknowledge(leases[0])->cancel_requested);
}

TEST_F(CommandTableTest, EndedCommandCannotBeCancelled) {
  const std::string id = Register();
  ASSERT_OK(Complete(Lease()[0]));
  EXPECT_THAT(table_.Cancel(kClient, id, clock_.Now()),
              FailsWith(StatusCode::kFailedPrecondition, "already_ended"));
}

// Registering and listing.

TEST_F(CommandTableTest, SameRequestIdIsTheSameCommand) {
  CommandSpec spec = Spec();
  spec.request_id = "r1";
  const std::string id = Register(spec);
  ASSERT_OK_AND_ASSIGN(const CommandRegistration again, table_.Register(spec, clock_.Now()));
  EXPECT_TRUE(again.existed);
  EXPECT_EQ(again.command.spec->id, id);
  spec.params = Bytes(R"({"script":"2"})");
  EXPECT_THAT(table_.Register(spec, clock_.Now()),
              FailsWith(StatusCode::kAlreadyExists, "request_id_reused"));
  spec.client_id = "other";
  EXPECT_FALSE(table_.Register(spec, clock_.Now())->existed);
}

TEST_F(CommandTableTest, FullQueueRefusesAndSaysHowFull) {
  for (size_t i = 0; i < kQueueCapacity; ++i) Register();
  const auto refused = table_.Register(Spec(), clock_.Now());
  EXPECT_THAT(refused, FailsWith(StatusCode::kResourceExhausted, "queue_full"));
  EXPECT_EQ(DetailsOf(refused.status()).depth, 100);
  EXPECT_GT(DetailsOf(refused.status()).retry_after, absl::ZeroDuration());
  Lease("w1", 1);
  EXPECT_OK(table_.Register(Spec(), clock_.Now()));
}

TEST_F(CommandTableTest, RequestIdsAreKeptByTarget) {
  CommandSpec spec = Spec();
  spec.request_id = "r1";
  ASSERT_OK(table_.Register(spec, clock_.Now()));
  for (int i = 0; i < 64; ++i) {
    spec.target = "target-" + std::to_string(i);
    ASSERT_OK_AND_ASSIGN(const CommandRegistration other, table_.Register(spec, clock_.Now()));
    EXPECT_FALSE(other.existed);
  }
}

TEST_F(CommandTableTest, OutcomesAreCutRatherThanRefused) {
  const std::string id = Register();
  CommandError error{std::string(100, 'c'), std::string(5000, 'm'), "", false};
  ASSERT_OK(
      table_.Complete(id, Lease()[0].lease_token, CommandFailure{error}, nullptr, clock_.Now()));
  EXPECT_EQ(Peek(id).error->code.size(), kMaxErrorCodeBytes);
  EXPECT_EQ(Peek(id).error->message.size(), kMaxErrorMessageBytes);
}

TEST_F(CommandTableTest, BadRegistrationsNameTheField) {
  const auto expect_invalid = [&](CommandSpec spec, const std::string& field) {
    const auto refused = table_.Register(std::move(spec), clock_.Now());
    EXPECT_THAT(refused, FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
    EXPECT_THAT(std::string(refused.status().message()), testing::StartsWith(field));
  };
  CommandSpec spec = Spec();
  spec.type = "";
  expect_invalid(spec, "type");
  spec = Spec();
  spec.params = Bytes(std::string(kMaxParamsBytes + 1, 'x'));
  expect_invalid(spec, "params");
  spec = Spec();
  spec.start_to_close = absl::Seconds(121);
  expect_invalid(spec, "start_to_close");
  spec = Spec();
  spec.target = "two\nlines";
  expect_invalid(spec, "target");
  spec = Spec(std::string(kMaxNameBytes + 1, 'x'));
  expect_invalid(spec, "client_id");
  EXPECT_THAT(Lease(), IsEmpty());
}

TEST_F(CommandTableTest, ForeignCommandLooksUnknown) {
  const std::string id = Register(Spec("one"));
  EXPECT_THAT(table_.Get("other", id, false), FailsWith(StatusCode::kNotFound, "unknown_command"));
  EXPECT_THAT(table_.Cancel("other", id, clock_.Now()),
              FailsWith(StatusCode::kNotFound, "unknown_command"));
  EXPECT_THAT(table_.Watch("other", id, 0, absl::Seconds(1), std::make_shared<RecordingWatcher>(),
                           clock_.Now()),
              FailsWith(StatusCode::kNotFound, "unknown_command"));
}

TEST_F(CommandTableTest, ListPagesThroughAllTargetsNewestFirst) {
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) {
    CommandSpec spec = Spec();
    spec.target = "target-" + std::to_string(i);
    ids.insert(ids.begin(), Register(std::move(spec)));
  }
  Register(Spec("other"));
  std::vector<std::string> listed;
  std::string token;
  int pages = 0;
  do {
    ASSERT_OK_AND_ASSIGN(const CommandPage page, table_.List({.client_id = kClient}, 2, token));
    for (const CommandSnapshot& command : page.commands) listed.push_back(command.spec->id);
    token = page.next_page_token;
    ++pages;
  } while (!token.empty());
  EXPECT_EQ(pages, 3);
  EXPECT_EQ(listed, ids);
  EXPECT_THAT(table_.List({.client_id = kClient}, 2, "x"),
              FailsWith(StatusCode::kInvalidArgument, "invalid_page_token"));
}

TEST_F(CommandTableTest, ListFiltersByStateTargetAndLabel) {
  CommandSpec labelled = Spec();
  labelled.label = "session-1";
  const std::string id = Register(std::move(labelled));
  Register();
  ASSERT_OK(table_.Cancel(kClient, id, clock_.Now()));
  EXPECT_THAT(table_.List({.client_id = kClient, .label = "session-1"}, 0, "")->commands,
              SizeIs(1));
  EXPECT_THAT(
      table_.List({.client_id = kClient, .states = {CommandState::kQueued}}, 0, "")->commands,
      SizeIs(1));
  EXPECT_THAT(table_.List({.client_id = kClient, .target = "other"}, 0, "")->commands, IsEmpty());
}

TEST_F(CommandTableTest, EndAllWaitsSettlesWaitsAndPolls) {
  const std::string id = Register();
  ASSERT_THAT(Lease(), SizeIs(1));
  auto watcher = std::make_shared<RecordingWatcher>();
  ASSERT_OK(table_.Watch(kClient, id, 100, absl::Seconds(8), watcher, clock_.Now()));
  bool polled = false;
  ASSERT_OK(table_.Lease({.target = "browser"}, absl::Seconds(5), clock_.Now(),
                         [&](std::vector<CommandLease>) { polled = true; }));
  table_.EndAllWaits();
  EXPECT_EQ(watcher->waits_over, 1);
  EXPECT_TRUE(polled);
  EXPECT_EQ(table_.waits(), 0);
}

// Many threads at once. What this proves it proves under ThreadSanitizer.

class CountingWatcher : public CommandWatcher {
 public:
  explicit CountingWatcher(std::atomic<int>* ends) : ends_(ends) {}
  void OnCommand(const CommandSnapshot& command) override {
    if (IsTerminal(command.state)) ++*ends_;
  }
  void OnWaitOver() override {}

 private:
  std::atomic<int>* const ends_;
};

TEST_F(CommandTableTest, EveryWatcherHearsOfTheEndWhateverTheThreadsDo) {
  constexpr int kClients = 4;
  constexpr int kCommandsEach = 500;
  std::atomic<int> ends = 0;
  std::atomic<bool> done = false;
  const auto client = [&](int number) {
    for (int i = 0; i < kCommandsEach;) {
      const auto registered =
          table_.Register(Spec("client-" + std::to_string(number)), clock_.Now());
      if (!registered.ok()) continue;  // The queue is full.
      ++i;
      const CommandSpec& spec = *registered->command.spec;
      ASSERT_OK(table_.Watch(spec.client_id, spec.id, 0, absl::Seconds(55),
                             std::make_shared<CountingWatcher>(&ends), clock_.Now()));
    }
  };
  const auto worker = [&](int number) {
    while (!done) {
      for (const CommandLease& lease : Lease("worker-" + std::to_string(number))) {
        ASSERT_OK(Acknowledge(lease));
        ASSERT_OK(Complete(lease));
      }
    }
  };
  std::vector<std::thread> clients;
  std::vector<std::thread> workers;
  for (int i = 0; i < kClients; ++i) clients.emplace_back(client, i);
  for (int i = 0; i < 2; ++i) workers.emplace_back(worker, i);
  for (std::thread& thread : clients) thread.join();
  while (ends < kClients * kCommandsEach) std::this_thread::yield();
  done = true;
  for (std::thread& thread : workers) thread.join();
  EXPECT_EQ(table_.waits(), 0);
}

// Timers.

TEST(CommandDeadlinesTest, DefaultsNest) { EXPECT_OK(CommandDeadlines{}.Validate()); }

TEST(CommandDeadlinesTest, TimersThatDoNotNestAreRefused) {
  CommandDeadlines deadlines;
  deadlines.ack_wait = absl::Seconds(2);
  EXPECT_FALSE(deadlines.Validate().ok());
  deadlines = {};
  deadlines.schedule_to_start = absl::Seconds(3);
  EXPECT_FALSE(deadlines.Validate().ok());
  deadlines = {};
  deadlines.heartbeat_timeout = absl::Seconds(3);
  EXPECT_FALSE(deadlines.Validate().ok());
  deadlines = {};
  deadlines.result_retention = absl::Seconds(55);
  EXPECT_FALSE(deadlines.Validate().ok());
}

}  // namespace
}  // namespace callslip::tracker
