// WatchSessions over the real listener, with gRPC's own client.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tracker/rpc/session_server_fixture.h"

namespace callslip::tracker {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;

class WatchSessionsTest : public SessionServerTest {
 protected:
  using SessionServerTest::SessionServerTest;

  // A watch that has begun.
  std::unique_ptr<StreamReader<v1::SessionNotice>> WatchAll(const std::string& request = "") {
    auto watch = WatchSessions(request);
    EXPECT_EQ(Told(*watch), "started");
    return watch;
  }

  // The next notice: its action, its session, and the change of a queue.
  static std::string Told(StreamReader<v1::SessionNotice>& watch) {
    const std::optional<v1::SessionNotice> notice = watch.Next();
    if (!notice.has_value()) return "the end";
    std::string told = notice->action();
    if (notice->has_session()) absl::StrAppend(&told, " ", notice->session().session_id());
    if (notice->has_queue()) absl::StrAppend(&told, " ", notice->queue().action());
    if (notice->has_turn()) absl::StrAppend(&told, " ", notice->turn().outcome());
    if (notice->action() == "activity") absl::StrAppend(&told, " ", notice->session().max_seq());
    return told;
  }
};

TEST_F(WatchSessionsTest, ChangesOfTheClientsSessionsAreReported) {
  CreateSession("before");
  const auto watch = WatchAll();
  CreateSession("s");
  ASSERT_OK(Call(&S::CreateSession, "client_id: 'other' session_id: 'theirs'"));
  ASSERT_OK(Call(&S::UpdateSession, "session_id: 's' name: 'n'"));
  Append({"not told, but that it is there"});
  ASSERT_OK(Call(&Q::AddMessage, "session_id: 's' message: 'm'"));
  ASSERT_OK(Call(&Q::ClearMessages, "session_id: 's'"));
  ASSERT_OK(Call(&S::EndSession, "session_id: 's' reason: 'r'"));
  ASSERT_OK(Call(&S::ResumeSession, "session_id: 's'"));
  ASSERT_OK(Call(&S::DeleteSession, "session_id: 's'"));
  ASSERT_OK(Call(&S::DeleteSession, "session_id: 'before'"));
  std::vector<std::string> told;
  for (int i = 0; i < 9; ++i) told.push_back(Told(*watch));
  EXPECT_THAT(
      told, ElementsAre("created s", "updated s", "activity s 2", "queue s added",
                        "queue s cleared", "ended s", "resumed s", "deleted s", "deleted before"));
}

TEST_F(WatchSessionsTest, NoticesContainTheSessionAtTheirTime) {
  const auto watch = WatchAll();
  ASSERT_OK_AND_ASSIGN(const v1::Session made,
                       Call(&S::CreateSession, "session_id: 's' name: 'n' working_dir: '/w'"));
  EXPECT_EQ(watch->Next()->session().DebugString(), made.DebugString());
  ASSERT_OK_AND_ASSIGN(const v1::Session ended,
                       Call(&S::EndSession, "session_id: 's' reason: 'r'"));
  EXPECT_EQ(watch->Next()->session().DebugString(), ended.DebugString());
  const std::optional<v1::SessionNotice> activity = watch->Next();
  EXPECT_EQ(activity->action(), "activity");
  v1::Session newest;
  newest.set_session_id("s");
  newest.set_max_seq(ended.max_seq());
  *newest.mutable_update_time() = ended.update_time();
  EXPECT_EQ(activity->session().DebugString(), newest.DebugString());
  ASSERT_OK(Call(&S::DeleteSession, "session_id: 's'"));
  EXPECT_EQ(watch->Next()->session().DebugString(), "session_id: \"s\"\n");
}

TEST_F(WatchSessionsTest, TurnsAndQuestionsAreReported) {
  CreateSession("s");
  const auto watch = WatchAll();
  ASSERT_OK(Call(&S::AskPermission,
                 absl::StrCat("session_id: 's' permission_id: 'p' title: '", std::string(1000, 't'),
                              "' details: '{\"a\":1}' kind: 'execute' "
                              "options { option_id: 'yes' name: 'Yes' }")));
  v1::SessionNotice notice = *watch->Next();
  EXPECT_EQ(notice.action(), "permission");
  EXPECT_EQ(notice.session().DebugString(), "session_id: \"s\"\nopen_permissions: 1\n");
  EXPECT_EQ(notice.permission().title(), std::string(256, 't'));
  EXPECT_EQ(notice.permission().kind(), "execute");
  EXPECT_EQ(notice.permission().details(), "");
  EXPECT_EQ(notice.permission().options_size(), 0);
  EXPECT_FALSE(notice.permission().answered());
  ASSERT_OK_AND_ASSIGN(const v1::Session asked, Call(&S::GetSession, "session_id: 's'"));
  EXPECT_EQ(asked.open_permissions(), 1);

  ASSERT_OK(Call(&S::AnswerPermission, "session_id: 's' permission_id: 'p' option_id: 'yes'"));
  notice = *watch->Next();
  EXPECT_EQ(notice.action(), "permission");
  EXPECT_TRUE(notice.permission().answered());
  EXPECT_EQ(notice.permission().selected_option(), "yes");
  EXPECT_EQ(notice.session().open_permissions(), 0);
  EXPECT_EQ(Told(*watch), "activity s 2");

  const auto runner = Receive("session_id: 's'");
  ASSERT_OK(Call(&Q::AddMessage, "session_id: 's' message: 'm'"));
  const std::string turn = runner->Next()->turn_id();
  const std::string of_turn = absl::StrCat("session_id: 's' turn_id: '", turn, "'");
  ASSERT_OK(Call(&Q::StartTurn, of_turn));
  ASSERT_OK(Call(&Q::FinishTurn, of_turn + " outcome: OUTCOME_FAILED reason: 'rate_limited'"));
  std::vector<std::string> told;
  while (told.empty() || told.back() != "queue s paused") told.push_back(Told(*watch));
  std::erase(told, "agent s");
  EXPECT_THAT(told, ElementsAre("queue s added", "queue s sending", "queue s removed",
                                "queue s sent", "turn s ", "turn s failed", "queue s paused"));
  ASSERT_OK_AND_ASSIGN(const auto listed, Call(&S::ListSessions, ""));
  EXPECT_EQ(listed.sessions(0).pause_reason(), "rate_limited");
  EXPECT_EQ(listed.sessions(0).turn_id(), "");
  EXPECT_EQ(listed.sessions(0).open_permissions(), 0);
}

TEST_F(WatchSessionsTest, EndsWhenTheTrackerDrains) {
  const auto watch = WatchAll();
  Stop(absl::ZeroDuration());
  EXPECT_THAT(watch->Finish(), FailsWith(StatusCode::kUnavailable, "draining"));
}

TEST_F(WatchSessionsTest, WatcherThatLeavesMakesRoomForAnother) {
  std::vector<std::unique_ptr<StreamReader<v1::SessionNotice>>> watches;
  for (size_t i = 0; i < limits_.observers_of_session; ++i) watches.push_back(WatchAll());
  EXPECT_THAT(WatchSessions("")->Finish(),
              FailsWith(StatusCode::kResourceExhausted, "too_many_observers"));
  WatchAll("client_id: 'other'");
  watches.pop_back();
  // The tracker notices the end a little later; each try is a call to it.
  while (Told(*WatchSessions("")) != "started") {
  }
}

class FewNoticesTest : public WatchSessionsTest {
 protected:
  FewNoticesTest() : WatchSessionsTest({.observer_updates = 10}) {}
};

TEST_F(FewNoticesTest, WatcherThatDoesNotReadIsDisconnected) {
  // More than gRPC buffers for a caller that does not read.
  const auto slow = WatchAll();
  const auto quick = WatchAll();
  ASSERT_OK(Call(&S::CreateSession,
                 absl::StrCat("session_id: 's' working_dir: '", std::string(4000, 'x'), "'")));
  EXPECT_EQ(Told(*quick), "created s");
  for (int i = 0; i < 3000; ++i) {
    ASSERT_OK(Call(&S::UpdateSession, absl::StrCat("session_id: 's' name: '", i, "'")));
    ASSERT_EQ(Told(*quick), "updated s");
  }
  EXPECT_THAT(slow->Finish(), FailsWith(StatusCode::kResourceExhausted, "too_slow"));
}

}  // namespace
}  // namespace callslip::tracker
