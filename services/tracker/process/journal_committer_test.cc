#include "tracker/process/journal_committer.h"

#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "common/fake_clock.h"
#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tracker/domain/queue/command_table.h"
#include "tracker/storage/scripted_journal_storage.h"

namespace callslip::tracker {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using Where = JournalCommitter::Where;

// The outputs that have left.
class Outputs {
 public:
  OutputGate::Output Of(std::string name) {
    return [this, name = std::move(name)](const absl::Status& kept) {
      MutexLock lock(&mutex_);
      left_.push_back(kept.ok() ? name : name + " failed");
      changed_.NotifyAll();
    };
  }
  std::vector<std::string> left() {
    MutexLock lock(&mutex_);
    return left_;
  }
  void Await(size_t count) {
    MutexLock lock(&mutex_);
    while (left_.size() < count) changed_.Wait(&mutex_);
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::vector<std::string> left_ ABSL_GUARDED_BY(mutex_);
};

class JournalCommitterTest : public testing::TestWithParam<Where> {
 protected:
  // Changes that the thread finds when it starts would be an append of their own.
  void SetUp() override { clock_.AwaitSleep(); }

  void Change(uint64_t sequence) { journal_.Append({sequence, CommandReceipt()}); }

  // Blocks until the storage is reported to work, or to fail.
  void AwaitHealth(bool works) {
    MutexLock lock(&mutex_);
    while (works_ != works) changed_.Wait(&mutex_);
  }

  FakeClock clock_;
  Journal journal_;
  ScriptedStorage storage_;
  Outputs outputs_;
  Mutex mutex_;
  CondVar changed_;
  bool works_ ABSL_GUARDED_BY(mutex_) = true;
  JournalCommitter committer_{&clock_, &journal_, &storage_, GetParam()};

