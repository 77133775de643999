#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tracker/domain/command/command_limits.h"
#include "tracker/domain/queue/command_table_fixture.h"

namespace callslip::tracker {
namespace {

using Stage = TraceEntry::Stage;

auto IsWrongLease() { return FailsWith(StatusCode::kPermissionDenied, "wrong_lease"); }

class CommandLeasingTest : public HeldCallTest {
 protected:
  // An idempotent command that `w1` has leased and lost, and that `w2` has leased afterwards.
  struct Redelivered {
    std::string id;
    CommandLease stale;
    CommandLease present;
  };
  Redelivered RegisterRedelivered(LeaseProofs proofs = LeaseProofs::kRequired) {
    Redelivered command;
    command.id = Register(IdempotentRequest());
    command.stale = Poll({.worker_id = "w1", .proofs = proofs}).leases.at(0);
    Advance(absl::Seconds(3));
    command.present = Poll({.worker_id = "w2", .proofs = proofs}).leases.at(0);
    EXPECT_EQ(command.present.command->attempt, 2);
    return command;
  }
};

// Held calls.

TEST_F(CommandLeasingTest, HeldCallWakesAtOnceForNewWork) {
  Hold();
  EXPECT_EQ(table_.waits(), 1);
  EXPECT_THAT(answers_, IsEmpty());
  const std::string id = Register();
  ASSERT_THAT(answers_, SizeIs(1));
  EXPECT_THAT(IdsOf(answers_[0].news.leases), ElementsAre(id));
  EXPECT_EQ(table_.waits(), 0);
  Advance(absl::Seconds(5));
  EXPECT_THAT(answers_, SizeIs(1));
}

TEST_F(CommandLeasingTest, HeldCallReturnsEmptyWhenItsTimeIsOver) {
  Hold();
  Advance(absl::Seconds(5) - kTick);
  EXPECT_THAT(answers_, IsEmpty());
  Advance(kTick);
  ASSERT_THAT(answers_, SizeIs(1));
  EXPECT_TRUE(answers_[0].news.empty());
  EXPECT_EQ(table_.waits(), 0);
}

TEST_F(CommandLeasingTest, CallWithoutWaitIsAnsweredAtOnce) {
  EXPECT_EQ(Hold("w1", absl::ZeroDuration()), nullptr);
  ASSERT_THAT(answers_, SizeIs(1));
  EXPECT_TRUE(answers_[0].news.empty());
}

TEST_F(CommandLeasingTest, AbandonedCallTakesNoCommand) {
  const auto call = Hold();
  EXPECT_TRUE(table_.Abandon(call, clock_.Now()));
  EXPECT_FALSE(table_.Abandon(call, clock_.Now()));
  EXPECT_FALSE(table_.Abandon(nullptr, clock_.Now()));
  EXPECT_EQ(table_.waits(), 0);
  const std::string id = Register();
  EXPECT_EQ(StateOf(id), State::kQueued);
  EXPECT_EQ(IdOf(LeaseOne()), id);
  Advance(absl::Seconds(5));
  EXPECT_THAT(answers_, IsEmpty());
}

TEST_F(CommandLeasingTest, AnsweredCallCannotBeAbandoned) {
  const auto call = Hold();
  Register();
  EXPECT_FALSE(table_.Abandon(call, clock_.Now()));
  EXPECT_THAT(answers_, SizeIs(1));
}

TEST_F(CommandLeasingTest, OneCommandWakesOneCall) {
  Hold("w1");
  Hold("w2");
  Register();
  EXPECT_THAT(answers_, SizeIs(1));
  EXPECT_EQ(table_.waits(), 1);
}

TEST_F(CommandLeasingTest, EachCallOfWorkerHasItsOwnWindow) {
  Register();
  const CommandLease first = LeaseOne();
  Hold({.worker_id = "w1", .window = 1, .hold_until = absl::InfiniteFuture()});
  const auto wide = Hold({.worker_id = "w1", .window = 2, .hold_until = absl::InfiniteFuture()});
  const std::string second = Register();
  // The call that was held longer has no room for it.
  ASSERT_THAT(answers_, SizeIs(1));
  EXPECT_THAT(IdsOf(answers_[0].news.leases), ElementsAre(second));
  EXPECT_FALSE(table_.Abandon(wide, clock_.Now()));

  const std::string third = Register();
  ASSERT_OK(Complete(first));
  EXPECT_THAT(answers_, SizeIs(1));
  ASSERT_OK(Complete(answers_[0].news.leases[0]));
  ASSERT_THAT(answers_, SizeIs(2));
  EXPECT_THAT(IdsOf(answers_[1].news.leases), ElementsAre(third));
}

TEST_F(CommandLeasingTest, HeldCallGetsCommandsOfItsTargetOnly) {
  Hold({.target = "elsewhere", .worker_id = "w1", .hold_until = absl::InfiniteFuture()});
  Register();
  EXPECT_THAT(answers_, IsEmpty());
}

TEST_F(CommandLeasingTest, WorkerCanReportFromAnswerCallback) {
  ASSERT_OK(
      table_.Lease({.hold_until = absl::InfiniteFuture()}, clock_.Now(), [this](WorkerNews news) {
        ASSERT_OK(Acknowledge(news.leases[0]));
        ASSERT_OK(Complete(news.leases[0]));
      }));
  EXPECT_EQ(StateOf(Register()), State::kCompleted);
}

TEST_F(CommandLeasingTest, ErrorOfInvalidLeaseRequestNamesField) {
  const auto expect_invalid = [&](const LeaseRequest& request, const std::string& field) {
    const auto refused = table_.Lease(request, clock_.Now(), [](WorkerNews) { FAIL(); });
    EXPECT_THAT(refused, FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
    EXPECT_THAT(std::string(refused.status().message()), testing::StartsWith(field));
  };
  expect_invalid({.max_commands = kWorkerWindow + 1}, "max_commands");
  expect_invalid({.max_commands = -1}, "max_commands");
  expect_invalid({.window = kWorkerWindow + 1}, "max_unfinished");
  expect_invalid({.target = std::string(kMaxNameBytes + 1, 'x')}, "target");
  expect_invalid({.worker_id = "two\nlines"}, "worker_id");
}

// Windows.

TEST_F(CommandLeasingTest, SixthCommandWaitsForRoomInWindow) {
  std::vector<std::string> ids;
  for (int i = 0; i < 6; ++i) ids.push_back(Register());
  const auto leases = Lease();
  ASSERT_THAT(leases, SizeIs(5));
  EXPECT_THAT(Lease(), IsEmpty());
  EXPECT_EQ(StateOf(ids[5]), State::kQueued);
  ASSERT_OK(Complete(leases[2]));
  EXPECT_THAT(IdsOf(Lease()), ElementsAre(ids[5]));
}

TEST_F(CommandLeasingTest, WorkerCanAskForFewerCommands) {
  for (int i = 0; i < 6; ++i) Register();
  EXPECT_THAT(Lease("w1", 2), SizeIs(2));
  EXPECT_THAT(Poll({.worker_id = "w1", .window = 3}).leases, SizeIs(1));
  EXPECT_THAT(Poll({.worker_id = "w1", .window = 3}).leases, IsEmpty());
  EXPECT_THAT(Poll({.worker_id = "w2", .max_commands = 1}).leases, SizeIs(1));
}

TEST_F(CommandLeasingTest, HeldCallOfBusyWorkerWakesWhenWindowHasRoom) {
  for (int i = 0; i < 6; ++i) Register();
  const auto leases = Lease("w1");
  Hold("w1");
  EXPECT_THAT(answers_, IsEmpty());
  ASSERT_OK(Complete(leases[0]));
  ASSERT_THAT(answers_, SizeIs(1));
  EXPECT_THAT(answers_[0].news.leases, SizeIs(1));
  EXPECT_THAT(answers_[0].news.ended, IsEmpty()) << "it said so itself";
}

TEST_F(CommandLeasingTest, ExpiredLeasesFreeTheWindow) {
  for (int i = 0; i < 10; ++i) Register();
  EXPECT_THAT(Lease(), SizeIs(5));
  EXPECT_EQ(table_.leased(), 5);
  Advance(absl::Seconds(3));
  EXPECT_EQ(table_.leased(), 0);
  EXPECT_THAT(Lease(), SizeIs(5));
}

// Proofs.

TEST_F(CommandLeasingTest, ReportsMustProveTheirLease) {
  const std::string id = Register();
  const auto complete = [&](const LeaseProof& proof) {
    return table_.Complete(id, proof, CommandResult{Bytes("1")}, nullptr, clock_.Now());
  };
  EXPECT_THAT(complete({}), IsWrongLease()) << "it was not delivered";
  const CommandLease lease = LeaseOne();
  const LeaseProof forged = {.token = LeaseToken::New()};
  EXPECT_THAT(complete(forged), IsWrongLease());
  EXPECT_THAT(table_.Acknowledge(id, forged, std::nullopt, nullptr, clock_.Now()), IsWrongLease());
  EXPECT_THAT(complete({.token = lease.token, .attempt = 2}), IsWrongLease());
  EXPECT_THAT(complete({}), IsWrongLease());
  EXPECT_THAT(complete({.attempt = 1}), IsWrongLease());
  EXPECT_EQ(StateOf(id), State::kDelivered);
  EXPECT_OK(complete({.token = lease.token}));
}

TEST_F(CommandLeasingTest, LeaseProofsAreOptionalWhenWorkerAsksForIt) {
  const std::string id = Register();
  ASSERT_THAT(Poll({.proofs = LeaseProofs::kOptional}).leases, SizeIs(1));
  const auto complete = [&](const LeaseProof& proof) {
    return table_.Complete(id, proof, CommandResult{Bytes("1")}, nullptr, clock_.Now());
  };
  EXPECT_THAT(complete({.token = LeaseToken::New(LeaseProofs::kOptional)}), IsWrongLease());
  EXPECT_THAT(complete({.attempt = 2}), IsWrongLease());
  EXPECT_OK(table_.Acknowledge(id, {.attempt = 1}, std::nullopt, nullptr, clock_.Now()));
  EXPECT_OK(complete({}));
}

TEST_F(CommandLeasingTest, LeaseProofsCanBeOptionalForHeldCalls) {
  Hold({.worker_id = "w1", .hold_until = absl::InfiniteFuture(), .proofs = LeaseProofs::kOptional});
  const std::string id = Register();
  EXPECT_OK(table_.Complete(id, {}, CommandResult{Bytes("1")}, nullptr, clock_.Now()));
}

TEST_F(CommandLeasingTest, EachDeliveryHasItsOwnTokenAndNumber) {
  const Redelivered command = RegisterRedelivered();
  const auto acknowledge = [&](const LeaseProof& proof) {
    return table_.Acknowledge(command.id, proof, std::nullopt, nullptr, clock_.Now());
  };
  EXPECT_THAT(acknowledge({.token = command.stale.token, .attempt = 2}), IsWrongLease());
  EXPECT_THAT(acknowledge({.token = command.present.token, .attempt = 1}), IsWrongLease());
  EXPECT_OK(acknowledge({.token = command.present.token, .attempt = 2}));
  EXPECT_OK(acknowledge({.token = command.stale.token, .attempt = 1}));
  EXPECT_OK(acknowledge({.token = command.stale.token}));
}

TEST_F(CommandLeasingTest, LateAcknowledgementRemovesReturnedCommandFromQueue) {
  const std::string id = Register(IdempotentRequest());
  const CommandLease lease = LeaseOne("w1");
  Advance(absl::Seconds(3));
  EXPECT_EQ(table_.leased(), 0);
  ASSERT_OK(Acknowledge(lease));
  EXPECT_EQ(table_.leased(), 1);
  EXPECT_EQ(StateOf(id), State::kRunning);
  EXPECT_THAT(Lease("w2"), IsEmpty());
  ASSERT_OK(Complete(lease));
  EXPECT_EQ(StateOf(id), State::kCompleted);
  EXPECT_EQ(table_.leased(), 0);
}

TEST_F(CommandLeasingTest, LateResultRemovesReturnedCommandFromQueue) {
  const std::string id = Register(IdempotentRequest());
  const CommandLease lease = LeaseOne("w1");
  Advance(absl::Seconds(3));
  EXPECT_TRUE(Complete(lease)->accepted);
  EXPECT_EQ(StateOf(id), State::kCompleted);
  EXPECT_THAT(Lease("w2"), IsEmpty());
  EXPECT_TRUE(Poll({.worker_id = "w1"}).empty()) << "it said so itself";
}

TEST_F(CommandLeasingTest, StaleWorkerCanReportWhileAnotherHoldsCommand) {
  const Redelivered command = RegisterRedelivered();
  Hold("w2");
  ASSERT_OK_AND_ASSIGN(const CompleteResult completed, Complete(command.stale, "first"));
  EXPECT_TRUE(completed.accepted);
  EXPECT_EQ(*Peek(command.id).result, "first");
  EXPECT_EQ(table_.leased(), 0);
  ASSERT_THAT(answers_, SizeIs(1));
  EXPECT_THAT(IdsOf(answers_[0].news.ended), ElementsAre(command.id));
  EXPECT_FALSE(Complete(command.present, "second")->accepted);
  EXPECT_EQ(*Peek(command.id).result, "first");
}

TEST_F(CommandLeasingTest, StaleReportWithoutTokenIsRecognizedByAttempt) {
  const Redelivered command = RegisterRedelivered(LeaseProofs::kOptional);
  ASSERT_OK(table_.Complete(command.id, {.attempt = 1}, CommandResult{Bytes("first")}, nullptr,
                            clock_.Now()));
  EXPECT_THAT(IdsOf(Poll({.worker_id = "w2"}).ended), ElementsAre(command.id));
}

// Ends of which workers are notified.

TEST_F(CommandLeasingTest, CancelWakesHeldCallOfLeaseHolderAtOnce) {
  const std::string id = Register();
  const CommandLease lease = LeaseOne("w1");
  Hold("w2");
  Hold("w1");
  ASSERT_OK(Cancel(id));
  ASSERT_THAT(answers_, SizeIs(1));
  EXPECT_EQ(answers_[0].worker, "w1");
  EXPECT_THAT(answers_[0].news.leases, IsEmpty());
  EXPECT_THAT(IdsOf(answers_[0].news.ended), ElementsAre(id));
  EXPECT_EQ(answers_[0].news.ended[0].token, lease.token);
}

TEST_F(CommandLeasingTest, WorkerThatPollsLaterIsNotifiedOnce) {
  const std::string cancelled = Register();
  const std::string expired = Register();
  Lease("w1");
  ASSERT_OK(Cancel(cancelled));
  Advance(absl::Seconds(3));
  const std::string next = Register();
  EXPECT_TRUE(Poll({.target = "elsewhere", .worker_id = "w1"}).empty());
  const WorkerNews news = Poll({.worker_id = "w1"});
  EXPECT_THAT(IdsOf(news.ended), ElementsAre(cancelled, expired));
  EXPECT_THAT(IdsOf(news.leases), ElementsAre(next));
  EXPECT_TRUE(Poll({.worker_id = "w1"}).empty());
}

TEST_F(CommandLeasingTest, EndOfUnleasedCommandIsNotReportedToWorkers) {
  Hold("w2");
  CommandRequest request = Request();
  request.not_before = clock_.Now() + absl::Seconds(1);
  const std::string id = Register(std::move(request));
  ASSERT_OK(Cancel(id));
  EXPECT_THAT(answers_, IsEmpty());
}

TEST_F(CommandLeasingTest, EndIsReportedWithWorkThatItMadeRoomFor) {
  std::vector<std::string> ids;
  for (int i = 0; i < 6; ++i) ids.push_back(Register());
  Lease("w1");
  Hold("w1");
  ASSERT_OK(Cancel(ids[0]));
  ASSERT_THAT(answers_, SizeIs(1));
  EXPECT_THAT(IdsOf(answers_[0].news.ended), ElementsAre(ids[0]));
  EXPECT_THAT(IdsOf(answers_[0].news.leases), ElementsAre(ids[5]));
}

TEST_F(CommandLeasingTest, HigherPriorityGoesFirstAmongCommandsDueTogether) {
  std::vector<std::string> ids;
  for (const int priority : {-10, 0, 50, 0}) {
    CommandRequest request = Request();
    request.not_before = clock_.Now() + absl::Seconds(1);
    request.priority = priority;
    ids.push_back(Register(std::move(request)));
  }
  CommandRequest elsewhere = Request();
  elsewhere.target = "elsewhere";
  elsewhere.not_before = clock_.Now() + absl::Seconds(1);
  const std::string other = Register(std::move(elsewhere));
  const absl::Time until = clock_.Now() + absl::Seconds(5);
  Hold({.worker_id = "w1", .window = 1, .hold_until = until});
  Hold({.worker_id = "w2", .window = 1, .hold_until = until});
  Hold({.target = "elsewhere", .worker_id = "w3", .hold_until = until});
  Advance(absl::Seconds(1));
  std::map<std::string, std::vector<std::string>> given;
  for (const Answer& each : answers_) given[each.worker] = IdsOf(each.news.leases);
  EXPECT_THAT(given["w1"], ElementsAre(ids[2]));
  EXPECT_THAT(given["w2"], ElementsAre(ids[1]));
  EXPECT_THAT(given["w3"], ElementsAre(other));
}

// Giving back.

TEST_F(CommandLeasingTest, GivenBackLeaseDoesNotCountAsDelivery) {
  const std::string id = Register();
  const CommandLease lost = LeaseOne("w1");
  table_.GiveBack(lost, clock_.Now());
  EXPECT_EQ(StateOf(id), State::kQueued);
  EXPECT_EQ(Peek(id).attempt, 0);
  EXPECT_THAT(Peek(id).trace, SizeIs(1));
  EXPECT_EQ(Peek(id).deliver_time(), absl::InfinitePast());
  EXPECT_GT(Peek(id).revision, lost.command->revision) << "it was seen to be delivered";
  EXPECT_EQ(table_.leased(), 0);
  EXPECT_THAT(Complete(lost), IsWrongLease());
  EXPECT_TRUE(Poll({.worker_id = "w1", .window = 1}).ended.empty());
}

TEST_F(CommandLeasingTest, GivenBackCommandGoesToTheNextWorkerAtOnce) {
  const std::string id = Register();
  const CommandLease lost = LeaseOne("w1");
  Hold("w2");
  table_.GiveBack(lost, clock_.Now());
  ASSERT_THAT(answers_, SizeIs(1));
  EXPECT_THAT(IdsOf(answers_[0].news.leases), ElementsAre(id));
  EXPECT_EQ(answers_[0].news.leases[0].command->attempt, 1);
  table_.GiveBack(lost, clock_.Now());
  EXPECT_EQ(StateOf(id), State::kDelivered) << "it is another's by now";
}

// The answer with a delivery was lost, and the worker asks again.

class LostAnswersTest : public CommandLeasingTest {
 protected:
  // A poll of a worker that knows these deliveries, and remembers the last `for_long`.
  CommandLeases Ask(std::vector<LeaseToken> known, absl::Duration for_long = absl::Minutes(1)) {
    return Poll({.worker_id = "w1", .known = {std::move(known), for_long}}).leases;
  }
};

TEST_F(LostAnswersTest, LostDeliveryIsRepeatedAtOnce) {
  const std::string arrived = Register();
  const std::string lost = Register();
  const CommandLeases first = Ask({});
  ASSERT_THAT(IdsOf(first), ElementsAre(arrived, lost));
  const CommandLeases again = Ask({first[0].token});
  ASSERT_THAT(IdsOf(again), ElementsAre(lost));
  EXPECT_EQ(again[0].command->attempt, 1) << "nobody has seen the other one";
  EXPECT_THAT(Complete(first[1]), IsWrongLease());
  ASSERT_OK(Complete(first[0]));
  ASSERT_OK(Complete(again[0]));
  EXPECT_EQ(table_.leased(), 0);
}

TEST_F(LostAnswersTest, AcknowledgedOrOlderDeliveryIsNotRepeated) {
  Register();
  Register();
  const CommandLeases leases = Ask({});
  ASSERT_OK(Acknowledge(leases[0]));
  clock_.Advance(absl::Seconds(2));
  EXPECT_THAT(Ask({}, absl::Seconds(2)), IsEmpty()) << "handed out in an earlier life";
  EXPECT_THAT(Ask({}, absl::ZeroDuration()), IsEmpty());
  EXPECT_THAT(IdsOf(Ask({}, absl::Seconds(3))), ElementsAre(IdOf(leases[1])));
  EXPECT_EQ(StateOf(IdOf(leases[0])), State::kRunning);
}

TEST_F(LostAnswersTest, FullWindowOfLostDeliveriesIsRepeated) {
  for (int i = 0; i < 2 * kWorkerWindow; ++i) Register();
  const std::vector<std::string> lost = IdsOf(Ask({}));
  ASSERT_THAT(lost, SizeIs(kWorkerWindow));
  EXPECT_EQ(IdsOf(Ask({})), lost);
  EXPECT_EQ(table_.leased(), kWorkerWindow);
}

TEST_F(LostAnswersTest, EndedCommandIsNotRepeated) {
  CommandRequest request = Request();
  request.ordering_key = "tab-1";
  const std::string id = Register(request);
  ASSERT_THAT(Ask({}), SizeIs(1));
  ASSERT_EQ(StateOf(id), State::kDelivered);
  ASSERT_OK(Cancel(id));
  EXPECT_THAT(Ask({}), IsEmpty()) << "it has ended";
}

TEST_F(CommandLeasingTest, GivenBackCommandIsOfferedToEachWorkerInTurn) {
  constexpr int kWorkers = 100;
  int answered = 0;
  int depth = 0;
  int deepest = 0;
  for (int i = 0; i < kWorkers; ++i) {
    const auto give_back = [&](WorkerNews news) {
      ++answered;
      deepest = std::max(deepest, ++depth);
      for (const CommandLease& lease : news.leases) table_.GiveBack(lease, clock_.Now());
      --depth;
    };
    ASSERT_OK(table_.Lease(
        {.worker_id = absl::StrCat("w", i), .hold_until = clock_.Now() + absl::Seconds(5)},
        clock_.Now(), give_back));
  }
  const std::string id = Register();
  EXPECT_EQ(answered, kWorkers);
  EXPECT_EQ(StateOf(id), State::kQueued);
  EXPECT_EQ(Peek(id).attempt, 0);
  EXPECT_LE(deepest, 2) << "the first from Register(), the others from its GiveBack()";
}

TEST_F(CommandLeasingTest, GivenBackCommandEndsAsUndelivered) {
  const std::string cancelled = Register();
  table_.GiveBack(LeaseOne(), clock_.Now());
  ASSERT_OK(Cancel(cancelled));
  ExpectEnd(cancelled, State::kCancelled, "cancelled", false);

  const std::string id = Register();
  Advance(absl::Seconds(29));
  const CommandLease lost = LeaseOne();
  Advance(absl::Seconds(2));
  table_.GiveBack(lost, clock_.Now());
  Advance(kTick);
  ExpectEnd(id, State::kExpired, "never_delivered", false);
}

TEST_F(CommandLeasingTest, RunningOrEndedCommandCannotBeGivenBack) {
  const std::string running = Register();
  const CommandLease lease = LeaseOne();
  ASSERT_OK(Acknowledge(lease));
  table_.GiveBack(lease, clock_.Now());
  EXPECT_EQ(StateOf(running), State::kRunning);
  ASSERT_OK(Complete(lease));
  table_.GiveBack(lease, clock_.Now());
  EXPECT_EQ(StateOf(running), State::kCompleted);
  Advance(absl::Hours(1));
  Advance(absl::Hours(1));
  table_.GiveBack(lease, clock_.Now());
  EXPECT_EQ(table_.commands(), 0);
}

TEST_F(CommandLeasingTest, GivenBackRedeliveryLeavesCommandToFirstWorker) {
  const Redelivered command = RegisterRedelivered();
  table_.GiveBack(command.present, clock_.Now());
  EXPECT_EQ(StateOf(command.id), State::kQueued);
  EXPECT_EQ(Peek(command.id).attempt, 1);
  // `w1` was slow, not gone: it executes the command and is notified of its end.
  ASSERT_OK(Acknowledge(command.stale));
  ASSERT_OK(Cancel(command.id));
  EXPECT_THAT(IdsOf(Poll({.worker_id = "w1"}).ended), ElementsAre(command.id));
  EXPECT_TRUE(Poll({.worker_id = "w2"}).empty());
}

}  // namespace
}  // namespace callslip::tracker
