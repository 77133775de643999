// Work that one call of the table does once, whatever it changes.
#include <memory>
#include <string>
#include <utility>

#include "tracker/domain/queue/command_table_fixture.h"

namespace callslip::tracker {
namespace {

class CommandStepTest : public HeldCallTest {
 protected:
  CommandStepTest() {
    std::destroy_at(&table_);
    std::construct_at(&table_, CommandDeadlines(), CommandLimits(), &journal_);
    table_.SetDeadlineListener([this](absl::Time) { ++times_armed_; });
  }

  // How often the journal was appended to since the last call.
  uint64_t Appended() {
    const uint64_t before = std::exchange(appended_, journal_.appended());
    return appended_ - before;
  }
  int Armed() { return std::exchange(times_armed_, 0); }

  Journal journal_;

 private:
  uint64_t appended_ = 0;
  int times_armed_ = 0;
};

TEST_F(CommandStepTest, CommandIsJournalledOncePerCall) {
  Register();
  EXPECT_EQ(Appended(), 1u);
  const CommandLease lease = LeaseOne();
  EXPECT_EQ(Appended(), 1u);
  ASSERT_OK(Acknowledge(lease));
  EXPECT_EQ(Appended(), 1u);
  ASSERT_OK(Complete(lease));
  EXPECT_EQ(Appended(), 1u);
  Register();
  const CommandLease next = LeaseOne();
  Appended();
  table_.GiveBack(next, clock_.Now());
  EXPECT_EQ(Appended(), 1u);
}

TEST_F(CommandStepTest, CommandForWaitingWorkerIsJournalledOnceAsDelivered) {
  Hold();
  Appended();
  Armed();
  const std::string id = Register();
  ASSERT_THAT(answers_, SizeIs(1));
  EXPECT_EQ(Appended(), 1u);
  EXPECT_EQ(Armed(), 1);
  const Journal::Batch batch = journal_.Take();
  ASSERT_THAT(batch.entries, SizeIs(1));
  EXPECT_TRUE(batch.entries[0].is_first);
  EXPECT_EQ(std::get<CommandRecord>(batch.entries[0].change).command->state, State::kDelivered);
}

TEST_F(CommandStepTest, EndReportedToWorkerAtOnceIsJournalledOnce) {
  const std::string id = Register();
  LeaseOne();
  Hold();
  Appended();
  ASSERT_OK(Cancel(id));
  ASSERT_THAT(answers_, SizeIs(1));
  EXPECT_EQ(Appended(), 1u);
  const Journal::Batch batch = journal_.Take();
  ASSERT_THAT(batch.entries, SizeIs(1));
  EXPECT_FALSE(std::get<CommandRecord>(batch.entries[0].change).end_unreported);
}

// Watches get each of the states, because some ask for one state only.
TEST_F(CommandStepTest, FilterReportsTransientState) {
  Hold();
  const auto feed = std::make_shared<RecordingFeed>();
  CommandFilter queued{.states = {State::kQueued}};
  ASSERT_OK(table_.WatchAll({.clients = kClient, .filter = queued, .feed = feed}));
  const std::string id = Register();
  EXPECT_THAT(feed->Ids(), ElementsAre(id));
  EXPECT_EQ(StateOf(id), State::kDelivered);
}

// The command must not stay in the queue while a worker waits for it.
TEST_F(CommandStepTest, LostDeliveryThatIsNotRetakenGoesToAnotherWorker) {
  Register();
  Register();
  ASSERT_THAT(Lease("w1", 2), SizeIs(2));
  Hold("w2");
  clock_.Advance(kTick);
  const WorkerNews again = Poll({.worker_id = "w1",
                                 .max_commands = 1,
                                 .known = {.leases = {}, .reach_back = absl::Seconds(1)}});
  EXPECT_THAT(again.leases, SizeIs(1));
  ASSERT_THAT(answers_, SizeIs(1));
  EXPECT_EQ(answers_[0].worker, "w2");
  EXPECT_THAT(answers_[0].news.leases, SizeIs(1));
}

}  // namespace
}  // namespace callslip::tracker
