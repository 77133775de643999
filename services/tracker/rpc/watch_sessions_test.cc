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

  // The next notice: its action, its session and, of a queue, what has changed.
  static std::string Told(StreamReader<v1::SessionNotice>& watch) {
    const std::optional<v1::SessionNotice> notice = watch.Next();
    if (!notice.has_value()) return "the end";
    std::string told = notice->action();
    if (notice->has_session()) absl::StrAppend(&told, " ", notice->session().session_id());
    if (notice->has_queue()) absl::StrAppend(&told, " ", notice->queue().action());
    return told;
  }
};

TEST_F(WatchSessionsTest, TellsWhatBecomesOfTheClientsSessions) {
  CreateSession("before");
  const auto watch = WatchAll();
  CreateSession("s");
  ASSERT_OK(Call(&S::CreateSession, "client_id: 'other' session_id: 'theirs'"));
  ASSERT_OK(Call(&S::UpdateSession, "session_id: 's' name: 'n'"));
  Append({"not told"});
  ASSERT_OK(Call(&Q::AddMessage, "session_id: 's' message: 'm'"));
  ASSERT_OK(Call(&Q::ClearMessages, "session_id: 's'"));
  ASSERT_OK(Call(&S::EndSession, "session_id: 's' reason: 'r'"));
  ASSERT_OK(Call(&S::ResumeSession, "session_id: 's'"));
  ASSERT_OK(Call(&S::DeleteSession, "session_id: 's'"));
  ASSERT_OK(Call(&S::DeleteSession, "session_id: 'before'"));
  std::vector<std::string> told;
  for (int i = 0; i < 8; ++i) told.push_back(Told(*watch));
  EXPECT_THAT(told, ElementsAre("created s", "updated s", "queue s added", "queue s cleared",
                                "ended s", "resumed s", "deleted s", "deleted before"));
}

TEST_F(WatchSessionsTest, NoticesHoldTheSessionAsItIsThen) {
  const auto watch = WatchAll();
  ASSERT_OK_AND_ASSIGN(const v1::Session made,
                       Call(&S::CreateSession, "session_id: 's' name: 'n' working_dir: '/w'"));
  EXPECT_EQ(watch->Next()->session().DebugString(), made.DebugString());
  ASSERT_OK_AND_ASSIGN(const v1::Session ended,
                       Call(&S::EndSession, "session_id: 's' reason: 'r'"));
  EXPECT_EQ(watch->Next()->session().DebugString(), ended.DebugString());
  ASSERT_OK(Call(&S::DeleteSession, "session_id: 's'"));
  EXPECT_EQ(watch->Next()->session().DebugString(), "session_id: \"s\"\n");
}

TEST_F(WatchSessionsTest, EndsWhenTheTrackerDrains) {
  const auto watch = WatchAll();
  Stop(absl::ZeroDuration());
  EXPECT_THAT(watch->Finish(), FailsWith(StatusCode::kUnavailable, "draining"));
}

TEST_F(WatchSessionsTest, WhoLeavesMakesRoomForAnother) {
  std::vector<std::unique_ptr<StreamReader<v1::SessionNotice>>> watches;
  for (size_t i = 0; i < limits_.observers_of_session; ++i) watches.push_back(WatchAll());
  EXPECT_THAT(WatchSessions("")->Finish(),
              FailsWith(StatusCode::kResourceExhausted, "too_many_observers"));
  WatchAll("client_id: 'other'");
  watches.pop_back();
  // The tracker hears of it in its own time; each try is a call to it.
  while (Told(*WatchSessions("")) != "started") {
  }
}

class FewNoticesTest : public WatchSessionsTest {
 protected:
  FewNoticesTest() : WatchSessionsTest({.observer_updates = 10}) {}
};

TEST_F(FewNoticesTest, WatcherThatDoesNotReadIsCutOff) {
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
