#include "tracker/domain/session/session_table.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tracker/domain/session/session_table_fixture.h"

namespace callslip::tracker {
namespace {

using ::testing::ElementsAre;

const auto kEnded = FailsWith(absl::StatusCode::kFailedPrecondition, "session_ended");

TEST_F(SessionTableTest, NewSessionHasStartEventInLog) {
  ASSERT_OK_AND_ASSIGN(const SessionMetadata created,
                       Create(SessionRequest{"s1", "My task", "ann", "claude", "/src"}));
  EXPECT_EQ(created.session_id, "s1");
  EXPECT_EQ(created.name, "My task");
  EXPECT_EQ(created.owner, "ann");
  EXPECT_EQ(created.created_at, clock_.Now());
  EXPECT_EQ(created.state, SessionState::kActive);
  EXPECT_EQ(created.event_count, 1);
  EXPECT_EQ(created.max_seq, 1);
  const std::vector<EventPtr> events = ReadAll();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(TextOf(events[0]),
            R"(session_start {"session_id":"s1","acp_server":"claude","working_dir":"/src",)"
            R"("owner":"ann"})");
}

TEST_F(SessionTableTest, SessionIdsAreValidatedBeforeUseInPath) {
  for (const char* id : {"..", "a/b", "a b", ".lock", "é"}) {
    EXPECT_THAT(Create(id), kInvalid) << id;
    EXPECT_THAT(Record(AgentMessage{}, id), kUnknown) << id;
    EXPECT_THAT(Delete(id), kUnknown) << id;
  }
  EXPECT_THAT(Create(std::string(65, 'a')), kInvalid);
  EXPECT_OK(Create(std::string(64, 'a')));
  ASSERT_OK_AND_ASSIGN(const SessionMetadata made, Create(SessionRequest{}));
  EXPECT_THAT(made.session_id, testing::MatchesRegex("20260201-120000-[0-9a-f]{16}"));
}

TEST_F(SessionTableTest, SessionIdIsTakenUntilSessionIsDeleted) {
  ASSERT_OK(Create("s1"));
  EXPECT_THAT(Create("s1"), FailsWith(absl::StatusCode::kAlreadyExists, "session_exists"));
  ASSERT_OK(Delete("s1"));
  EXPECT_OK(Create("s1"));
  EXPECT_EQ(ReadAll().size(), 1u);
}

TEST_F(SessionTableTest, ListsNewestSessionsFirstInPages) {
  for (const char* id : {"a", "b", "c", "d"}) {
    ASSERT_OK(Create(SessionRequest{.session_id = id, .owner = id}));
    clock_.Advance(absl::Seconds(1));
  }
  ASSERT_OK_AND_ASSIGN(const SessionPage first, table_->List({}, 3, ""));
  std::vector<std::string> ids;
  for (const auto& session : first.sessions) ids.push_back(session.session_id);
  EXPECT_THAT(ids, ElementsAre("d", "c", "b"));
  ASSERT_OK(Create("e"));
  ASSERT_OK_AND_ASSIGN(const SessionPage second, table_->List({}, 3, first.next_page_token));
  ASSERT_EQ(second.sessions.size(), 1u);
  EXPECT_EQ(second.sessions[0].session_id, "a");
  EXPECT_EQ(second.next_page_token, "");
  ASSERT_OK_AND_ASSIGN(const SessionPage owned, table_->List({.clients = "b"}, 0, ""));
  EXPECT_EQ(owned.sessions.size(), 1u);
  EXPECT_THAT(table_->List({}, -1, ""), kInvalid);
  EXPECT_THAT(table_->List({}, 0, "x"),
              FailsWith(absl::StatusCode::kInvalidArgument, "invalid_page_token"));
}

TEST_F(SessionTableTest, EndsResumesAndArchivesSession) {
  ASSERT_OK(Create("s1"));
  EXPECT_THAT(Run([](Session& s, absl::Time now) { return s.Resume(now); }),
              FailsWith(absl::StatusCode::kFailedPrecondition, "session_not_ended"));
  ASSERT_OK(Run([](Session& s, absl::Time now) { return s.End("user", now); }));
  ASSERT_OK(Run([](Session& s, absl::Time now) { return s.End("again", now); }));
  EXPECT_EQ(TextOf(ReadAll().back()), R"(session_end {"reason":"user","event_count":1})");
  EXPECT_EQ(table_->Get("s1")->state, SessionState::kCompleted);
  EXPECT_THAT(Record(AgentMessage{}), kEnded);
  EXPECT_THAT(Add("x"), kEnded);

  Reopen();
  EXPECT_EQ(table_->Get("s1")->end_reason, "user");
  ASSERT_OK(Run([](Session& s, absl::Time now) { return s.Resume(now); }));
  ASSERT_OK_AND_ASSIGN(const EventPtr next, Record(AgentMessage{"on"}));
  EXPECT_EQ(next->seq, 3);
  Reopen();
  EXPECT_EQ(table_->Get("s1")->state, SessionState::kActive);

  ASSERT_OK(Run([](Session& s, absl::Time now) { return s.Archive(true, now); }));
  EXPECT_EQ(table_->List({}, 0, "")->sessions.size(), 0u);
  EXPECT_EQ(table_->List({.with_archived = true}, 0, "")->sessions.size(), 1u);
  ASSERT_OK(Run([](Session& s, absl::Time now) { return s.Archive(false, now); }));
  EXPECT_EQ(table_->Get("s1")->state, SessionState::kCompleted);
  EXPECT_FALSE(table_->Get("s1")->archived);
}

TEST_F(SessionTableTest, RenameSurvivesRestart) {
  ASSERT_OK(Create("s1"));
  ASSERT_OK(Run([](Session& s, absl::Time now) { return s.Rename("better", now); }));
  EXPECT_THAT(Run([](Session& s, absl::Time now) { return s.Rename(std::string(257, 'x'), now); }),
              kInvalid);
  Reopen();
  EXPECT_EQ(table_->Get("s1")->name, "better");
}

TEST_F(SessionTableTest, DeleteRemovesAllDataAndNotifiesObserverAndRunner) {
  ASSERT_OK(Create("s1"));
  const auto feed = Subscribe(0);
  const auto runner = std::make_shared<TestReceiver>();
  ASSERT_OK(Attach(runner));
  ASSERT_OK(Delete("s1"));
  EXPECT_THAT(feed->NextOf<FeedEnd>().status, kUnknown);
  EXPECT_THAT(runner->ended.Wait(), kUnknown);
  EXPECT_THAT(Record(AgentMessage{}), kUnknown);
  EXPECT_THAT(Delete("s1"), kUnknown);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/sessions/s1"));
  Reopen();
  EXPECT_EQ(table_->sessions(), 0u);
}

TEST_F(SessionTableTest, MissingOrDamagedMetadataIsRebuiltFromLog) {
  ASSERT_OK(Create("s1"));
  clock_.Advance(absl::Seconds(7));
  ASSERT_OK(Record(AgentMessage{"x"}));
  ASSERT_OK(Run([](Session& s, absl::Time now) { return s.End("user", now); }));
  const SessionMetadata before = *table_->Get("s1");
  Close();
  std::filesystem::remove(PathOf("metadata.json"));
  Reopen();
  EXPECT_EQ(*table_->Get("s1"), before);
  Close();
  std::ofstream(PathOf("metadata.json")) << "{\"session_id\": \"s1\", \"crea";
  Reopen();
  EXPECT_EQ(*table_->Get("s1"), before);
}

TEST_F(SessionTableTest, TwoProcessesNeverShareADirectory) {
  CALLSLIP_ABOUT_FILES();
  const auto second = FileSessionStorage::Open(folder_.path(), &disk_);
  EXPECT_THAT(second, FailsWith(absl::StatusCode::kFailedPrecondition, "data_dir_locked"));
  Close();
  EXPECT_OK(FileSessionStorage::Open(folder_.path(), &disk_));
}

TEST_F(SessionTableTest, NumberOfSessionsIsLimited) {
  limits_.sessions = 2;
  Reopen();
  ASSERT_OK(Create("a"));
  ASSERT_OK(Create("b"));
  EXPECT_THAT(Create("c"), FailsWith(absl::StatusCode::kResourceExhausted, "too_many_sessions"));
  ASSERT_OK(Delete("a"));
  EXPECT_OK(Create("c"));
}

TEST_F(SessionTableTest, IdleSessionsAreUnloadedAndReloaded) {
  limits_.idle_sessions = 2;
  limits_.open_files = 1;
  threads_ = 1;
  Reopen();
  for (int i = 0; i < 10; ++i) ASSERT_OK(Create(absl::StrCat("s", i)));
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 10; ++i) {
      ASSERT_OK_AND_ASSIGN(const EventPtr event, Record(AgentMessage{"x"}, absl::StrCat("s", i)));
      EXPECT_EQ(event->seq, round + 2);
    }
  }
  Reopen();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(table_->Get(absl::StrCat("s", i))->event_count, 4);
}

