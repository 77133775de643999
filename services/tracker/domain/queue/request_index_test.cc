#include "tracker/domain/queue/request_index.h"

#include <atomic>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace callslip::tracker {
namespace {

CommandId NewId() { return CommandId::New(absl::UnixEpoch(), /*annotation=*/false, 0); }

std::optional<CommandId> Find(RequestIndex& index, absl::string_view client,
                              absl::string_view request) {
  return RequestIndex::Locked(index, client, request).Find();
}

TEST(RequestIndexTest, KnowsTheRequestsOfEachClient) {
  RequestIndex index;
  const CommandId id = NewId();
  RequestIndex::Locked(index, "agent", "r1").Set(id);
  EXPECT_EQ(Find(index, "agent", "r1"), id);
  EXPECT_EQ(Find(index, "agent", "r2"), std::nullopt);
  EXPECT_EQ(Find(index, "other", "r1"), std::nullopt);
}

TEST(RequestIndexTest, NamesThatTogetherReadAlikeAreApart) {
  RequestIndex index;
  RequestIndex::Locked(index, "ab", "c").Set(NewId());
  EXPECT_EQ(Find(index, "a", "bc"), std::nullopt);
}

TEST(RequestIndexTest, ForgetsACommandButNotTheNextOneOfTheSameRequest) {
  RequestIndex index;
  const CommandId removed = NewId();
  const CommandId next = NewId();
  RequestIndex::Locked(index, "agent", "r1").Set(removed);
  RequestIndex::Locked(index, "agent", "r1").Set(next);
  index.Forget("agent", "r1", removed);
  EXPECT_EQ(Find(index, "agent", "r1"), next);
  index.Forget("agent", "r1", next);
  index.Forget("agent", "r1", next);
  EXPECT_EQ(Find(index, "agent", "r1"), std::nullopt);
}

TEST(RequestIndexTest, SameRequestOfManyThreadsMakesOneCommand) {
  constexpr int kThreads = 4;
  constexpr int kRequests = 1000;
  RequestIndex index;
  std::atomic<int> made = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int request = 0; request < kRequests; ++request) {
        RequestIndex::Locked slot(index, "agent", std::to_string(request));
        if (slot.Find().has_value()) continue;
        slot.Set(NewId());
        ++made;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, kRequests);
}

}  // namespace
}  // namespace callslip::tracker
