// Notices about all sessions of an owner.
#include "tracker/domain/session/session_notices.h"

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tracker/domain/session/session_table_fixture.h"

namespace callslip::tracker {
namespace {

class TestNoticeFeed final : public NoticeFeed {
 public:
  void OnReady() override { ready_.Put(true); }

  // The next notice, or the end, however long that takes.
  absl::StatusOr<NoticePtr> Next() {
    while (true) {
      absl::StatusOr<NoticePtr> taken = Take();
      if (!taken.ok() || *taken != nullptr) return taken;
      ready_.Take();
    }
  }

 private:
  Inbox<bool> ready_;
};

class SessionNoticesTest : public SessionTableTest {
 protected:
  std::shared_ptr<TestNoticeFeed> Follow(const std::string& owner) {
    auto feed = std::make_shared<TestNoticeFeed>();
    EXPECT_OK(table_->notices().Subscribe(owner, feed));
    return feed;
  }

  absl::Status Rename(const std::string& name, const std::string& id = "s1") {
    return Run([&](Session& s, absl::Time now) { return s.Rename(name, now); }, id);
  }
};

TEST_F(SessionNoticesTest, ReportLifecycleOfSession) {
  const auto feed = Follow("ann");
  ASSERT_OK(Create(SessionRequest{.session_id = "s1", .name = "first", .owner = "ann"}));
  NoticePtr notice = *feed->Next();
  EXPECT_EQ(notice->action, SessionAction::kCreated);
  EXPECT_EQ(notice->session, *table_->Get("s1"));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(notice->change));

  ASSERT_OK(Rename("second"));
  notice = *feed->Next();
  EXPECT_EQ(notice->action, SessionAction::kUpdated);
  EXPECT_EQ(notice->session.name, "second");

  ASSERT_OK(Record(AgentMessage{"not told, but that it is there"}));
  notice = *feed->Next();
  EXPECT_EQ(notice->action, SessionAction::kActivity);
  EXPECT_EQ(notice->session, AsNoticed(*table_->Get("s1")));
  ASSERT_OK(Run([](Session& s, absl::Time now) { return s.End("done", now); }));
  notice = *feed->Next();
  EXPECT_EQ(notice->action, SessionAction::kEnded);
  EXPECT_EQ(notice->session, *table_->Get("s1"));

  ASSERT_OK(Run([](Session& s, absl::Time now) { return s.Resume(now); }));
  EXPECT_EQ((*feed->Next())->action, SessionAction::kResumed);

  ASSERT_OK(Run([](Session& s, absl::Time now) { return s.Archive(true, now); }));
  EXPECT_EQ((*feed->Next())->action, SessionAction::kEnded);
  notice = *feed->Next();
  EXPECT_EQ(notice->action, SessionAction::kUpdated);
  EXPECT_TRUE(notice->session.archived);

