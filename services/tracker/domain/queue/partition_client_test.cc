#include "tracker/domain/queue/partition_client.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::tracker {
namespace {

// Commands that no worker takes: they keep the state in which the test adds them.
class PartitionClientTest : public testing::Test {
 protected:
  ~PartitionClientTest() override {
    for (const auto& entry : entries_) client_.Remove(*entry, entry->view->state);
  }

  void Add(CommandState state, std::string label = "") {
    CommandRequest request;
    request.label = std::move(label);
    CommandSnapshot snapshot;
    snapshot.spec = std::make_shared<const CommandSpec>(CommandId(), request, absl::UnixEpoch(),
                                                        entries_.size() + 1,
                                                        std::shared_ptr<const CommandDeadlines>());
    auto entry = std::make_unique<CommandEntry>();
    entry->view = std::make_shared<const CommandSnapshot>(snapshot);
    client_.Add(*entry);
    if (state != CommandState::kQueued) Move(*entry, state);
    entries_.push_back(std::move(entry));
  }
  void Move(CommandEntry& entry, CommandState state) {
    CommandSnapshot next = *entry.view;
    const CommandState before = std::exchange(next.state, state);
    entry.view = std::make_shared<const CommandSnapshot>(next);
    client_.Moved(entry, before);
  }

  // The number of entries that are looked at for the ten newest of each sort, and the sequences of
  // those that match.
  struct Look {
    int looked_at = 0;
    std::vector<uint64_t> found;
  };
  Look LookFor(const CommandFilter& filter) {
    Look look;
    client_.TakeNewest(filter, entries_.size() + 1, 10, [&](const CommandEntry& entry) {
      ++look.looked_at;
      if (!filter.Matches(*entry.view)) return false;
      look.found.push_back(entry.spec().sequence);
      return true;
    });
    return look;
  }

  PartitionClient client_{std::make_shared<ClientAccount>("agent")};
  std::vector<std::unique_ptr<CommandEntry>> entries_;
};

// A few commands with the label in every state, then many others.
TEST_F(PartitionClientTest, SearchCostDoesNotDependOnOtherCommands) {
  constexpr int kFew = 2;
  for (int state = 0; state < kCommandStateCount; ++state) {
    for (int i = 0; i < kFew; ++i) Add(static_cast<CommandState>(state), "wanted");
  }
  for (const int others : {1, 1000, 100'000}) {
    while (entries_.size() < static_cast<size_t>(others)) {
      // The others are queued or completed: no client has more than 200 failed commands.
      Add(entries_.size() % 2 == 0 ? CommandState::kQueued : CommandState::kCompleted, "other");
    }
    const Look all = LookFor({.label = "wanted"});
    EXPECT_EQ(all.looked_at, kFew * kCommandStateCount) << others;
    EXPECT_EQ(LookFor({.label = "unheard of"}).looked_at, 0);
    for (int state = 0; state < kCommandStateCount; ++state) {
      const auto each = static_cast<CommandState>(state);
      const Look look = LookFor({.states = {each}, .label = "wanted"});
      EXPECT_EQ(look.found.size(), kFew) << others << " " << CommandStateName(each);
      EXPECT_LE(look.looked_at, kFew * kCommandStateCount);
      // All failed commands are looked at for each of their states.
      const Look unlabelled = LookFor({.states = {each}});
      EXPECT_GE(unlabelled.found.size(), kFew) << others << " " << CommandStateName(each);
      EXPECT_LE(unlabelled.looked_at, kFew * kCommandStateCount) << CommandStateName(each);
    }
  }
}

TEST_F(PartitionClientTest, CommandIsFoundInItsCurrentStateOnly) {
  Add(CommandState::kQueued, "wanted");
  Add(CommandState::kQueued, "wanted");
  using State = CommandState;
  for (const State state : {State::kDelivered, State::kQueued, State::kDelivered, State::kRunning,
                            State::kCompleted, State::kExpired}) {
    Move(*entries_[0], state);
    for (const std::string label : {"", "wanted"}) {
      EXPECT_THAT(LookFor({.states = {state}, .label = label}).found, testing::Contains(1u));
      for (const State other : {State::kQueued, State::kRunning, State::kCompleted}) {
        if (other == state) continue;
        EXPECT_THAT(LookFor({.states = {other}, .label = label}).found,
                    testing::Not(testing::Contains(1u)));
      }
    }
  }
}

TEST_F(PartitionClientTest, DeliveredCommandsAreFoundNewestFirst) {
  for (int i = 0; i < 4; ++i) Add(CommandState::kQueued);
  for (const size_t i : {2, 0, 3}) Move(*entries_[i], CommandState::kDelivered);
  EXPECT_THAT(LookFor({.states = {CommandState::kDelivered}}).found,
              testing::ElementsAre(4u, 3u, 1u));
  EXPECT_THAT(LookFor({.states = {CommandState::kQueued}}).found, testing::ElementsAre(2u));
}

}  // namespace
}  // namespace callslip::tracker
