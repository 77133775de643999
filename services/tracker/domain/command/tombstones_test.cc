#include "tracker/domain/command/tombstones.h"

#include "gtest/gtest.h"

namespace callslip::tracker {
namespace {

const absl::Time kNow = absl::FromUnixMillis(1'738'012'345'678);

CommandId NewId() { return CommandId::New(kNow, /*annotation=*/false, /*partition=*/0); }

TEST(TombstonesTest, TellsHowItsCommandEndedToItsClientOnly) {
  Tombstones tombstones;
  const CommandId id = NewId();
  tombstones.Add(id, "agent", CommandState::kFailed, kNow, 10);
  ASSERT_NE(tombstones.Find(id), nullptr);
  EXPECT_EQ(tombstones.Find(id)->ended_as, CommandState::kFailed);
  EXPECT_TRUE(tombstones.Find(id)->IsOf("agent"));
  EXPECT_FALSE(tombstones.Find(id)->IsOf("other"));
  EXPECT_EQ(tombstones.Find(NewId()), nullptr);
}

TEST(TombstonesTest, AreDroppedWhenTheirTimeHasCome) {
  Tombstones tombstones;
  EXPECT_EQ(tombstones.NextDrop(), absl::InfiniteFuture());
  const CommandId early = NewId();
  const CommandId late = NewId();
  tombstones.Add(early, "agent", CommandState::kExpired, kNow + absl::Seconds(1), 10);
  tombstones.Add(late, "agent", CommandState::kExpired, kNow + absl::Seconds(2), 10);
  EXPECT_EQ(tombstones.NextDrop(), kNow + absl::Seconds(1));
  tombstones.Drop(kNow + absl::Milliseconds(999));
  EXPECT_NE(tombstones.Find(early), nullptr);
  tombstones.Drop(kNow + absl::Seconds(1));
  EXPECT_EQ(tombstones.Find(early), nullptr);
  EXPECT_NE(tombstones.Find(late), nullptr);
  EXPECT_EQ(tombstones.NextDrop(), kNow + absl::Seconds(2));
  tombstones.Drop(absl::InfiniteFuture());
  EXPECT_EQ(tombstones.NextDrop(), absl::InfiniteFuture());
}

TEST(TombstonesTest, OldestMakesRoomWhereThereIsNoMore) {
  Tombstones tombstones;
  const CommandId first = NewId();
  const CommandId second = NewId();
  const CommandId third = NewId();
  for (const CommandId id : {first, second, third}) {
    tombstones.Add(id, "agent", CommandState::kExpired, kNow, 2);
  }
  EXPECT_EQ(tombstones.Find(first), nullptr);
  EXPECT_NE(tombstones.Find(second), nullptr);
  EXPECT_NE(tombstones.Find(third), nullptr);
}

TEST(TombstonesTest, NoneIsKeptWhereNoneMayBe) {
  Tombstones tombstones;
  const CommandId id = NewId();
  tombstones.Add(id, "agent", CommandState::kExpired, kNow, 0);
  EXPECT_EQ(tombstones.Find(id), nullptr);
  EXPECT_EQ(tombstones.NextDrop(), absl::InfiniteFuture());
}

}  // namespace
}  // namespace callslip::tracker
