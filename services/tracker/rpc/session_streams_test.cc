// Watching and playing sessions over the real listener, with gRPC's own client.
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "support/session_events.h"
#include "tracker/rpc/session_server_fixture.h"

namespace callslip::tracker {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;

class SessionStreamsTest : public SessionServerTest {
 protected:
  using SessionServerTest::SessionServerTest;
};

TEST_F(SessionStreamsTest, WatchReportsTheCurrentStateAndThenChanges) {
  CreateSession();
  Append({"2", "3"});
  ASSERT_OK(Call(&Q::PauseQueue, "session_id: 's' reason: 'lunch'"));
  const auto watch = Watch("session_id: 's' after_seq: 1");
  const auto snapshot = watch->Next();
  ASSERT_TRUE(snapshot->has_snapshot());
  EXPECT_EQ(snapshot->snapshot().session().max_seq(), 3);
  EXPECT_EQ(snapshot->snapshot().queue().pause_reason(), "lunch");
  EXPECT_EQ(watch->Next()->event().seq(), 2);
  EXPECT_EQ(watch->Next()->event().seq(), 3);
  EXPECT_EQ(watch->Next()->caught_up().max_seq(), 3);

  Append({"4"});
  EXPECT_EQ(MemberOf(watch->Next()->event(), "text"), "4");
  ASSERT_OK(Call(&S::UpdateSession, "session_id: 's' name: 'new'"));
  EXPECT_EQ(watch->Next()->session().name(), "new");
  ASSERT_OK(Call(&Q::AddMessage, "session_id: 's' message: 'hello'"));
  const auto queue = watch->Next();
  EXPECT_EQ(queue->queue().action(), "added");
  EXPECT_EQ(queue->queue().queue_length(), 1);
  ASSERT_OK(Call(&S::DeleteSession, "session_id: 's'"));
  EXPECT_THAT(watch->Finish(), FailsWith(StatusCode::kNotFound, "unknown_session"));
}

TEST_F(SessionStreamsTest, WatchFromTheEndIsCaughtUpAtOnce) {
  CreateSession();
  const auto watch = Watch("session_id: 's' after_seq: 1");
  EXPECT_TRUE(watch->Next()->has_snapshot());
  EXPECT_EQ(watch->Next()->caught_up().max_seq(), 1);
}

TEST_F(SessionStreamsTest, WatchHasNoGapsOrRepetitionsWhileOthersAppend) {
  constexpr int kWriters = 4;
  constexpr int kEvents = 100;
  CreateSession();
  std::vector<std::thread> writers;
  for (int i = 0; i < kWriters; ++i) {
    writers.emplace_back([this] {
      for (int j = 0; j < kEvents; ++j) Append({absl::StrCat(j)});
    });
  }
  constexpr int64_t kLast = 1 + kWriters * kEvents;
  std::vector<std::thread> watchers;
  for (int i = 0; i < 3; ++i) {
    watchers.emplace_back([this] {
      const auto watch = Watch("session_id: 's'");
      int64_t seen = 0;
      int caught_up = 0;
      while (seen < kLast) {
        const auto update = watch->Next();
        ASSERT_TRUE(update.has_value());
        if (update->has_caught_up()) ++caught_up;
        if (!update->has_event()) continue;
        EXPECT_EQ(update->event().seq(), ++seen);
      }
      EXPECT_LE(caught_up, 1);
    });
  }
  for (std::thread& writer : writers) writer.join();
  for (std::thread& watcher : watchers) watcher.join();
}

class SmallSessionsTest : public SessionStreamsTest {
 protected:
  SmallSessionsTest()
      : SessionStreamsTest(
            {.sessions = 2, .observers_of_session = 2, .observer_bytes = size_t{256} << 10}) {}
};

TEST_F(SmallSessionsTest, WatcherThatDoesNotReadIsDisconnected) {
  CreateSession();
  const auto watch = Watch("session_id: 's' after_seq: 1");
  EXPECT_TRUE(watch->Next()->has_snapshot());
  // More than gRPC buffers for a caller that does not read.
  const std::string text(size_t{100} << 10, 'x');
  for (int i = 0; i < 200; ++i) Append({text});
  EXPECT_THAT(watch->Finish(), FailsWith(StatusCode::kResourceExhausted, "too_slow"));
}

TEST_F(SmallSessionsTest, SessionsAndWatchersAreLimited) {
  CreateSession("a");
  CreateSession("b");
  EXPECT_THAT(Call(&S::CreateSession, ""),
              FailsWith(StatusCode::kResourceExhausted, "too_many_sessions"));
  const auto first = Watch("session_id: 'a'");
  const auto second = Watch("session_id: 'a'");
  EXPECT_TRUE(first->Next().has_value());
  EXPECT_TRUE(second->Next().has_value());
  EXPECT_THAT(Watch("session_id: 'a'")->Finish(),
              FailsWith(StatusCode::kResourceExhausted, "too_many_observers"));
}

TEST_F(SessionStreamsTest, PlayerKeepsItsPosition) {
  CreateSession();
  Append({"2", "3"});
  ASSERT_OK(Call(&S::AppendEvents, "session_id: 's' events { type: 'error' data: '{}' }"));
  ASSERT_OK_AND_ASSIGN(const v1::Player player, Call(&S::OpenPlayer, "session_id: 's'"));
  EXPECT_EQ(player.position(), 0);
  EXPECT_EQ(player.length(), 4);
  Append({"5"});
  const auto move = [&](const std::string& how) {
    return Call(&S::MovePlayer, "player_id: '" + player.player_id() + "' " + how);
  };
  EXPECT_THAT(SeqsOf(move("peek: 2")->events()), ElementsAre(1, 2));
  EXPECT_THAT(SeqsOf(move("next: 2")->events()), ElementsAre(1, 2));
  EXPECT_EQ(move("peek: 1")->player().position(), 2);
  EXPECT_THAT(SeqsOf(move("next: 10")->events()), ElementsAre(3, 4));
  EXPECT_THAT(SeqsOf(move("next: 1")->events()), ElementsAre());
  EXPECT_EQ(move("reset: true")->player().position(), 0);
  const auto errors = move("next: 1 type: 'error'");
  EXPECT_THAT(SeqsOf(errors->events()), ElementsAre(4));
  EXPECT_EQ(errors->player().position(), 4);
  EXPECT_EQ(move("seek: 3")->player().position(), 3);
  EXPECT_THAT(move("seek: 5"), FailsWith(StatusCode::kOutOfRange, "invalid_position"));
  EXPECT_THAT(move("next: 0"), FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
  EXPECT_THAT(move(""), FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
  const std::string id = "player_id: '" + player.player_id() + "'";
  EXPECT_OK(Call(&S::ClosePlayer, id));
  EXPECT_THAT(Call(&S::ClosePlayer, id), FailsWith(StatusCode::kNotFound, "unknown_player"));
}

TEST_F(SessionStreamsTest, UnusedPlayerIsClosed) {
  CreateSession();
  std::string used;
  for (int i = 0; i < 250; ++i) used = Call(&S::OpenPlayer, "session_id: 's'")->player_id();
  EXPECT_THAT(Call(&S::OpenPlayer, "session_id: 's'"),
              FailsWith(StatusCode::kResourceExhausted, "too_many_players"));
  clock_.Advance(absl::Minutes(9));
  EXPECT_OK(Call(&S::MovePlayer, "reset: true player_id: '" + used + "'"));
  clock_.Advance(absl::Minutes(9));
  EXPECT_OK(Call(&S::OpenPlayer, "session_id: 's'"));
  EXPECT_OK(Call(&S::MovePlayer, "reset: true player_id: '" + used + "'"));
  clock_.Advance(absl::Minutes(10));
  EXPECT_THAT(Call(&S::MovePlayer, "reset: true player_id: '" + used + "'"),
              FailsWith(StatusCode::kNotFound, "unknown_player"));
}

TEST_F(SessionStreamsTest, PlayFollowsTheRecordedPaceAndMovesThePlayer) {
  CreateSession();
  Append({"2"});
  clock_.Advance(absl::Seconds(10));
  Append({"3"});
  ASSERT_OK_AND_ASSIGN(const v1::Player player, Call(&S::OpenPlayer, "session_id: 's'"));
  Append({"4"});
  const std::string id = "player_id: '" + player.player_id() + "' ";
  EXPECT_THAT(Play(id + "speed: 0.001")->Finish(),
              FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
  const auto play = Play(id + "speed: 2");
  EXPECT_EQ(play->Next()->seq(), 1);
  EXPECT_EQ(play->Next()->seq(), 2);
  clock_.Advance(absl::Seconds(5));
  EXPECT_EQ(play->Next()->seq(), 3);
  // Events that were recorded after the player was opened are not played.
  EXPECT_EQ(play->Next(), std::nullopt);
  EXPECT_OK(play->Finish());
  EXPECT_EQ(Call(&S::MovePlayer, id + "peek: 1")->player().position(), 3);
}

}  // namespace
}  // namespace callslip::tracker