  ASSERT_OK(Delete("s1"));
  notice = *feed->Next();
  EXPECT_EQ(notice->action, SessionAction::kDeleted);
  EXPECT_EQ(notice->session.session_id, "s1");
}

TEST_F(SessionNoticesTest, ReportQueueChanges) {
  ASSERT_OK(Create("s1"));
  const auto feed = Follow("");
  ASSERT_OK_AND_ASSIGN(const QueuedMessage added, Add("first"));
  ASSERT_OK_AND_ASSIGN(const NoticePtr notice, feed->Next());
  EXPECT_EQ(notice->action, SessionAction::kQueue);
  EXPECT_EQ(notice->session.session_id, "s1");
  const auto& change = std::get<QueueChange>(notice->change);
  EXPECT_EQ(change.action, QueueAction::kAdded);
  EXPECT_EQ(change.message_id, added.id);
  EXPECT_EQ(change.queue_length, 1u);
}

TEST_F(SessionNoticesTest, ActivityIsReportedOncePerSecondIncludingLastEvent) {
  ASSERT_OK(Create("s1"));
  const auto feed = Follow("");
  const auto newest = [&] {
    const NoticePtr notice = *feed->Next();
    EXPECT_EQ(notice->action, SessionAction::kActivity);
    return notice->session.max_seq;
  };
  for (int i = 0; i < 50; ++i) ASSERT_OK(Record(AgentMessage{"x"}));
  EXPECT_EQ(newest(), 2);
  EXPECT_EQ(*feed->Take(), nullptr);
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(newest(), 51);
  // If no event was recorded there is no notice, and the next event is reported at once.
  clock_.Advance(absl::Seconds(5));
  ASSERT_OK(Record(AgentMessage{"x"}));
  EXPECT_EQ(newest(), 52);
  EXPECT_EQ(*feed->Take(), nullptr);
}

TEST_F(SessionNoticesTest, ActivityIsReportedBeforeSessionIsUnloaded) {
  limits_.idle_sessions = 1;
  threads_ = 1;
  Reopen();
  ASSERT_OK(Create("s1"));
  ASSERT_OK(Create("s2"));
  const auto feed = Follow("");
  for (int i = 0; i < 3; ++i) ASSERT_OK(Record(AgentMessage{"x"}));
  EXPECT_EQ((*feed->Next())->session.max_seq, 2);
  // Another session takes its place in memory.
  ASSERT_OK(Read({}, "s2"));
  const NoticePtr last = *feed->Next();
  EXPECT_EQ(last->session.session_id, "s1");
  EXPECT_EQ(last->session.max_seq, 4);
}

// The lists show the same state of a session as its notices.
TEST_F(SessionNoticesTest, PermissionNoticesCountOpenRequests) {
  struct Silent final : PermissionAsker {
    void OnAnswer(const absl::StatusOr<PermissionAnswer>&) override {}
  };
  ASSERT_OK(Create("s1"));
  const auto feed = Follow("");
  const std::string title = absl::StrCat(std::string(255, 't'), "\u00e9");
  for (const char* id : {"a", "b"}) {
    ASSERT_OK(Run([&](Session& s, absl::Time now) {
      return s
          .AskPermission({.id = id, .title = title, .details = "{}", .options = {{"yes", "", ""}}},
                         std::make_shared<Silent>(), now)
          .status();
    }));
  }
  for (const size_t count : {1u, 2u}) {
    const NoticePtr notice = *feed->Next();
    EXPECT_EQ(notice->action, SessionAction::kPermission);
    EXPECT_EQ(notice->session.open_permissions, count);
    const auto& change = std::get<PermissionChange>(notice->change);
    EXPECT_FALSE(change.answer.has_value());
    EXPECT_EQ(change.request.title, std::string(255, 't'));
    EXPECT_TRUE(change.request.options.empty());
    EXPECT_TRUE(change.request.details.empty());
  }
  EXPECT_EQ(table_->Get("s1")->open_permissions, 2u);
  ASSERT_OK(Run([](Session& s, absl::Time now) { return s.CancelPermissions(now).status(); }));
  for (const char* id : {"a", "b"}) {
    const NoticePtr notice = *feed->Next();
    const auto& change = std::get<PermissionChange>(notice->change);
    EXPECT_EQ(change.request.id, id);
    EXPECT_TRUE(change.answer->cancelled());
    EXPECT_EQ(notice->session.open_permissions, 0u);
  }
  EXPECT_EQ(table_->Get("s1")->open_permissions, 0u);
}

TEST_F(SessionNoticesTest, TurnNoticesReportOutcomeAndListShowsPauseReason) {
  ASSERT_OK(Create("s1"));
  const auto runner = std::make_shared<TestReceiver>();
  ASSERT_OK(Attach(runner));
  ASSERT_OK(Add("m"));
  const TestReceiver::Handed handed = runner->handed.Take();
  const auto feed = Follow("");
  const auto next_turn = [&] {
    while (true) {
      const NoticePtr notice = *feed->Next();
      if (notice->action == SessionAction::kTurn) return std::get<TurnChange>(notice->change);
    }
  };
  ASSERT_OK(StartTurn(handed.turn_id));
  TurnChange turn = next_turn();
  EXPECT_EQ(turn.turn_id, handed.turn_id);
  EXPECT_EQ(turn.queue_id, handed.message.id);
  EXPECT_FALSE(turn.outcome.has_value());
  EXPECT_EQ(table_->Get("s1")->queue.turn_id, handed.turn_id);
  ASSERT_OK(FinishTurn(handed.turn_id, {TurnEnd::kFailed, "rate_limited", "later"}));
  turn = next_turn();
  EXPECT_EQ(turn.outcome->end, TurnEnd::kFailed);
  EXPECT_EQ(turn.outcome->reason, "rate_limited");
  EXPECT_EQ(table_->Get("s1")->queue.pause_reason, "rate_limited");
  Reopen();
  EXPECT_EQ(table_->Get("s1")->queue.pause_reason, "rate_limited");
}

// A session can be looked up once its notice has arrived. A client that reads the list after the
// start of its notices misses nothing.
TEST_F(SessionNoticesTest, TableIsUpdatedBeforeNoticeIsSent) {
  class Looker final : public NoticeFeed {
   public:
    explicit Looker(SessionTable* table) : table_(table) {}
    void OnReady() override {
      while (true) {
        const absl::StatusOr<NoticePtr> notice = Take();
        if (!notice.ok() || *notice == nullptr) return;
        const bool is_there = table_->Get((*notice)->session.session_id).ok();
        seen.Put(is_there);
      }
    }
    Inbox<bool> seen;

   private:
    SessionTable* const table_;
  };
  const auto looker = std::make_shared<Looker>(table_.get());
  ASSERT_OK(table_->notices().Subscribe("", looker));
  ASSERT_OK(Create("s1"));
  ASSERT_OK(Delete("s1"));
  EXPECT_TRUE(looker->seen.Take());
  EXPECT_FALSE(looker->seen.Take());
}

TEST_F(SessionNoticesTest, AreSentToOwnerOnly) {
  const auto ann = Follow("ann");
  const auto bob = Follow("bob");
  ASSERT_OK(Create(SessionRequest{.session_id = "a", .owner = "ann"}));
  ASSERT_OK(Create(SessionRequest{.session_id = "b", .owner = "bob"}));
  EXPECT_EQ((*ann->Next())->session.session_id, "a");
  EXPECT_EQ((*bob->Next())->session.session_id, "b");
  EXPECT_EQ(*ann->Take(), nullptr);
}

TEST_F(SessionNoticesTest, SlowReaderIsDisconnectedWithoutDelayingOthers) {
  limits_.observer_updates = 3;
  Reopen();
  ASSERT_OK(Create("s1"));
  const auto slow = Follow("");
  const auto fast = Follow("");
  const std::vector<std::string> names = {"1", "2", "3", "4", "5"};
  for (const std::string& name : names) {
    ASSERT_OK(Rename(name));
    EXPECT_EQ((*fast->Next())->session.name, name);
  }
  for (int i = 0; i < 3; ++i) EXPECT_EQ((*slow->Next())->session.name, names[i]);
  EXPECT_THAT(slow->Next(), FailsWith(absl::StatusCode::kResourceExhausted, "too_slow"));
}

TEST_F(SessionNoticesTest, AreCompleteAndInOrderDuringConcurrentChanges) {
  constexpr int kSessions = 4;
  constexpr int kChanges = 50;
  for (int i = 0; i < kSessions; ++i) ASSERT_OK(Create(absl::StrCat("s", i)));
  const auto feed = Follow("");
  std::vector<std::thread> writers;
  for (int i = 0; i < kSessions; ++i) {
    writers.emplace_back([this, id = absl::StrCat("s", i)] {
      for (int change = 0; change < kChanges; ++change) {
        EXPECT_OK(Rename(absl::StrCat(change), id));
      }
    });
  }
  std::map<std::string, int> seen;
  for (int i = 0; i < kSessions * kChanges; ++i) {
    const NoticePtr notice = *feed->Next();
    const int change = seen[notice->session.session_id]++;
    EXPECT_EQ(notice->session.name, absl::StrCat(change)) << notice->session.session_id;
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(*feed->Take(), nullptr);
}

TEST_F(SessionNoticesTest, ReadersPerOwnerAreLimited) {
  limits_.observers_of_session = 1;
  Reopen();
  const auto first = Follow("ann");
  const auto second = std::make_shared<TestNoticeFeed>();
  EXPECT_THAT(table_->notices().Subscribe("ann", second),
              FailsWith(absl::StatusCode::kResourceExhausted, "too_many_observers"));
  EXPECT_OK(table_->notices().Subscribe("bob", second));
  table_->notices().Unsubscribe("ann", first.get());
  EXPECT_OK(table_->notices().Subscribe("ann", second));
}

TEST_F(SessionNoticesTest, EndWhenTableIsClosed) {
  const auto feed = Follow("");
  Close();
  EXPECT_THAT(feed->Next(), FailsWith(absl::StatusCode::kUnavailable, "draining"));
}

}  // namespace
}  // namespace callslip::tracker
