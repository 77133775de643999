#include "tracker/domain/worker/worker_activity.h"

#include <string>
#include <vector>

#include "tracker/domain/queue/command_table_fixture.h"

namespace callslip::tracker {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class WorkerActivityTest : public HeldCallTest {
 protected:
  // The only activity that there is, or a failed test.
  WorkerActivity Only(const std::string& target = "") {
    std::vector<WorkerActivity> activities = table_.Activities(target);
    EXPECT_THAT(activities, SizeIs(1));
    return activities.empty() ? WorkerActivity() : activities[0];
  }
};

TEST_F(WorkerActivityTest, NoWorkerIsActiveBeforeFirstPoll) {
  Register();
  EXPECT_THAT(table_.Activities(""), IsEmpty());
}

TEST_F(WorkerActivityTest, WorkerPollsWhileItsCallIsHeld) {
  const auto call = Hold("w1");
  EXPECT_TRUE(Only().polls);
  EXPECT_EQ(Only().target, "browser");
  EXPECT_EQ(Only().worker_id, "w1");
  table_.Abandon(call, clock_.Now());
  EXPECT_THAT(table_.Activities(""), IsEmpty());
}

TEST_F(WorkerActivityTest, CommandsOfAllClientsAreListedUntilTheyEnd) {
  const std::string first = Register();
  const std::string second = Register(Request("somebody else"));
  const CommandLeases leases = Lease("w1");
  Register();
  ASSERT_THAT(Only().commands, SizeIs(2));
  EXPECT_EQ(IdOf(*Only().commands[0]), first);
  EXPECT_EQ(IdOf(*Only().commands[1]), second);
  EXPECT_EQ(Only().last_report, absl::InfinitePast());

  clock_.Advance(absl::Seconds(1));
  ASSERT_OK(Acknowledge(leases[1]));
  EXPECT_EQ(Only().last_report, clock_.Now());
  EXPECT_EQ(Only().commands[1]->state, CommandState::kRunning);
  ASSERT_OK(Complete(leases[0]));
  ASSERT_OK(Complete(leases[1]));
  EXPECT_THAT(table_.Activities(""), IsEmpty());
}

TEST_F(WorkerActivityTest, TargetFiltersActivities) {
  Hold({.target = "laptop", .worker_id = "w1", .hold_until = clock_.Now() + absl::Seconds(5)});
  Hold("w1");
  EXPECT_THAT(table_.Activities(""), SizeIs(2));
  EXPECT_EQ(Only("laptop").target, "laptop");
  EXPECT_THAT(table_.Activities("elsewhere"), IsEmpty());
}

TEST_F(WorkerActivityTest, HumanCommandBelongsToNoWorker) {
  Hold("w1");
  const std::string id = Register(HumanRequest());
  ASSERT_OK(table_.Acknowledge(id, {}, std::nullopt, nullptr, clock_.Now()));
  EXPECT_THAT(Only().commands, IsEmpty());
}

}  // namespace
}  // namespace callslip::tracker
