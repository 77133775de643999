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
  return RequestIndex::Locked(index, RequestKey::Of(client, request)).Find();
}

TEST(RequestIndexTest, KnowsTheRequestsOfEachClient) {
  RequestIndex index;
  const CommandId id = NewId();
  RequestIndex::Locked(index, RequestKey::Of("agent", "r1")).Set(id);
  EXPECT_EQ(Find(index, "agent", "r1"), id);
  EXPECT_EQ(Find(index, "agent", "r2"), std::nullopt);
  EXPECT_EQ(Find(index, "other", "r1"), std::nullopt);
}

TEST(RequestIndexTest, NamesWithSameConcatenationAreDistinct) {
  RequestIndex index;
  RequestIndex::Locked(index, RequestKey::Of("ab", "c")).Set(NewId());
  EXPECT_EQ(Find(index, "a", "bc"), std::nullopt);
}

// The hash is stored.
TEST(RequestKeyTest, HashOfRequestIdNeverChanges) {
  EXPECT_EQ(RequestKey::HashOf(""), 0u);
  EXPECT_EQ(RequestKey::HashOf("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(RequestKey::HashOf("foobar"), 0x85944171f73967e8u);
}

TEST(RequestIndexTest, ForgetsCommandButNotItsSuccessor) {
  RequestIndex index;
  const CommandId removed = NewId();
  const CommandId next = NewId();
  RequestIndex::Locked(index, RequestKey::Of("agent", "r1")).Set(removed);
  RequestIndex::Locked(index, RequestKey::Of("agent", "r1")).Set(next);
  index.Forget(RequestKey::Of("agent", "r1"), removed);
  EXPECT_EQ(Find(index, "agent", "r1"), next);
  index.Forget(RequestKey::Of("agent", "r1"), next);
  index.Forget(RequestKey::Of("agent", "r1"), next);
  EXPECT_EQ(Find(index, "agent", "r1"), std::nullopt);
}

TEST(RequestIndexTest, SameRequestFromManyThreadsMakesOneCommand) {
  constexpr int kThreads = 4;
  constexpr int kRequests = 1000;
  RequestIndex index;
  std::atomic<int> made = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int request = 0; request < kRequests; ++request) {
        RequestIndex::Locked slot(index, RequestKey::Of("agent", std::to_string(request)));
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
