// SessionService over the real listener, with gRPC's own client.
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "tracker/rpc/session_server_fixture.h"

namespace callslip::tracker {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::vector<int64_t> SeqsOf(const google::protobuf::RepeatedPtrField<v1::SessionEvent>& events) {
  std::vector<int64_t> seqs;
  for (const v1::SessionEvent& event : events) seqs.push_back(event.seq());
  return seqs;
}

class TrackerSessionsTest : public SessionServerTest {
 protected:
  using SessionServerTest::SessionServerTest;

  // All events of session `s`.
  std::vector<v1::SessionEvent> Events() {
    const auto page = Call(&S::ReadEvents, "session_id: 's' limit: 1000");
    EXPECT_OK(page);
    return {page->events().begin(), page->events().end()};
  }
};

TEST_F(TrackerSessionsTest, LivesFromCreationToDeletion) {
  ASSERT_OK_AND_ASSIGN(
      const v1::Session made,
      Call(&S::CreateSession,
           "session_id: 's' name: 'Tests' acp_server: 'claude' working_dir: '/w'"));
  EXPECT_EQ(made.client_id(), "local");
  EXPECT_EQ(made.state(), v1::SESSION_STATE_ACTIVE);
  EXPECT_EQ(made.event_count(), 1);
  EXPECT_EQ(made.max_seq(), 1);
  EXPECT_THAT(Call(&S::CreateSession, "session_id: 's'"),
              FailsWith(StatusCode::kAlreadyExists, "session_exists"));
  EXPECT_THAT(Call(&S::CreateSession, "session_id: '../s'"),
              FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
  EXPECT_THAT(Call(&S::ResumeSession, "session_id: 's'"),
              FailsWith(StatusCode::kFailedPrecondition, "session_not_ended"));

  EXPECT_EQ(Call(&S::UpdateSession, "session_id: 's' name: 'Renamed'")->name(), "Renamed");
  ASSERT_OK_AND_ASSIGN(const v1::Session ended,
                       Call(&S::EndSession, "session_id: 's' reason: 'done'"));
  EXPECT_EQ(ended.state(), v1::SESSION_STATE_COMPLETED);
  EXPECT_EQ(ended.end_reason(), "done");
  EXPECT_EQ(Call(&S::EndSession, "session_id: 's' reason: 'again'")->end_reason(), "done");
  EXPECT_THAT(Call(&S::AppendEvents, "session_id: 's' events { agent_message { text: 'x' } }"),
              FailsWith(StatusCode::kFailedPrecondition, "session_ended"));
  EXPECT_EQ(Call(&S::ResumeSession, "session_id: 's'")->state(), v1::SESSION_STATE_ACTIVE);

  ASSERT_OK_AND_ASSIGN(const v1::Session archived,
                       Call(&S::UpdateSession, "session_id: 's' archived: true"));
  EXPECT_TRUE(archived.archived());
  EXPECT_TRUE(archived.has_archive_time());
  EXPECT_THAT(Call(&S::ListSessions, "")->sessions(), SizeIs(0));
  EXPECT_THAT(Call(&S::ListSessions, "with_archived: true")->sessions(), SizeIs(1));
  EXPECT_FALSE(Call(&S::UpdateSession, "session_id: 's' archived: false")->archived());

  EXPECT_OK(Call(&S::DeleteSession, "session_id: 's'"));
  EXPECT_THAT(Call(&S::GetSession, "session_id: 's'"),
              FailsWith(StatusCode::kNotFound, "unknown_session"));
  EXPECT_THAT(Call(&S::DeleteSession, "session_id: 's'"),
              FailsWith(StatusCode::kNotFound, "unknown_session"));
}

TEST_F(TrackerSessionsTest, ListsPagesOfOnesOwnNewestFirst) {
  for (const char* id : {"a", "b", "c"}) {
    CreateSession(id);
    clock_.Advance(absl::Seconds(1));
  }
  ASSERT_OK(Call(&S::CreateSession, "client_id: 'other' session_id: 'd'"));
  ASSERT_OK(Call(&S::EndSession, "session_id: 'b'"));
  ASSERT_OK_AND_ASSIGN(const auto first, Call(&S::ListSessions, "page_size: 2"));
  ASSERT_THAT(first.sessions(), SizeIs(2));
  EXPECT_EQ(first.sessions(0).session_id(), "c");
  EXPECT_EQ(first.sessions(1).session_id(), "b");
  ASSERT_OK_AND_ASSIGN(
      const auto second,
      Call(&S::ListSessions, "page_size: 2 page_token: '" + first.next_page_token() + "'"));
  ASSERT_THAT(second.sessions(), SizeIs(1));
  EXPECT_EQ(second.next_page_token(), "");
  EXPECT_THAT(Call(&S::ListSessions, "state: SESSION_STATE_COMPLETED")->sessions(), SizeIs(1));
  EXPECT_THAT(Call(&S::ListSessions, "page_token: 'nonsense'"),
              FailsWith(StatusCode::kInvalidArgument, "invalid_page_token"));
}

TEST_F(TrackerSessionsTest, AnotherClientsSessionIsUnknown) {
  CreateSession();
  ASSERT_OK_AND_ASSIGN(const v1::Player player, Call(&S::OpenPlayer, "session_id: 's'"));
  const std::string id = "client_id: 'other' session_id: 's' ";
  const auto unknown = FailsWith(StatusCode::kNotFound, "unknown_session");
  EXPECT_THAT(Call(&S::GetSession, id), unknown);
  EXPECT_THAT(Call(&S::UpdateSession, id + "name: 'x'"), unknown);
  EXPECT_THAT(Call(&S::EndSession, id), unknown);
  EXPECT_THAT(Call(&S::ResumeSession, id), unknown);
  EXPECT_THAT(Call(&S::DeleteSession, id), unknown);
  EXPECT_THAT(Call(&S::AppendEvents, id + "events { agent_message { text: 'x' } }"), unknown);
  EXPECT_THAT(Call(&S::ReadEvents, id), unknown);
  EXPECT_THAT(Watch(id)->Finish(), unknown);
  EXPECT_THAT(Call(&S::OpenPlayer, id), unknown);
  EXPECT_THAT(Call(&S::AddAgentText, id + "text: '<shell>ls</shell>'"), unknown);
  EXPECT_THAT(Call(&S::AskPermission, id + "title: 'x' options { option_id: 'y' }"), unknown);
  EXPECT_THAT(Call(&S::AnswerPermission, id + "permission_id: 'p'"), unknown);
  EXPECT_THAT(Call(&S::ListPermissions, id), unknown);
  EXPECT_THAT(Call(&S::CancelPermissions, id), unknown);
  EXPECT_THAT(Call(&Q::AddMessage, id + "message: 'x'"), unknown);
  EXPECT_THAT(Call(&Q::GetMessage, id), unknown);
  EXPECT_THAT(Call(&Q::ListMessages, id), unknown);
  EXPECT_THAT(Call(&Q::EditMessage, id), unknown);
  EXPECT_THAT(Call(&Q::MoveMessage, id), unknown);
  EXPECT_THAT(Call(&Q::PopMessage, id), unknown);
  EXPECT_THAT(Call(&Q::DeleteMessage, id), unknown);
  EXPECT_THAT(Call(&Q::ClearMessages, id), unknown);
  EXPECT_THAT(Call(&Q::GetQueueStatus, id), unknown);
  EXPECT_THAT(Call(&Q::ConfigureQueue, id), unknown);
  EXPECT_THAT(Call(&Q::PauseQueue, id), unknown);
  EXPECT_THAT(Call(&Q::ResumeQueue, id), unknown);
  EXPECT_THAT(Call(&Q::StopTurn, id), unknown);
  EXPECT_THAT(Receive(id)->Finish(), unknown);
  EXPECT_THAT(Call(&Q::StartTurn, id), unknown);
  EXPECT_THAT(Call(&Q::FinishTurn, id + "outcome: OUTCOME_COMPLETED"), unknown);
  const std::string player_id = "client_id: 'other' player_id: '" + player.player_id() + "' ";
  const auto unknown_player = FailsWith(StatusCode::kNotFound, "unknown_player");
  EXPECT_THAT(Call(&S::MovePlayer, player_id + "reset: true"), unknown_player);
  EXPECT_THAT(Call(&S::ClosePlayer, player_id), unknown_player);
  EXPECT_THAT(Play(player_id)->Finish(), unknown_player);
  EXPECT_THAT(Events(), SizeIs(1));
}

TEST_F(TrackerSessionsTest, EventsOfEveryTypeComeBackAsTheyWere) {
  CreateSession();
  const auto request = Parse<v1::AppendEventsRequest>(R"(
    session_id: 's'
    events { user_prompt { message: 'm' images { id: 'i' name: 'n' mime_type: 'image/png' }
                           prompt_id: 'p' } }
    events { agent_message { text: 'ä' } }
    events { agent_thought { text: 'hm' } }
    events { tool_call { tool_call_id: 't' title: 'ls' status: 'pending' kind: 'execute'
                         raw_input: '{"a":1}' raw_output: '[2]' } }
    events { tool_call_update { tool_call_id: 't' status: 'completed' } }
    events { tool_call_update { tool_call_id: 't' title: 'x' } }
    events { plan { entries { content: 'c' priority: 'high' status: 'pending' } } }
    events { permission { title: 't' selected_option: 'o' outcome: 'selected' } }
    events { file_read { path: '/a' size: 1 } }
    events { file_write { path: '/b' size: 5000000000 } }
    events { error { message: 'm' code: 'c' } }
    events { other { type: 'mine' data: '{"x":[1]}' } })");
  ASSERT_OK_AND_ASSIGN(const auto appended, Send(&S::AppendEvents, request));
  EXPECT_EQ(appended.first_seq(), 2);
  EXPECT_EQ(appended.last_seq(), 13);
  std::vector<v1::SessionEvent> events = Events();
  ASSERT_THAT(events, SizeIs(13));
  EXPECT_EQ(events[0].session_start().session_id(), "s");
  for (int i = 0; i < request.events_size(); ++i) {
    v1::SessionEvent& event = events[static_cast<size_t>(i) + 1];
    EXPECT_EQ(event.seq(), i + 2);
    EXPECT_TRUE(event.has_time());
    event.clear_seq();
    event.clear_time();
    EXPECT_EQ(event.DebugString(), request.events(i).DebugString());
  }
}

TEST_F(TrackerSessionsTest, EventsAreRecordedAllOrNone) {
  CreateSession();
  const std::string good = "session_id: 's' events { agent_message { text: 'x' } } ";
  const auto invalid = FailsWith(StatusCode::kInvalidArgument, "invalid_argument");
  EXPECT_THAT(Call(&S::AppendEvents, "session_id: 's'"), invalid);
  EXPECT_THAT(Call(&S::AppendEvents, good + "events { }"), invalid);
  EXPECT_THAT(Call(&S::AppendEvents, good + "events { session_end { } }"), invalid);
  EXPECT_THAT(Call(&S::AppendEvents, good + "events { session_start { } }"), invalid);
  EXPECT_THAT(Call(&S::AppendEvents, good + "events { other { type: 'session_end' } }"), invalid);
  EXPECT_THAT(Call(&S::AppendEvents, good + "events { tool_call { raw_input: '{' } }"), invalid);
  EXPECT_THAT(Call(&S::AppendEvents, good + "events { agent_message { text: '" +
                                         std::string(size_t{4} << 20, 'x') + "' } }"),
              FailsWith(StatusCode::kInvalidArgument, "event_too_large"));
  v1::AppendEventsRequest many;
  many.set_session_id("s");
  for (int i = 0; i < 1001; ++i) many.add_events()->mutable_agent_message()->set_text("x");
  EXPECT_THAT(Send(&S::AppendEvents, many), invalid);
  EXPECT_THAT(Events(), SizeIs(1));
}

TEST_F(TrackerSessionsTest, EventsAreReadInBothDirectionsByPositionAndByType) {
  CreateSession();
  Append({"2", "3", "4", "5"});
  ASSERT_OK(Call(&S::AppendEvents, "session_id: 's' events { error { message: 'e' } }"));
  const auto read = [&](const std::string& from) {
    return *Call(&S::ReadEvents, "session_id: 's' limit: 2 " + from);
  };
  EXPECT_THAT(SeqsOf(read("").events()), ElementsAre(1, 2));
  EXPECT_THAT(SeqsOf(read("after_seq: 4").events()), ElementsAre(5, 6));
  EXPECT_THAT(SeqsOf(read("before_seq: 4").events()), ElementsAre(2, 3));
  const v1::ReadEventsResponse page = read("position: 1");
  EXPECT_THAT(SeqsOf(page.events()), ElementsAre(2, 3));
  EXPECT_EQ(page.next_position(), 3);
  EXPECT_EQ(page.length(), 6);
  EXPECT_EQ(page.max_seq(), 6);
  EXPECT_TRUE(page.has_more());
  EXPECT_THAT(SeqsOf(read("type: 'error'").events()), ElementsAre(6));
  EXPECT_THAT(Call(&S::ReadEvents, "session_id: 's' limit: -1"),
              FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
}

TEST_F(TrackerSessionsTest, WatchTellsWhatThereIsAndThenWhatComes) {
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
  EXPECT_EQ(watch->Next()->event().agent_message().text(), "4");
  ASSERT_OK(Call(&S::UpdateSession, "session_id: 's' name: 'new'"));
  EXPECT_EQ(watch->Next()->session().name(), "new");
  ASSERT_OK(Call(&Q::AddMessage, "session_id: 's' message: 'hello'"));
  const auto queue = watch->Next();
  EXPECT_EQ(queue->queue().action(), "added");
  EXPECT_EQ(queue->queue().queue_length(), 1);
  ASSERT_OK(Call(&S::DeleteSession, "session_id: 's'"));
  EXPECT_THAT(watch->Finish(), FailsWith(StatusCode::kNotFound, "unknown_session"));
}

TEST_F(TrackerSessionsTest, WatchFromTheEndIsCaughtUpAtOnce) {
  CreateSession();
  const auto watch = Watch("session_id: 's' after_seq: 1");
  EXPECT_TRUE(watch->Next()->has_snapshot());
  EXPECT_EQ(watch->Next()->caught_up().max_seq(), 1);
}

TEST_F(TrackerSessionsTest, WatchHasNoGapAndNoRepetitionWhileOthersAppend) {
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

class SmallSessionsTest : public TrackerSessionsTest {
 protected:
  SmallSessionsTest()
      : TrackerSessionsTest(
            {.sessions = 2, .observers_of_session = 2, .observer_bytes = size_t{256} << 10}) {}
};

TEST_F(SmallSessionsTest, WatcherThatDoesNotReadIsCutOff) {
  CreateSession();
  const auto watch = Watch("session_id: 's' after_seq: 1");
  EXPECT_TRUE(watch->Next()->has_snapshot());
  // More than gRPC buffers for a caller that does not read.
  const std::string text(size_t{100} << 10, 'x');
  for (int i = 0; i < 200; ++i) Append({text});
  EXPECT_THAT(watch->Finish(), FailsWith(StatusCode::kResourceExhausted, "too_slow"));
}

TEST_F(SmallSessionsTest, ThereAreLimits) {
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

TEST_F(TrackerSessionsTest, PlayerStaysWhereItWasLeft) {
  CreateSession();
  Append({"2", "3"});
  ASSERT_OK(Call(&S::AppendEvents, "session_id: 's' events { error { message: 'e' } }"));
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

TEST_F(TrackerSessionsTest, PlayerThatNobodyUsesIsClosed) {
  CreateSession();
  std::string used;
  for (int i = 0; i < 1000; ++i) used = Call(&S::OpenPlayer, "session_id: 's'")->player_id();
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

TEST_F(TrackerSessionsTest, PlayKeepsThePaceAndMovesThePlayer) {
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
  // What was recorded after the player was opened is not played.
  EXPECT_EQ(play->Next(), std::nullopt);
  EXPECT_OK(play->Finish());
  EXPECT_EQ(Call(&S::MovePlayer, id + "peek: 1")->player().position(), 3);
}

TEST_F(TrackerSessionsTest, FirstAnswerToAQuestionCounts) {
  CreateSession();
  const auto watch = Watch("session_id: 's' after_seq: 1");
  EXPECT_TRUE(watch->Next()->has_snapshot());
  EXPECT_TRUE(watch->Next()->has_caught_up());
  absl::StatusOr<v1::Permission> answer;
  std::thread asker([&] {
    answer = Call(&S::AskPermission,
                  "session_id: 's' title: 'rm?' tool_call_id: 't' max_wait_ms: 55000 "
                  "options { option_id: 'yes' name: 'Yes' kind: 'allow_once' } "
                  "options { option_id: 'no' }");
  });
  const std::string id = watch->Next()->permission().permission_id();
  EXPECT_THAT(Call(&S::ListPermissions, "session_id: 's'")->permissions(), SizeIs(1));
  const std::string question = "session_id: 's' permission_id: '" + id + "' ";
  EXPECT_THAT(Call(&S::AnswerPermission, question + "option_id: 'maybe'"),
              FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
  const auto won = Call(&S::AnswerPermission, question + "option_id: 'yes'");
  EXPECT_EQ(won->selected_option(), "yes");
  EXPECT_THAT(Call(&S::AnswerPermission, question + "option_id: 'no'"),
              FailsWith(StatusCode::kFailedPrecondition, "permission_answered"));
  asker.join();
  ASSERT_OK(answer);
  EXPECT_EQ(answer->selected_option(), "yes");
  EXPECT_TRUE(answer->answered());
  EXPECT_EQ(answer->title(), "rm?");
  const auto told = watch->Next();
  EXPECT_EQ(told->permission().selected_option(), "yes");
  EXPECT_EQ(watch->Next()->event().permission().outcome(), "selected");
  // Whoever asks for it again is told the same.
  EXPECT_EQ(Call(&S::AskPermission, question)->selected_option(), "yes");
  EXPECT_THAT(Call(&S::AskPermission, "session_id: 's' permission_id: 'p'"),
              FailsWith(StatusCode::kNotFound, "unknown_permission"));
  EXPECT_THAT(Call(&S::AnswerPermission, "session_id: 's' permission_id: 'p' option_id: 'yes'"),
              FailsWith(StatusCode::kNotFound, "unknown_permission"));
}

TEST_F(TrackerSessionsTest, QuestionSurvivesItsAsker) {
  CreateSession();
  const auto watch = Watch("session_id: 's' after_seq: 1");
  EXPECT_TRUE(watch->Next()->has_snapshot());
  EXPECT_TRUE(watch->Next()->has_caught_up());
  grpc::ClientContext context;
  std::thread asker([&] {
    v1::Permission permission;
    const grpc::Status left = std::get<std::unique_ptr<S>>(stubs_)->AskPermission(
        &context,
        Parse<v1::AskPermissionRequest>("session_id: 's' permission_id: 'p' title: 'rm?' "
                                        "max_wait_ms: 55000 options { option_id: 'yes' }"),
        &permission);
    EXPECT_EQ(left.error_code(), grpc::StatusCode::CANCELLED);
  });
  EXPECT_EQ(watch->Next()->permission().permission_id(), "p");
  context.TryCancel();
  asker.join();
  const std::string question = "session_id: 's' permission_id: 'p' ";
  ASSERT_OK_AND_ASSIGN(const v1::Permission open, Call(&S::AskPermission, question));
  EXPECT_FALSE(open.answered());
  EXPECT_EQ(open.title(), "rm?");
  ASSERT_OK(Call(&S::AnswerPermission, question + "option_id: 'yes'"));
  EXPECT_TRUE(Call(&S::AskPermission, question)->answered());
}

TEST_F(TrackerSessionsTest, QuestionStaysOpenWhenItsCallHasWaitedLongEnough) {
  CreateSession();
  const auto watch = Watch("session_id: 's' after_seq: 1");
  EXPECT_TRUE(watch->Next()->has_snapshot());
  EXPECT_TRUE(watch->Next()->has_caught_up());
  absl::StatusOr<v1::Permission> answer;
  std::thread asker([&] {
    answer = Call(&S::AskPermission,
                  "session_id: 's' title: 't' max_wait_ms: 1000 options { option_id: 'yes' }");
  });
  EXPECT_TRUE(watch->Next()->has_permission());
  clock_.Advance(absl::Seconds(1));
  asker.join();
  EXPECT_FALSE(answer->answered());
  EXPECT_FALSE(answer->cancelled());
  ASSERT_OK_AND_ASSIGN(const auto cancelled, Call(&S::CancelPermissions, "session_id: 's'"));
  ASSERT_THAT(cancelled.permissions(), SizeIs(1));
  EXPECT_TRUE(cancelled.permissions(0).cancelled());
  EXPECT_THAT(Call(&S::ListPermissions, "session_id: 's'")->permissions(), SizeIs(0));
  EXPECT_THAT(Call(&S::AskPermission, "session_id: 's' max_wait_ms: 55001"),
              FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
}

TEST_F(TrackerSessionsTest, QuestionsAreBounded) {
  CreateSession();
  for (int i = 0; i < 32; ++i) {
    ASSERT_OK(Call(&S::AskPermission, "session_id: 's' options { option_id: 'yes' }"));
  }
  EXPECT_THAT(Call(&S::AskPermission, "session_id: 's' options { option_id: 'yes' }"),
              FailsWith(StatusCode::kResourceExhausted, "too_many_permissions"));
}

// Commands in agents' answers, and a worker that is told of them.
class AgentTextTest : public TrackerSessionsTest {
 protected:
  AgentTextTest() {
    CreateSession();
    watch_ = Watch("session_id: 's' after_seq: 1");
    EXPECT_TRUE(watch_->Next()->has_snapshot());
    EXPECT_TRUE(watch_->Next()->has_caught_up());
  }

  v1::SessionEvent NextEvent() { return watch_->Next()->event(); }

  v1::CommandLease Lease() {
    return Call(&C::LeaseCommands, "target: 'session-s' max_commands: 1 max_wait { seconds: 30 }")
        ->leases(0);
  }
  static std::string Proof(const v1::CommandLease& lease) {
    return absl::StrCat("command_id: '", lease.command().command_id(), "' lease_token: '",
                        lease.lease_token(), "' ");
  }

  std::unique_ptr<StreamReader<v1::SessionUpdate>> watch_;
};

TEST_F(AgentTextTest, CommandRunsAndItsEndIsRecorded) {
  EXPECT_THAT(Call(&S::AddAgentText, "session_id: 's' text: 'Look: <she'")->commands(), SizeIs(0));
  ASSERT_OK_AND_ASSIGN(const auto found,
                       Call(&S::AddAgentText, "session_id: 's' text: 'll>ls</shell>' end: true"));
  ASSERT_THAT(found.commands(), SizeIs(1));
  EXPECT_EQ(found.commands(0).id(), "cmd-0-0");
  EXPECT_EQ(found.commands(0).command(), "ls");
  const v1::SessionEvent queued = NextEvent();
  EXPECT_EQ(queued.tool_call().tool_call_id(), "cmd-0-0");
  EXPECT_EQ(queued.tool_call().status(), "queued");
  EXPECT_EQ(NextEvent().agent_message().text(), "Look: <shell>ls</shell>");

  const v1::CommandLease lease = Lease();
  EXPECT_EQ(lease.command().command_id(), found.commands(0).command_id());
  EXPECT_EQ(lease.command().type(), "shell");
  EXPECT_EQ(lease.command().params(), R"({"command":"ls"})");
  EXPECT_EQ(lease.command().request_id(), "s/cmd-0-0");
  EXPECT_EQ(lease.command().label(), "s");
  ASSERT_OK(Call(&C::AcknowledgeCommand, Proof(lease)));
  const v1::SessionEvent running = NextEvent();
  EXPECT_EQ(running.tool_call_update().tool_call_id(), "cmd-0-0");
  EXPECT_EQ(running.tool_call_update().status(), "running");
  ASSERT_OK(Call(&C::CompleteCommand,
                 Proof(lease) + R"(result: '{"output":"README.md\\n","exit_code":1}')"));
  const v1::SessionEvent completed = NextEvent();
  EXPECT_EQ(completed.tool_call_update().status(), "completed");
  EXPECT_EQ(completed.tool_call_update().title(),
            "<result id=\"cmd-0-0\" exit_code=\"1\">\n$ ls\nREADME.md\n</result>\n");
}

TEST_F(AgentTextTest, EqualCommandsAreTwoCommandsAndAWorkerMayFailThem) {
  ASSERT_OK_AND_ASSIGN(
      const auto found,
      Call(&S::AddAgentText, "session_id: 's' text: '<shell>ls</shell><shell>ls</shell>'"));
  ASSERT_THAT(found.commands(), SizeIs(2));
  EXPECT_EQ(found.commands(1).id(), "cmd-0-1");
  EXPECT_EQ(NextEvent().tool_call().tool_call_id(), "cmd-0-0");
  EXPECT_EQ(NextEvent().tool_call().tool_call_id(), "cmd-0-1");
  const v1::CommandLease first = Lease();
  // What is no JSON is output as it is, valid UTF-8 or not.
  ASSERT_OK(Call(&C::CompleteCommand, Proof(first) + "result: 'plain\\377'"));
  const v1::SessionEvent plain = NextEvent();
  EXPECT_EQ(plain.tool_call_update().tool_call_id(), "cmd-0-0");
  EXPECT_THAT(plain.tool_call_update().title(), HasSubstr("plain\xEF\xBF\xBD"));
  const v1::CommandLease second = Lease();
  ASSERT_OK(
      Call(&C::CompleteCommand, Proof(second) + "error { code: 'no_shell' message: 'none here' }"));
  const v1::SessionEvent failed = NextEvent();
  EXPECT_EQ(failed.tool_call_update().tool_call_id(), "cmd-0-1");
  EXPECT_EQ(failed.tool_call_update().status(), "failed");
  EXPECT_THAT(failed.tool_call_update().title(), HasSubstr("no_shell: none here"));
}

TEST_F(AgentTextTest, CommandThatNoWorkerTakesFails) {
  ASSERT_OK(Call(&S::AddAgentText, "session_id: 's' text: '<shell>ls</shell>'"));
  EXPECT_TRUE(NextEvent().has_tool_call());
  clock_.Advance(absl::Seconds(30));
  const v1::SessionEvent failed = NextEvent();
  EXPECT_EQ(failed.tool_call_update().status(), "failed");
  EXPECT_THAT(failed.tool_call_update().title(), HasSubstr("never_delivered"));
}

TEST_F(AgentTextTest, IterationsComeOneAfterTheOther) {
  const auto add = [&](const std::string& piece) {
    return Call(&S::AddAgentText, "session_id: 's' " + piece);
  };
  const auto invalid = FailsWith(StatusCode::kInvalidArgument, "invalid_argument");
  EXPECT_THAT(add("iteration: -1 text: 'x'"), invalid);
  ASSERT_OK(add("iteration: 1 text: 'one' end: true"));
  EXPECT_THAT(add("iteration: 1 text: 'x'"), invalid);
  EXPECT_THAT(add("iteration: 0 text: 'x'"), invalid);
  ASSERT_OK(add("iteration: 2 text: 'cut <shell>off'"));
  // The next answer ends the one before, which its agent did not.
  ASSERT_OK_AND_ASSIGN(const auto found, add("iteration: 3 text: '</shell><shell>ls</shell>'"));
  EXPECT_EQ(found.commands(0).id(), "cmd-3-0");
  EXPECT_EQ(NextEvent().agent_message().text(), "one");
  EXPECT_EQ(NextEvent().agent_message().text(), "cut <shell>off");
  EXPECT_THAT(add("iteration: 3 text: '" + std::string((1 << 20) + 1, 'x') + "'"), invalid);
  ASSERT_OK(Call(&S::EndSession, "session_id: 's'"));
  EXPECT_THAT(add("iteration: 3 text: 'x'"),
              FailsWith(StatusCode::kFailedPrecondition, "session_ended"));
}

TEST_F(AgentTextTest, ResultThatComesWhileTheTrackerDrainsIsRecorded) {
  ASSERT_OK(Call(&S::AddAgentText,
                 "session_id: 's' text: '<shell>ls</shell><shell>id</shell>' end: true"));
  const v1::CommandLease lease = Lease();
  watch_ = nullptr;
  const auto watch = Watch("session_id: 's'");
  std::thread drain([this] { server_->Drain(absl::Seconds(5)); });
  EXPECT_THAT(watch->Finish(), FailsWith(StatusCode::kUnavailable, "draining"));
  EXPECT_OK(Call(&C::CompleteCommand, Proof(lease) + "result: 'done'"));
  drain.join();
  server_ = nullptr;
  deadlines_ = nullptr;
  commands_ = nullptr;
  sessions_ = nullptr;
  storage_ = nullptr;

  Start();
  std::map<std::string, v1::ToolCallUpdateEvent> ends;
  for (const v1::SessionEvent& event : Events()) {
    if (event.has_tool_call_update()) {
      ends[event.tool_call_update().tool_call_id()] = event.tool_call_update();
    }
  }
  EXPECT_EQ(ends["cmd-0-0"].status(), "completed");
  EXPECT_THAT(ends["cmd-0-0"].title(), HasSubstr("done"));
  EXPECT_EQ(ends["cmd-0-1"].status(), "failed");
}

TEST_F(TrackerSessionsTest, ServicesAreKnownToHealthChecks) {
  const auto health = grpc::health::v1::Health::NewStub(channel_);
  for (const char* service :
       {"callslip.tracker.v1.SessionService", "callslip.tracker.v1.QueueService"}) {
    grpc::ClientContext context;
    grpc::health::v1::HealthCheckRequest request;
    request.set_service(service);
    grpc::health::v1::HealthCheckResponse response;
    ASSERT_TRUE(health->Check(&context, request, &response).ok()) << service;
    EXPECT_EQ(response.status(), grpc::health::v1::HealthCheckResponse::SERVING);
  }
}

TEST_F(TrackerSessionsTest, SessionsSurviveTheTracker) {
  CreateSession();
  Append({"2"});
  Stop(absl::ZeroDuration());
  EXPECT_OK(FileSessionStorage::Open(folder_.path(), &disk_));
  Start();
  EXPECT_THAT(Events(), SizeIs(2));
  EXPECT_THAT(FileSessionStorage::Open(folder_.path(), &disk_),
              FailsWith(StatusCode::kFailedPrecondition, "data_dir_locked"));
}

}  // namespace
}  // namespace callslip::tracker
