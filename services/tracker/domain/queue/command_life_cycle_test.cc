#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tracker/domain/command/command_limits.h"
#include "tracker/domain/queue/command_table_fixture.h"

namespace callslip::tracker {
namespace {

using ::testing::MatchesRegex;
using Stage = TraceEntry::Stage;
using Source = TraceEntry::Source;

std::vector<std::pair<Stage, Source>> TraceOf(const CommandSnapshot& command) {
  std::vector<std::pair<Stage, Source>> trace;
  for (const TraceEntry& entry : command.trace) trace.emplace_back(entry.stage, entry.source);
  return trace;
}

class CommandLifeCycleTest : public CommandTableTest {};

TEST_F(CommandLifeCycleTest, CommandGoesFromQueueToResult) {
  const std::string id = Register();
  EXPECT_THAT(id, MatchesRegex("corr-[0-9]+-[0-9a-f]{32}"));
  EXPECT_EQ(StateOf(id), CommandState::kQueued);
  EXPECT_EQ(Peek(id).revision, 1);

  const CommandLease lease = LeaseOne();
  EXPECT_EQ(IdOf(lease), id);
  EXPECT_EQ(lease.command->state, CommandState::kDelivered);
  EXPECT_EQ(lease.command->attempt, 1);
  EXPECT_EQ(*lease.command->spec->params, R"({"script":"1"})");
  EXPECT_EQ(lease.start_to_close, absl::Seconds(10));
  EXPECT_EQ(StateOf(id), CommandState::kDelivered);

  ASSERT_OK_AND_ASSIGN(const AcknowledgeResult acknowledged, Acknowledge(lease));
  EXPECT_FALSE(acknowledged.cancel_requested);
  EXPECT_EQ(acknowledged.state, CommandState::kRunning);
  EXPECT_EQ(StateOf(id), CommandState::kRunning);

  ASSERT_OK_AND_ASSIGN(const CompleteResult completed, Complete(lease));
  EXPECT_TRUE(completed.accepted);
  EXPECT_EQ(completed.state, CommandState::kCompleted);
  EXPECT_EQ(StateOf(id), CommandState::kCompleted);
  EXPECT_EQ(*Peek(id).result, "42");
  EXPECT_EQ(Peek(id).error, nullptr);
}

TEST_F(CommandLifeCycleTest, TraceRecordsEachStageWithSourceAndTime) {
  const absl::Time registered = clock_.Now();
  const std::string id = Register();
  EXPECT_EQ(Peek(id).deliver_time(), absl::InfinitePast());
  Advance(absl::Seconds(1));
  const CommandLease lease = LeaseOne();
  Advance(absl::Seconds(1));
  ASSERT_OK(Acknowledge(lease));
  Advance(absl::Seconds(1));
  ASSERT_OK(Acknowledge(lease));
  ASSERT_OK(Complete(lease));
  const CommandSnapshot command = Peek(id);
  EXPECT_THAT(TraceOf(command), ElementsAre(std::pair(Stage::kQueued, Source::kClient),
                                            std::pair(Stage::kSent, Source::kTracker),
                                            std::pair(Stage::kStarted, Source::kWorker),
                                            std::pair(Stage::kResolved, Source::kWorker)));
  EXPECT_EQ(command.spec->register_time, registered);
  EXPECT_EQ(command.deliver_time(), registered + absl::Seconds(1));
  EXPECT_EQ(command.start_time(), registered + absl::Seconds(2));
  EXPECT_EQ(command.end_time(), registered + absl::Seconds(3));
}

TEST_F(CommandLifeCycleTest, WorkerOfEachDeliveryIsRecorded) {
  const std::string id = Register(IdempotentRequest());
  const auto workers = [&] {
    std::vector<std::string> names;
    for (const auto& worker : Peek(id).workers) names.push_back(*worker);
    return names;
  };
  EXPECT_THAT(workers(), IsEmpty());
  ASSERT_THAT(Lease("first"), SizeIs(1));
  EXPECT_THAT(workers(), ElementsAre("first"));
  Advance(absl::Seconds(3));
  EXPECT_EQ(StateOf(id), CommandState::kQueued);
  const CommandLeases second = Lease("second");
  ASSERT_THAT(second, SizeIs(1));
  EXPECT_THAT(workers(), ElementsAre("first", "second"));
  // A lease that never arrived is not a delivery.
  table_.GiveBack(second[0], clock_.Now());
  EXPECT_THAT(workers(), ElementsAre("first"));
}

TEST_F(CommandLifeCycleTest, ResultIsAcceptedWithoutAcknowledgement) {
  const std::string id = Register();
  ASSERT_OK(Complete(LeaseOne()));
  EXPECT_EQ(StateOf(id), CommandState::kCompleted);
}

TEST_F(CommandLifeCycleTest, WorkerErrorAndTimeoutEndTheCommand) {
  const std::string failed = Register();
  ASSERT_OK(Complete(LeaseOne(),
                     CommandFailure{{"element_not_found", "No such element.", "Look.", false}}));
  ExpectEnd(failed, CommandState::kFailed, "element_not_found", false);
  EXPECT_EQ(Peek(failed).error->hint, "Look.");

  const std::string timed_out = Register();
  ASSERT_OK(Complete(LeaseOne(), CommandTimeout{{"whatever", "Too slow.", "", false}}));
  ExpectEnd(timed_out, CommandState::kTimedOut, "execution_timeout", true);
}

TEST_F(CommandLifeCycleTest, LongWorkerErrorsAreTruncatedAtCharacterBoundary) {
  const std::string id = Register();
  const std::string message = std::string(kMaxErrorMessageBytes - 1, 'm') + "\u00e9";
  ASSERT_OK(Complete(LeaseOne(),
                     CommandFailure{{std::string(100, 'c'), message, std::string(5000, 'h')}}));
  EXPECT_EQ(Peek(id).error->code.size(), kMaxErrorCodeBytes);
  EXPECT_EQ(Peek(id).error->message, std::string(kMaxErrorMessageBytes - 1, 'm'));
  EXPECT_EQ(Peek(id).error->hint.size(), kMaxHintBytes);

  const std::string without_code = Register();
  ASSERT_OK(Complete(LeaseOne(), CommandFailure{{"", "Something went wrong."}}));
  EXPECT_EQ(Peek(without_code).error->code, "execution_failed");
}

TEST_F(CommandLifeCycleTest, OversizedReportsAreRefusedAndChangeNothing) {
  const std::string id = Register();
  const CommandLease lease = LeaseOne();
  EXPECT_THAT(Complete(lease, std::string(kMaxResultBytes + 1, 'x')),
              FailsWith(StatusCode::kInvalidArgument, "result_too_large"));
  const Payload too_large = Bytes(std::string(kMaxContextBytes + 1, 'x'));
  EXPECT_THAT(table_.Acknowledge(id, ProofOf(lease), std::nullopt, too_large, clock_.Now()),
              FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
  EXPECT_EQ(StateOf(id), CommandState::kDelivered);
  EXPECT_OK(Complete(lease, std::string(kMaxResultBytes, 'x')));
}

TEST_F(CommandLifeCycleTest, ProgressAndContextReplaceEarlierReports) {
  const std::string id = Register();
  const CommandLease lease = LeaseOne();
  const auto report = [&](std::optional<CommandProgress> progress, Payload context) {
    EXPECT_OK(table_.Acknowledge(id, ProofOf(lease), std::move(progress), std::move(context),
                                 clock_.Now()));
  };
  report(CommandProgress{0.5, "half"}, Bytes(R"({"tab":1})"));
  EXPECT_EQ(Peek(id).progress->fraction, 0.5);
  report(CommandProgress{7, std::string(1000, 'p')}, nullptr);
  EXPECT_EQ(Peek(id).progress->fraction, 1);
  EXPECT_EQ(Peek(id).progress->message.size(), kMaxProgressBytes);
  EXPECT_EQ(*Peek(id).context, R"({"tab":1})");
  report(CommandProgress{std::numeric_limits<double>::quiet_NaN(), ""}, Bytes(""));
  EXPECT_EQ(Peek(id).progress->fraction, 0);
  EXPECT_EQ(*Peek(id).context, R"({"tab":1})");
  ASSERT_OK(table_.Complete(id, ProofOf(lease), CommandResult{Bytes("1")}, Bytes(R"({"tab":2})"),
                            clock_.Now()));
  EXPECT_EQ(*Peek(id).context, R"({"tab":2})");
}

TEST_F(CommandLifeCycleTest, BareHeartbeatDoesNotChangeSnapshot) {
  const std::string id = Register();
  const CommandLease lease = LeaseOne();
  ASSERT_OK(Acknowledge(lease));
  const CommandPtr before = *table_.Get(kClient, id, true);
  ASSERT_OK(Acknowledge(lease));
  EXPECT_EQ(*table_.Get(kClient, id, true), before);
}

TEST_F(CommandLifeCycleTest, ReportsAboutHumanCommandNeedNoLease) {
  const std::string id = Register(HumanRequest());
  EXPECT_THAT(id, MatchesRegex("ann_[0-9]+_[0-9a-f]{32}"));
  EXPECT_THAT(Lease(), IsEmpty());
  ASSERT_OK(table_.Acknowledge(id, {}, std::nullopt, nullptr, clock_.Now()));
  EXPECT_EQ(StateOf(id), CommandState::kRunning);
  EXPECT_EQ(table_.leased(), 0);
  ASSERT_OK(table_.Complete(id, {.token = LeaseToken::New()}, CommandResult{Bytes("1")}, nullptr,
                            clock_.Now()));
  EXPECT_EQ(StateOf(id), CommandState::kCompleted);
}

// Late and repeated reports.

TEST_F(CommandLifeCycleTest, LateResultIsStoredWithoutChangingState) {
  const std::string id = Register();
  const CommandLease lease = LeaseOne();
  Advance(absl::Seconds(3));
  const int64_t revision = Peek(id).revision;
  ASSERT_OK_AND_ASSIGN(const CompleteResult late, Complete(lease, "7"));
  EXPECT_FALSE(late.accepted);
  EXPECT_EQ(late.state, CommandState::kExpired);
  const CommandSnapshot command = Peek(id);
  EXPECT_EQ(command.state, CommandState::kExpired);
  EXPECT_EQ(command.error->code, "extension_no_response");
  EXPECT_EQ(command.result, nullptr);
  EXPECT_EQ(*command.late_result, "7");
  EXPECT_GT(command.revision, revision);
  EXPECT_EQ(command.trace.back().stage, Stage::kLateResult);
  EXPECT_EQ(table_.late_results(), 1);

  // Only the first late result is kept, and no error.
  EXPECT_FALSE(Complete(lease, "8")->accepted);
  EXPECT_FALSE(Complete(lease, CommandFailure{{"too_late", ""}})->accepted);
  EXPECT_EQ(*Peek(id).late_result, "7");
  EXPECT_EQ(Peek(id).error->code, "extension_no_response");
  EXPECT_EQ(table_.late_results(), 3);
}

TEST_F(CommandLifeCycleTest, RepeatedResultIsNotAccepted) {
  const std::string id = Register();
  const CommandLease lease = LeaseOne();
  ASSERT_OK(Complete(lease, "1"));
  EXPECT_FALSE(Complete(lease, "2")->accepted);
  EXPECT_EQ(*Peek(id).result, "1");
  EXPECT_EQ(Peek(id).late_result, nullptr);
}

TEST_F(CommandLifeCycleTest, ReportAboutRemovedCommandGetsItsEndState) {
  const std::string id = Register();
  const CommandLease lease = LeaseOne();
  ASSERT_OK(Cancel(id));
  Advance(absl::Minutes(10));
  ASSERT_OK_AND_ASSIGN(const CompleteResult completed, Complete(lease));
  EXPECT_FALSE(completed.accepted);
  EXPECT_EQ(completed.state, CommandState::kCancelled);
  ASSERT_OK_AND_ASSIGN(const AcknowledgeResult acknowledged, Acknowledge(lease));
  EXPECT_TRUE(acknowledged.cancel_requested);
  EXPECT_EQ(acknowledged.state, CommandState::kCancelled);
}

TEST_F(CommandLifeCycleTest, UnknownIdIsAnErrorForEveryCall) {
  for (const char* id : {"corr-1-00000000000000000000000000000000", "nonsense", "cmd-0-0",
                         "corr-1-ff000000000000000000000000000000"}) {
    const auto unknown = FailsWith(StatusCode::kNotFound, "unknown_command");
    EXPECT_THAT(table_.Complete(id, {}, CommandResult{Bytes("1")}, nullptr, clock_.Now()), unknown);
    EXPECT_THAT(table_.Acknowledge(id, {}, std::nullopt, nullptr, clock_.Now()), unknown);
    EXPECT_THAT(Get(id), unknown);
    EXPECT_THAT(Cancel(id), unknown);
    EXPECT_THAT(table_.Expire(kClient, id, {}, clock_.Now()), unknown);
    EXPECT_THAT(table_.Replay(kClient, id, "", clock_.Now()), unknown);
    EXPECT_THAT(table_.Watch(id, {.feed = std::make_shared<RecordingFeed>()}), unknown);
  }
  EXPECT_THAT(Get(""), FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
  EXPECT_LT(Get(std::string(1000, 'x')).status().message().size(), 200u);
}

// Cancelling and expiring.

TEST_F(CommandLifeCycleTest, CancelledQueuedCommandIsNotExecuted) {
  const std::string id = Register();
  ASSERT_OK(Cancel(id));
  ExpectEnd(id, CommandState::kCancelled, "cancelled", false);
  EXPECT_THAT(Lease(), IsEmpty());
  const int64_t revision = Peek(id).revision;
  EXPECT_OK(Cancel(id));
  EXPECT_EQ(Peek(id).revision, revision);
}

TEST_F(CommandLifeCycleTest, WorkerLearnsOfTheCancelWhenItAcknowledges) {
  const std::string id = Register();
  const CommandLease lease = LeaseOne();
  ASSERT_OK(Cancel(id));
  ExpectEnd(id, CommandState::kCancelled, "cancelled", true);
  EXPECT_FALSE(Peek(id).error->hint.empty());
  EXPECT_TRUE(Acknowledge(lease)->cancel_requested);
  EXPECT_EQ(Acknowledge(lease)->state, CommandState::kCancelled);
}

TEST_F(CommandLifeCycleTest, EndedCommandCannotBeCancelledOrExpired) {
  const std::string id = Register();
  ASSERT_OK(Complete(LeaseOne()));
  const auto ended = FailsWith(StatusCode::kFailedPrecondition, "already_ended");
  EXPECT_THAT(Cancel(id), ended);
  EXPECT_THAT(table_.Expire(kClient, id, {}, clock_.Now()), ended);
  EXPECT_EQ(StateOf(id), CommandState::kCompleted);
}

TEST_F(CommandLifeCycleTest, ClientCanExpireCommandWithReason) {
  const std::string id = Register();
  ASSERT_OK(table_.Expire(kClient, id, {"tab_closed", "The tab is gone.", "", true}, clock_.Now()));
  ExpectEnd(id, CommandState::kExpired, "tab_closed", false);
  EXPECT_EQ(Peek(id).trace.back().source, Source::kClient);
  EXPECT_OK(table_.Expire(kClient, id, {"tab_closed", "Again."}, clock_.Now()));
  EXPECT_EQ(Peek(id).error->message, "The tab is gone.");
  const auto ended = FailsWith(StatusCode::kFailedPrecondition, "already_ended");
  EXPECT_THAT(table_.Expire(kClient, id, {"another_reason", ""}, clock_.Now()), ended);
  EXPECT_THAT(Cancel(id), ended);

  const std::string unexplained = Register();
  Lease();
  ASSERT_OK(table_.Expire(kClient, unexplained, {}, clock_.Now()));
  ExpectEnd(unexplained, CommandState::kExpired, "expired_on_request", true);
}

// Replaying.

TEST_F(CommandLifeCycleTest, ReplayRegistersSameCommandAgain) {
  CommandRequest request = Request();
  request.label = "session-1";
  request.ordering_key = "tab-1";
  request.request_id = "r1";
  request.priority = 7;
  request.idempotent = true;
  request.not_before = clock_.Now() + absl::Minutes(1);
  request.deadlines.start_to_close = absl::Seconds(60);
  const std::string id = Register(request);
  ASSERT_OK(table_.Expire(kClient, id, {}, clock_.Now()));

  ASSERT_OK_AND_ASSIGN(const CommandRegistration replay,
                       table_.Replay(kClient, id, "r2", clock_.Now()));
  EXPECT_FALSE(replay.existed);
  const CommandSpec& spec = *replay.command->spec;
  EXPECT_NE(spec.id.ToString(), id);
  EXPECT_EQ(spec.replay_of(), id);
  EXPECT_EQ(spec.type(), "execute_js");
  EXPECT_EQ(*spec.params, *request.params);
  EXPECT_EQ(spec.label(), "session-1");
  EXPECT_EQ(spec.ordering_key(), "tab-1");
  EXPECT_EQ(spec.request_id(), "r2");
  EXPECT_EQ(spec.priority, 7);
  EXPECT_TRUE(spec.idempotent);
  EXPECT_EQ(spec.not_before, absl::InfinitePast());
  EXPECT_EQ(spec.deadlines->start_to_close, absl::Seconds(60));
  EXPECT_EQ(IdOf(LeaseOne()), spec.id.ToString());

  ASSERT_OK_AND_ASSIGN(const CommandRegistration again,
                       table_.Replay(kClient, id, "r2", clock_.Now()));
  EXPECT_TRUE(again.existed);
  EXPECT_EQ(again.command->spec->id, spec.id);
}

TEST_F(CommandLifeCycleTest, OnlyDeadLettersCanBeReplayed) {
  const auto refused = FailsWith(StatusCode::kFailedPrecondition, "not_a_dead_letter");
  const std::string id = Register();
  EXPECT_THAT(table_.Replay(kClient, id, "", clock_.Now()), refused);
  ASSERT_OK(Complete(LeaseOne()));
  EXPECT_THAT(table_.Replay(kClient, id, "", clock_.Now()), refused);
  const std::string cancelled = Register();
  ASSERT_OK(Cancel(cancelled));
  EXPECT_THAT(table_.Replay(kClient, cancelled, "", clock_.Now()), refused);

  for (const CommandOutcome& outcome :
       {CommandOutcome(CommandFailure{{"e", ""}}), CommandOutcome(CommandTimeout{})}) {
    const std::string dead_letter = Register();
    ASSERT_OK(Complete(LeaseOne(), outcome));
    EXPECT_OK(table_.Replay(kClient, dead_letter, "", clock_.Now()));
    ASSERT_OK(Complete(LeaseOne()));
  }
}

}  // namespace
}  // namespace callslip::tracker
