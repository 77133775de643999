#include "tracker/domain/queue/tombstones.h"

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tracker/domain/queue/deadline_wheel.h"

namespace callslip::tracker {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kNow = 1'738'012'345 * kSecond;

Tombstones::Tombstone Of(absl::string_view client, CommandState state = CommandState::kExpired,
                         absl::string_view request_id = "") {
  return {RequestKey::Of(client, request_id), state};
}

CommandId AnyId() {
  return CommandId::New(absl::FromUnixNanos(kNow), /*annotation=*/false, /*partition=*/0);
}

TEST(TombstonesTest, RecordsClientAndEndStateOfCommand) {
  Tombstones tombstones;
  std::vector<Tombstones::Dropped> dropped;
  const CommandId id = AnyId();
  tombstones.Add(id, Of("agent", CommandState::kFailed), kNow, 10, dropped);
  ASSERT_NE(tombstones.Find(id), nullptr);
  EXPECT_EQ(tombstones.Find(id)->ended_as, CommandState::kFailed);
  EXPECT_TRUE(tombstones.Find(id)->IsOf("agent"));
  EXPECT_FALSE(tombstones.Find(id)->IsOf("other"));
  EXPECT_EQ(tombstones.Find(AnyId()), nullptr);
}

TEST(TombstonesTest, AreDroppedOnTime) {
  Tombstones tombstones;
  std::vector<Tombstones::Dropped> dropped;
  EXPECT_EQ(tombstones.NextDrop(), kNoDeadline);
  const CommandId early = AnyId();
  const CommandId late = AnyId();
  tombstones.Add(early, Of("agent"), kNow + kSecond, 10, dropped);
  tombstones.Add(late, Of("agent"), kNow + 2 * kSecond, 10, dropped);
  EXPECT_EQ(tombstones.NextDrop(), kNow + kSecond);
  tombstones.Drop(kNow + kSecond - 1, dropped);
  EXPECT_NE(tombstones.Find(early), nullptr);
  tombstones.Drop(kNow + kSecond, dropped);
  EXPECT_EQ(tombstones.Find(early), nullptr);
  EXPECT_NE(tombstones.Find(late), nullptr);
  EXPECT_EQ(tombstones.NextDrop(), kNow + 2 * kSecond);
  tombstones.Drop(kNoDeadline, dropped);
  EXPECT_EQ(tombstones.NextDrop(), kNoDeadline);
}

TEST(TombstonesTest, OldestIsDroppedWhenFull) {
  Tombstones tombstones;
  std::vector<Tombstones::Dropped> dropped;
  const CommandId first = AnyId();
  const CommandId second = AnyId();
  const CommandId third = AnyId();
  tombstones.Add(first, Of("a"), kNow, 2, dropped);
  tombstones.Add(second, Of("b"), kNow + 1, 2, dropped);
  tombstones.Add(third, Of("c"), kNow + 2, 2, dropped);
  EXPECT_EQ(tombstones.Find(first), nullptr);
  EXPECT_NE(tombstones.Find(second), nullptr);
  EXPECT_NE(tombstones.Find(third), nullptr);
}

TEST(TombstonesTest, ClientWithMoreThanHalfMakesRoomForOthers) {
  Tombstones tombstones;
  std::vector<Tombstones::Dropped> dropped;
  const CommandId others = AnyId();
  tombstones.Add(others, Of("agent", CommandState::kFailed, "r"), kNow, 4, dropped);
  std::vector<CommandId> many;
  for (int i = 0; i < 10; ++i) {
    many.push_back(AnyId());
    tombstones.Add(many.back(), Of("mallory"), kNow + i, 4, dropped);
  }
  EXPECT_NE(tombstones.Find(others), nullptr);
  EXPECT_TRUE(dropped.empty());
  EXPECT_EQ(tombstones.Find(many[6]), nullptr);
  EXPECT_NE(tombstones.Find(many[7]), nullptr);
  // A new tombstone takes the place of one of that client, until no client has more than half.
  const CommandId first = AnyId();
  tombstones.Add(first, Of("alice"), kNow + 20, 4, dropped);
  EXPECT_EQ(tombstones.Find(many[7]), nullptr);
  EXPECT_NE(tombstones.Find(first), nullptr);
  EXPECT_NE(tombstones.Find(others), nullptr);
  tombstones.Add(AnyId(), Of("bob"), kNow + 21, 4, dropped);
  EXPECT_EQ(tombstones.Find(others), nullptr) << "the oldest of all";
  EXPECT_NE(tombstones.Find(many[8]), nullptr);
  // They are dropped by their times, whichever client they belong to.
  EXPECT_EQ(tombstones.NextDrop(), kNow + 8);
  tombstones.Drop(kNow + 9, dropped);
  EXPECT_EQ(tombstones.Find(many[9]), nullptr);
  EXPECT_EQ(tombstones.NextDrop(), kNow + 20);
}

TEST(TombstonesTest, ReportsRequestIdsOfDroppedTombstones) {
  Tombstones tombstones;
  std::vector<Tombstones::Dropped> dropped;
  const CommandId plain = AnyId();
  const CommandId first = AnyId();
  const CommandId second = AnyId();
  tombstones.Add(plain, Of("agent"), kNow, 3, dropped);
  tombstones.Add(first, Of("agent", CommandState::kFailed, "r1"), kNow, 2, dropped);
  tombstones.Add(second, Of("agent", CommandState::kFailed, "r2"), kNow + kSecond, 2, dropped);
  EXPECT_TRUE(dropped.empty());
  tombstones.Drop(kNow, dropped);
  ASSERT_EQ(dropped.size(), 1u);
  EXPECT_EQ(dropped[0].id, first);
  EXPECT_EQ(dropped[0].request, RequestKey::Of("agent", "r1"));
  tombstones.Add(AnyId(), Of("agent"), kNow + kSecond, 1, dropped);
  ASSERT_EQ(dropped.size(), 2u);
  EXPECT_EQ(dropped[1].id, second);
}

TEST(TombstonesTest, NothingIsStoredWithZeroCapacity) {
  Tombstones tombstones;
  std::vector<Tombstones::Dropped> dropped;
  const CommandId id = AnyId();
  tombstones.Add(id, Of("agent"), kNow, 0, dropped);
  EXPECT_EQ(tombstones.Find(id), nullptr);
  EXPECT_EQ(tombstones.NextDrop(), kNoDeadline);
}

}  // namespace
}  // namespace callslip::tracker
