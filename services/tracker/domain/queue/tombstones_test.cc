#include "tracker/domain/queue/tombstones.h"

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tracker/domain/queue/deadline_wheel.h"

namespace callslip::tracker {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kNow = 1'738'012'345 * kSecond;

CommandId AnyId() {
  return CommandId::New(absl::FromUnixNanos(kNow), /*annotation=*/false, /*partition=*/0);
}

TEST(TombstonesTest, TellsHowItsCommandEndedToItsClientOnly) {
  Tombstones tombstones;
  const CommandId id = AnyId();
  tombstones.Add(id, "agent", CommandState::kFailed, kNow, 10);
  ASSERT_NE(tombstones.Find(id), nullptr);
  EXPECT_EQ(tombstones.Find(id)->ended_as, CommandState::kFailed);
  EXPECT_TRUE(tombstones.Find(id)->IsOf("agent"));
  EXPECT_FALSE(tombstones.Find(id)->IsOf("other"));
  EXPECT_EQ(tombstones.Find(AnyId()), nullptr);
}

TEST(TombstonesTest, AreDroppedWhenTheirTimeHasCome) {
  Tombstones tombstones;
  EXPECT_EQ(tombstones.NextDrop(), kNoDeadline);
  const CommandId early = AnyId();
  const CommandId late = AnyId();
  tombstones.Add(early, "agent", CommandState::kExpired, kNow + kSecond, 10);
  tombstones.Add(late, "agent", CommandState::kExpired, kNow + 2 * kSecond, 10);
  EXPECT_EQ(tombstones.NextDrop(), kNow + kSecond);
  tombstones.Drop(kNow + kSecond - 1);
  EXPECT_NE(tombstones.Find(early), nullptr);
  tombstones.Drop(kNow + kSecond);
  EXPECT_EQ(tombstones.Find(early), nullptr);
  EXPECT_NE(tombstones.Find(late), nullptr);
  EXPECT_EQ(tombstones.NextDrop(), kNow + 2 * kSecond);
  tombstones.Drop(kNoDeadline);
  EXPECT_EQ(tombstones.NextDrop(), kNoDeadline);
}

TEST(TombstonesTest, OldestMakesRoomWhereThereIsNoMore) {
  Tombstones tombstones;
  const CommandId first = AnyId();
  const CommandId second = AnyId();
  const CommandId third = AnyId();
  for (const CommandId id : {first, second, third}) {
    tombstones.Add(id, "agent", CommandState::kExpired, kNow, 2);
  }
  EXPECT_EQ(tombstones.Find(first), nullptr);
  EXPECT_NE(tombstones.Find(second), nullptr);
  EXPECT_NE(tombstones.Find(third), nullptr);
}

TEST(TombstonesTest, NoneIsKeptWhereNoneMayBe) {
  Tombstones tombstones;
  const CommandId id = AnyId();
  tombstones.Add(id, "agent", CommandState::kExpired, kNow, 0);
  EXPECT_EQ(tombstones.Find(id), nullptr);
  EXPECT_EQ(tombstones.NextDrop(), kNoDeadline);
}

}  // namespace
}  // namespace callslip::tracker