TEST_F(SessionTableTest, NumberOfStreamingAnswersIsLimited) {
  limits_.agent_answers = 2;
  threads_ = 1;
  Reopen();
  const auto say = [&](const std::string& id, bool end) {
    return With<AddedAgentText>(
        [&](Session& session, absl::Time now) {
          return session.AddAgentText({.text = "x", .end = end}, now);
        },
        id);
  };
  for (const char* id : {"a", "b", "c", "d"}) ASSERT_OK(Create(id));
  ASSERT_OK(say("a", true));
  ASSERT_OK(say("b", false));
  // Ended answers make room.
  ASSERT_OK(say("c", false));
  EXPECT_THAT(say("d", false), FailsWith(absl::StatusCode::kResourceExhausted, "too_many_answers"));
  ASSERT_OK(say("b", true));
  EXPECT_OK(say("d", false));
}

TEST_F(SessionTableTest, RetentionDeletesEndedSessionsAndShortensLogs) {
  ASSERT_OK(Create("old"));
  ASSERT_OK(Run([](Session& s, absl::Time now) { return s.End("done", now); }, "old"));
  clock_.Advance(absl::Hours(48));
  ASSERT_OK(Create("s1"));
  for (int i = 0; i < 20; ++i) ASSERT_OK(Record(AgentMessage{"x"}));
  table_->ApplyRetention({.max_events = 10, .keep_ended = absl::Hours(24)}, clock_.Now());
  EXPECT_EQ(ReadAll().size(), 10u);
  EXPECT_EQ(Record(AgentMessage{"y"}).value()->seq, 22);
  EXPECT_THAT(Record(AgentMessage{}, "old"), kUnknown);
}