  void Listen() {
    committer_.SetStorageListener([this](bool works) {
      MutexLock lock(&mutex_);
      works_ = works;
      changed_.NotifyAll();
    });
  }
};

TEST_P(JournalCommitterTest, OutputsLeaveAtOnceWithoutChanges) {
  EXPECT_TRUE(committer_.IsOpen());
  committer_.BeginBatch();
  committer_.Pass(outputs_.Of("read"));
  EXPECT_THAT(outputs_.left(), ElementsAre("read"));
  committer_.EndBatch();
}

TEST_P(JournalCommitterTest, BatchOutputsLeaveTogetherAfterTheirChanges) {
  committer_.BeginBatch();
  Change(1);
  committer_.Pass(outputs_.Of("a"));
  Change(2);
  committer_.Pass(outputs_.Of("b"));
  EXPECT_THAT(outputs_.left(), IsEmpty());
  EXPECT_THAT(storage_.sequences(), IsEmpty());
  committer_.EndBatch();
  outputs_.Await(2);
  EXPECT_THAT(outputs_.left(), ElementsAre("a", "b"));
  EXPECT_THAT(storage_.sequences(), ElementsAre(1, 2));
  EXPECT_EQ(storage_.position(), 1u);
  EXPECT_TRUE(committer_.IsOpen());
}

TEST_P(JournalCommitterTest, ChangesOutsideBatchAreStored) {
  Change(1);
  storage_.AwaitTries(1);
  committer_.Pass(outputs_.Of("a"));
  outputs_.Await(1);
  EXPECT_THAT(storage_.sequences(), ElementsAre(1));
}

TEST_P(JournalCommitterTest, NothingLeavesWhileStorageIsBusy) {
  storage_.Block();
  Change(1);
  storage_.AwaitTries(1);
  // Outputs from before and after a change wait, from whichever thread.
  committer_.Pass(outputs_.Of("outside"));
  committer_.BeginBatch();
  committer_.Pass(outputs_.Of("read"));
  Change(2);
  committer_.Pass(outputs_.Of("change"));
  committer_.EndBatch();
  EXPECT_FALSE(committer_.IsOpen());
  EXPECT_THAT(outputs_.left(), IsEmpty());
  storage_.Unblock();
  outputs_.Await(3);
  EXPECT_THAT(storage_.sequences(), ElementsAre(1, 2));
}

// A slow disk slows down writers; no call is refused.
TEST_P(JournalCommitterTest, CommitterWaitsForStorageThatIsBehind) {
  storage_.GiveRoom(0);
  committer_.BeginBatch();
  Change(1);
  committer_.Pass(outputs_.Of("a"));
  committer_.EndBatch();
  for (int i = 0; i < 19; ++i) {
    clock_.AwaitSleep();
    clock_.Advance(absl::Milliseconds(100));
  }
  // Other changes come meanwhile, and the thread of a call is not blocked.
  committer_.BeginBatch();
  Change(2);
  committer_.Pass(outputs_.Of("b"));
  committer_.EndBatch();
  committer_.Pass(outputs_.Of("read"));
  clock_.AwaitSleep();
  EXPECT_THAT(outputs_.left(), IsEmpty());
  EXPECT_EQ(storage_.tries(), 0);
  EXPECT_TRUE(journal_.accepts_commands());
  storage_.GiveRoom(9);
  clock_.Advance(absl::Milliseconds(10));
  outputs_.Await(3);
  EXPECT_THAT(outputs_.left(), UnorderedElementsAre("a", "b", "read"));
  EXPECT_THAT(storage_.sequences(), ElementsAre(1, 2));
}

TEST_P(JournalCommitterTest, OutputsFailWhenStorageStaysBehind) {
  Listen();
  storage_.GiveRoom(0);
  committer_.BeginBatch();
  Change(1);
  committer_.Pass(outputs_.Of("a"));
  committer_.EndBatch();
  clock_.AwaitSleep();
  clock_.Advance(absl::Seconds(2) - absl::Milliseconds(10));
  clock_.AwaitSleep();
  EXPECT_THAT(outputs_.left(), IsEmpty());
  clock_.Advance(absl::Milliseconds(10));
  outputs_.Await(1);
  EXPECT_THAT(outputs_.left(), ElementsAre("a failed"));
  AwaitHealth(false);
  EXPECT_FALSE(journal_.accepts_commands());
  storage_.GiveRoom(9);
  clock_.AwaitSleep();
  clock_.Advance(absl::Milliseconds(100));
  AwaitHealth(true);
  committer_.Pass(outputs_.Of("b"));
  outputs_.Await(2);
  EXPECT_THAT(outputs_.left(), ElementsAre("a failed", "b"));
  // The next time it is behind, the committer waits as long as before.
  storage_.GiveRoom(0);
  Change(2);
  clock_.AwaitSleep();
  clock_.Advance(absl::Seconds(1));
  clock_.AwaitSleep();
  storage_.GiveRoom(9);
  clock_.Advance(absl::Milliseconds(10));
  storage_.AwaitTries(3);
  EXPECT_TRUE(journal_.accepts_commands());
}

TEST_P(JournalCommitterTest, FailedChangesAreStoredLater) {
  Listen();
  storage_.FailWith(absl::UnavailableError("disk full"));
  committer_.BeginBatch();
  Change(1);
  committer_.Pass(outputs_.Of("a"));
  committer_.EndBatch();
  outputs_.Await(1);
  EXPECT_THAT(outputs_.left(), ElementsAre("a failed"));
  AwaitHealth(false);
  EXPECT_FALSE(journal_.accepts_commands());
  // No output causes another try.
  committer_.Pass(outputs_.Of("b"));
  EXPECT_THAT(outputs_.left(), ElementsAre("a failed", "b failed"));
  Change(2);
  storage_.FailWith(absl::OkStatus());
  while (!committer_.IsOpen()) {
    clock_.Advance(absl::Seconds(1));
    std::this_thread::yield();
  }
  AwaitHealth(true);
  EXPECT_TRUE(journal_.accepts_commands());
  EXPECT_THAT(storage_.sequences(), testing::UnorderedElementsAre(1, 2));
  committer_.Pass(outputs_.Of("c"));
  EXPECT_THAT(outputs_.left(), ElementsAre("a failed", "b failed", "c"));
}

TEST_P(JournalCommitterTest, OutputsFailWhenStorageHangs) {
  Listen();
  storage_.Block();
  Change(1);
  storage_.AwaitTries(1);
  committer_.Pass(outputs_.Of("waiting"));
  clock_.Advance(absl::Seconds(5));
  committer_.Pass(outputs_.Of("in time"));
  EXPECT_THAT(outputs_.left(), IsEmpty());
  clock_.Advance(absl::Nanoseconds(1));
  committer_.Pass(outputs_.Of("late"));
  EXPECT_THAT(outputs_.left(), ElementsAre("waiting failed", "in time failed", "late failed"));
  AwaitHealth(false);
  EXPECT_FALSE(journal_.accepts_commands());
  storage_.Unblock();
  AwaitHealth(true);
  EXPECT_TRUE(journal_.accepts_commands());
  committer_.Pass(outputs_.Of("later"));
  outputs_.Await(4);
  EXPECT_EQ(outputs_.left().back(), "later");
  EXPECT_THAT(storage_.sequences(), ElementsAre(1));
}

TEST_P(JournalCommitterTest, OutputOfHangingChangeFails) {
  storage_.Block();
  // On the caller's thread or not.
  std::thread caller([&] {
    committer_.BeginBatch();
    Change(1);
    committer_.Pass(outputs_.Of("change"));
    committer_.EndBatch();
  });
  storage_.AwaitTries(1);
  clock_.Advance(absl::Seconds(6));
  committer_.Pass(outputs_.Of("late"));
  EXPECT_THAT(outputs_.left(), ElementsAre("change failed", "late failed"));
  storage_.Unblock();
  caller.join();
  while (!journal_.accepts_commands()) std::this_thread::yield();
  EXPECT_THAT(outputs_.left(), ElementsAre("change failed", "late failed"));
  EXPECT_THAT(storage_.sequences(), ElementsAre(1));
}

TEST_P(JournalCommitterTest, BatchOutputFailsOnceHangIsDetected) {
  storage_.Block();
  Change(1);
  storage_.AwaitTries(1);
  committer_.BeginBatch();
  committer_.Pass(outputs_.Of("before"));
  clock_.Advance(absl::Seconds(6));
  committer_.Pass(outputs_.Of("after"));
  committer_.EndBatch();
  EXPECT_THAT(outputs_.left(), ElementsAre("after failed", "before failed"));
  storage_.Unblock();
}

TEST_P(JournalCommitterTest, HangEndingInErrorIsFailure) {
  Listen();
  storage_.Block();
  Change(1);
  storage_.AwaitTries(1);
  clock_.Advance(absl::Seconds(6));
  committer_.Pass(outputs_.Of("late"));
  storage_.UnblockWith(absl::UnavailableError("disk broken"));
  committer_.Pass(outputs_.Of("later"));
  EXPECT_THAT(outputs_.left(), ElementsAre("late failed", "later failed"));
  AwaitHealth(false);
  storage_.FailWith(absl::OkStatus());
  while (!committer_.IsOpen()) {
    clock_.Advance(absl::Seconds(1));
    std::this_thread::yield();
  }
  AwaitHealth(true);
}

TEST_P(JournalCommitterTest, SecondWriterNeverStoresAnything) {
  storage_.FailWith(absl::FailedPreconditionError("another writer"));
  for (const char* name : {"a", "b"}) {
    committer_.BeginBatch();
    Change(1);
    committer_.Pass(outputs_.Of(name));
    committer_.EndBatch();
    clock_.Advance(absl::Minutes(1));
  }
  outputs_.Await(2);
  EXPECT_THAT(outputs_.left(), ElementsAre("a failed", "b failed"));
}

TEST_P(JournalCommitterTest, NewCommandsAreRefusedWhileStorageFails) {
  CommandTable table(CommandDeadlines(), {}, &journal_);
  const auto request = [] {
    CommandRequest asked;
    asked.client_id = "agent";
    asked.type = "click";
    return asked;
  };
  ASSERT_OK(table.Register(request(), clock_.Now()));
  journal_.AcceptCommands(false);
  EXPECT_THAT(table.Register(request(), clock_.Now()),
              FailsWith(absl::StatusCode::kUnavailable, "storage_unavailable"));
  EXPECT_EQ(table.commands(), 1);
}

TEST(JournalCommitterEndTest, PendingChangesAreStoredAtEnd) {
  FakeClock clock;
  Journal journal;
  ScriptedStorage storage;
  {
    JournalCommitter committer(&clock, &journal, &storage, Where::kOnThread);
    committer.BeginBatch();
    journal.Append({1, CommandReceipt()});
    committer.EndBatch();
  }
  EXPECT_THAT(storage.sequences(), ElementsAre(1));
}

CommandRecord RecordOf(uint64_t end_number) {
  CommandRequest request;
  request.params = std::make_shared<const std::string>("{}");
  auto command = std::make_shared<CommandSnapshot>();
  command->spec = std::make_shared<const CommandSpec>(
      CommandId(), request, absl::UnixEpoch(), end_number, std::make_shared<CommandDeadlines>());
  CommandRecord record;
  record.command = std::move(command);
  record.end_number = end_number;
  return record;
}

TEST(JournalTest, OnlyNewestChangeOfCommandIsPending) {
  Journal journal;
  journal.Append({1, RecordOf(1)});
  journal.Append({2, RecordOf(2)});
  journal.Append({1, RecordOf(3)});
  journal.Append({2, CommandRemoval{}});
  journal.Append({2, CommandReceipt{}});
  Journal::Batch batch = journal.Take();
  ASSERT_EQ(batch.entries.size(), 2u);
  EXPECT_EQ(std::get<CommandRecord>(batch.entries[0].change).end_number, 3u);
  EXPECT_TRUE(std::holds_alternative<CommandRemoval>(batch.entries[1].change));
  EXPECT_EQ(batch.appended, 5u);
  // A change that was made meanwhile is newer than the entry that is put back.
  journal.Append({1, RecordOf(4)});
  journal.PutBack(std::move(batch));
  batch = journal.Take();
  ASSERT_EQ(batch.entries.size(), 2u);
  EXPECT_EQ(std::get<CommandRecord>(batch.entries[0].change).end_number, 4u);
  EXPECT_EQ(batch.appended, 6u);
}

TEST(JournalTest, ReceiptDoesNotReplaceRecordPutBack) {
  Journal journal;
  journal.Append({1, RecordOf(1)});
  Journal::Batch batch = journal.Take();
  journal.Append({1, CommandReceipt{}});
  journal.PutBack(std::move(batch));
  EXPECT_TRUE(std::holds_alternative<CommandRecord>(journal.Take().entries[0].change));
}

TEST(JournalTest, LargeBatchesAreTakenInParts) {
  Journal journal;
  for (uint64_t i = 1; i <= 5; ++i) journal.Append({i, RecordOf(i)});
  // Two bytes each.
  Journal::Batch batch = journal.Take(3);
  ASSERT_EQ(batch.entries.size(), 2u);
  EXPECT_EQ(batch.appended, 0u);
  journal.Append({3, RecordOf(33)});
  journal.PutBack(std::move(batch));
  std::vector<uint64_t> sequences;
  do {
    batch = journal.Take(3);
    for (const JournalEntry& entry : batch.entries) {
      sequences.push_back(entry.sequence);
      if (entry.sequence != 3) continue;
      EXPECT_EQ(std::get<CommandRecord>(entry.change).end_number, 33u);
    }
  } while (batch.appended == 0);
  EXPECT_EQ(batch.appended, 6u);
  EXPECT_THAT(sequences, testing::UnorderedElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(journal.Take().entries, IsEmpty());
}

// Large results that come at once: the storage falls behind within their batch.
TEST_P(JournalCommitterTest, CommitterWaitsForStorageInMiddleOfBatch) {
  const auto large = std::make_shared<const std::string>(40 << 20, 'r');
  storage_.GiveRoom(1);
  committer_.BeginBatch();
  for (uint64_t i = 1; i <= 3; ++i) {
    CommandRecord record = RecordOf(i);
    auto command = std::make_shared<CommandSnapshot>(*record.command);
    command->result = large;
    record.command = std::move(command);
    journal_.Append({i, std::move(record)});
  }
  committer_.Pass(outputs_.Of("a"));
  committer_.EndBatch();
  storage_.AwaitTries(1);
  clock_.AwaitSleep();
  EXPECT_THAT(outputs_.left(), IsEmpty());
  EXPECT_TRUE(journal_.accepts_commands());
  storage_.GiveRoom(9);
  clock_.Advance(absl::Milliseconds(10));
  outputs_.Await(1);
  EXPECT_THAT(outputs_.left(), ElementsAre("a"));
  EXPECT_THAT(storage_.sequences(), ElementsAre(1, 2, 3));
}

class CommitterThreadTest : public JournalCommitterTest {
 protected:
  // Four outputs leave with an append that takes 10 ms.
  void LetFourOut() {
    const int tries = storage_.tries();
    const size_t left = outputs_.left().size();
    clock_.AwaitSleep();
    storage_.Block();
    committer_.BeginBatch();
    for (int i = 0; i < 4; ++i) {
      Change(sequence_++);
      committer_.Pass(outputs_.Of("early"));
    }
    committer_.EndBatch();
    storage_.AwaitTries(tries + 1);
    clock_.Advance(absl::Milliseconds(10));
    storage_.Unblock();
    outputs_.Await(left + 4);
  }

  void PassOne() {
    Change(sequence_++);
    committer_.Pass(outputs_.Of("late"));
  }

  // Gives an append that must not happen the time to happen.
  static void Yield() {
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();
  }

  uint64_t sequence_ = 1;
};

TEST_P(CommitterThreadTest, AppendWaitsForHalfOfPreviousOutputs) {
  LetFourOut();
  PassOne();
  Yield();
  PassOne();
  outputs_.Await(6);
  EXPECT_EQ(storage_.position(), 2u);
  // Now half of the last number is one.
  PassOne();
  outputs_.Await(7);
}

TEST_P(CommitterThreadTest, OutputWaitsForOthersAtMostOneAppendTime) {
  LetFourOut();
  PassOne();
  Yield();
  EXPECT_EQ(storage_.position(), 1u);
  while (outputs_.left().size() < 5) {
    clock_.Advance(absl::Milliseconds(10));
    std::this_thread::yield();
  }
}

TEST_P(CommitterThreadTest, BatchWithoutOutputsIsStored) {
  committer_.BeginBatch();
  Change(sequence_++);
  committer_.EndBatch();
  storage_.AwaitTries(1);
}

TEST_P(CommitterThreadTest, StopDoesNotWaitForMoreOutputs) {
  LetFourOut();
  PassOne();
}

INSTANTIATE_TEST_SUITE_P(, CommitterThreadTest, testing::Values(Where::kOnThread),
                         [](const auto&) { return "OnThread"; });

INSTANTIATE_TEST_SUITE_P(, JournalCommitterTest,
                         testing::Values(Where::kOnCaller, Where::kOnThread),
                         [](const auto& tested) {
                           return tested.param == Where::kOnCaller ? "OnCaller" : "OnThread";
                         });

}  // namespace
}  // namespace callslip::tracker