TEST_F(SessionTableTest, RetentionKeepsSessionResumedMeanwhile) {
  ASSERT_OK(Create("s1"));
  ASSERT_OK(Run([](Session& s, absl::Time now) { return s.End("done", now); }));
  clock_.Advance(absl::Hours(48));
  // It is resumed while the retention looks at the lists.
  Awaited<bool> looked;
  Awaited<absl::Status> resumed;
  table_->Run(
      "s1",
      [&](Session& session, absl::Time now) {
        looked.Wait();
        return session.Resume(now);
      },
      [&](const absl::Status& status) { resumed.Set(status); });
  table_->ApplyRetention({.keep_ended = absl::Hours(24)}, clock_.Now());
  looked.Set(true);
  EXPECT_OK(resumed.Wait());
  EXPECT_OK(Record(AgentMessage{"on"}));
}

// Regardless of how the client has formatted the JSON of the event.
TEST_F(SessionTableTest, ContentOfClientEventsIsKnownAfterRestart) {
  ASSERT_OK(Create("s1"));
  ASSERT_OK(
      Record(ClientEvent{"user_prompt", R"({"images":["i"],"message":"m","prompt_id":"p"})"}));
  ASSERT_OK(Record(ClientEvent{"agent_message", R"({"\u0069teration" : 7, "text":"x"})"}));
  for (const bool restarts : {false, true}) {
    if (restarts) Reopen();
    EXPECT_THAT(Add("other", "p"), FailsWith(absl::StatusCode::kAlreadyExists, "prompt_id_reused"));
    const auto iteration =
        With<int64_t>([](Session& session, absl::Time) -> absl::StatusOr<int64_t> {
          return session.recorded_answer().iteration();
        });
    EXPECT_EQ(*iteration, 7);
  }
}

}  // namespace
}  // namespace callslip::tracker
