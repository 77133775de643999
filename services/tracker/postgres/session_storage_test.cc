// Promises of sessions in a database that concern the database.
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/postgres_server.h"
#include "tracker/postgres/cell.h"
#include "tracker/postgres/import_mark.h"
#include "tracker/postgres/postgres_session_storage.h"

namespace callslip::tracker {
namespace {

// For statements that are never answered.
constexpr PostgresPatience kImpatient = {.statement = absl::Milliseconds(100),
                                         .lock = absl::Milliseconds(50)};

class PostgresSessionsTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(admin_, PostgresConnection::Open(url_));
    ASSERT_OK(PreparePostgres(*admin_, {.standby = false}));
    PostgresCell cell(url_);
    ASSERT_OK_AND_ASSIGN(const CellState seen, cell.Read());
    ASSERT_OK_AND_ASSIGN(epoch_, cell.Take(seen, "test"));
    storage_ = std::make_unique<PostgresSessionStorage>(url_, epoch_);
  }

  int64_t Number(const char* sql) {
    const auto answer = admin_->Query(sql);
    EXPECT_OK(answer);
    return answer.ok() ? answer->Int(0, 0) : -1;
  }

  static std::deque<QueuedMessage> Messages(const std::string& text) {
    std::deque<QueuedMessage> messages(1);
    messages[0].id = "m";
    messages[0].message = text;
    return messages;
  }

  const std::string url_ = PostgresServer::Shared().NewSchema();
  std::unique_ptr<PostgresConnection> admin_;
  uint64_t epoch_ = 0;
  std::unique_ptr<PostgresSessionStorage> storage_;
};

// A network or a server can delay a change. Its sender has abandoned it long ago, and the session
// was loaded again since.
TEST_F(PostgresSessionsTest, LateChangeHasNoEffect) {
  ASSERT_OK_AND_ASSIGN(const LoadedSession made, storage_->Create({.session_id = "s"}));
  const absl::Time now = absl::UnixEpoch();
  std::vector<LoadedSession> late;
  for (int i = 0; i < 5; ++i) {
    ASSERT_OK_AND_ASSIGN(LoadedSession loaded, storage_->Load("s"));
    late.push_back(std::move(loaded));
  }
  ASSERT_OK_AND_ASSIGN(const LoadedSession loaded, storage_->Load("s"));
  ASSERT_OK(loaded.record->SaveQueue(Messages("new"), {}, now));
  ASSERT_OK(loaded.record->AppendAll({ErrorEvent{.message = "new"}}, now));
  ASSERT_OK(loaded.record->SyncLog());
  ASSERT_OK(loaded.record->SaveMetadata(loaded.metadata));

  EXPECT_FALSE(late[0].record->SaveQueue(Messages("old"), {}, now).ok());
  SessionMetadata renamed = late[1].metadata;
  renamed.name = "old";
  EXPECT_FALSE(late[1].record->SaveMetadata(renamed).ok());
  EXPECT_FALSE(late[2].record->PutImage("GIF89a", "", 10).ok());
  ASSERT_OK(late[3].record->AppendAll({ErrorEvent{.message = "old"}}, now));
  EXPECT_FALSE(late[3].record->SyncLog().ok());
  ASSERT_OK_AND_ASSIGN(const LoadedSession after, storage_->Load("s"));
  EXPECT_EQ(after.messages.front().message, "new");
  EXPECT_EQ(after.metadata.name, "");
  EXPECT_EQ(after.record->image_bytes(), 0);
  EXPECT_EQ(after.record->event_count(), 2);
  // The record that was loaded last goes on.
  EXPECT_OK(after.record->SaveQueue(Messages("newer"), {}, now));
  ASSERT_OK(after.record->AppendAll({ErrorEvent{.message = "newer"}}, now));
  EXPECT_EQ(*after.record->Prune({.max_events = 2}), 1);
  EXPECT_OK(after.record->SaveMetadata(after.metadata));
}

// It does not change another session of the same id either.
TEST_F(PostgresSessionsTest, ChangeOfRemovedSessionDoesNotAffectItsSuccessor) {
  ASSERT_OK_AND_ASSIGN(const LoadedSession removed, storage_->Create({.session_id = "s"}));
  ASSERT_OK(storage_->Remove("s"));
  EXPECT_EQ(Number("SELECT count(*) FROM callslip_events"), 0);
  EXPECT_EQ(storage_->Remove("s").code(), absl::StatusCode::kNotFound);
  ASSERT_OK_AND_ASSIGN(const LoadedSession made, storage_->Create({.session_id = "s"}));
  const absl::Time now = absl::UnixEpoch();
  EXPECT_FALSE(removed.record->SaveQueue(Messages("old"), {}, now).ok());
  ASSERT_OK(removed.record->AppendAll({ErrorEvent{.message = "old"}}, now));
  EXPECT_FALSE(removed.record->SyncLog().ok());
  EXPECT_OK(made.record->SaveQueue(Messages("new"), {}, now));
  EXPECT_OK(storage_->Remove("s"));
}

TEST_F(PostgresSessionsTest, ImportWithLostAnswerAdvisesInspection) {
  ASSERT_OK_AND_ASSIGN(const auto connection, PostgresConnection::Open(url_));
  ASSERT_OK_AND_ASSIGN(const PostgresResult own,
                       connection->Query("SELECT pg_backend_pid()::bigint"));
  ASSERT_OK(BeginImport(*connection, epoch_));
  ASSERT_OK(admin_->Query("SELECT pg_terminate_backend($1::bigint::int)",
                          PostgresParameters().Add(own.Int(0, 0))));
  const absl::Status ended = EndImport(*connection, epoch_);
  EXPECT_EQ(ended.code(), absl::StatusCode::kUnavailable) << ended;
  EXPECT_THAT(std::string(ended.message()), ::testing::HasSubstr("inspect --storage"));
}

// An insert that waits for the standby is not visible, and its session may still be stored later.
TEST_F(PostgresSessionsTest, OwnSessionStoredLateIsRecognized) {
  PostgresSessionStorage storage(url_, epoch_, {.lock = absl::Milliseconds(50)});
  ASSERT_OK(admin_->Run("SET idle_in_transaction_session_timeout = 0"));
  ASSERT_OK(
      admin_->Run("BEGIN; INSERT INTO callslip_sessions (id, metadata, max_seq, events, bytes) "
                  "VALUES ('s', '{}', 1, 1, 1)"));
  EXPECT_FALSE(storage.Create({.session_id = "s"}).ok());
  EXPECT_FALSE(storage.Create({.session_id = "s"}).ok());
  ASSERT_OK(admin_->Run("COMMIT"));
  EXPECT_OK(storage.Create({.session_id = "s"}));
  EXPECT_EQ(storage.Create({.session_id = "s"}).status().code(), absl::StatusCode::kAlreadyExists);
}

// The same if the session is stored while a call waits for it.
TEST_F(PostgresSessionsTest, OwnSessionStoredDuringRetryIsRecognized) {
  PostgresSessionStorage storage(url_, epoch_, {.lock = absl::Milliseconds(50)});
  ASSERT_OK(admin_->Run("SET idle_in_transaction_session_timeout = 0"));
  const char* const insert =
      "BEGIN; INSERT INTO callslip_sessions (id, metadata, max_seq, events, bytes) "
      "VALUES ('s', '{}', 1, 1, 1)";
  ASSERT_OK(admin_->Run(insert));
  EXPECT_FALSE(storage.Create({.session_id = "s"}).ok());
  std::thread committer([&] {
    const auto looks = PostgresConnection::Open(url_);
    ASSERT_OK(looks);
    while (true) {
      const auto waiting = (*looks)->Query("SELECT count(*) FROM pg_locks WHERE NOT granted");
      ASSERT_OK(waiting);
      if (waiting->Int(0, 0) > 0) break;
    }
    EXPECT_OK(admin_->Run("COMMIT"));
  });
  // It gives up early and tries again. One of its tries waits while the insert is committed.
  absl::Status created;
  for (int i = 0; i < 1000; ++i) {
    created = storage.Create({.session_id = "s"}).status();
    if (!absl::IsUnavailable(created)) break;
  }
  committer.join();
  EXPECT_OK(created);
}

// A server that hangs does so on all connections: no other caller may wait on an earlier one.
TEST_F(PostgresSessionsTest, IdleConnectionsAreClosedOnceOneTimesOut) {
  constexpr char kCount[] = "SELECT count(*) FROM callslip_sessions";
  constexpr char kLock[] = "BEGIN; LOCK TABLE callslip_sessions";
  PostgresPool pool(url_, {.statement = absl::Seconds(2)});
  ASSERT_OK(admin_->Run("SET idle_in_transaction_session_timeout = 0"));
  ASSERT_OK_AND_ASSIGN(const auto looks, PostgresConnection::Open(url_));
  const auto reaches = [&](const char* sql, int64_t wanted) {
    for (int i = 0; i < 100'000; ++i) {
      const auto answer = looks->Query(sql);
      if (!answer.ok() || answer->Int(0, 0) == wanted) return answer.ok();
    }
    return false;
  };
  ASSERT_OK(admin_->Run(kLock));
  std::thread one([&] { EXPECT_OK(pool.Query(kCount, {})); });
  std::thread other([&] { EXPECT_OK(pool.Query(kCount, {})); });
  EXPECT_TRUE(reaches("SELECT count(*) FROM pg_locks WHERE NOT granted", 2));
  EXPECT_OK(admin_->Run("COMMIT"));
  one.join();
  other.join();
  ASSERT_OK(admin_->Run(kLock));
  EXPECT_EQ(pool.Query(kCount, {}).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(reaches("SELECT count(*) FROM pg_stat_activity WHERE state = 'idle'", 0));
  EXPECT_OK(admin_->Run("COMMIT"));
}

// Each statement would continue on the server after it was abandoned, until the server accepts no
// more.
TEST_F(PostgresSessionsTest, StatementsWaitingForStandbyDoNotPileUp) {
  PostgresPool pool(url_, kImpatient);
  constexpr char kInsert[] = "INSERT INTO callslip_images VALUES ('s', $1, '', '')";
  ASSERT_OK(admin_->Run("ALTER SYSTEM SET synchronous_standby_names = 'nobody'"));
  ASSERT_OK(admin_->Run("SELECT pg_reload_conf()"));
  int failed = 0;
  // The server applies the setting a little later.
  for (int i = 0; failed < 40 && i < 10'000; ++i) {
    if (!pool.Query(kInsert, PostgresParameters().AddText(absl::StrCat(i))).ok()) ++failed;
  }
  EXPECT_EQ(failed, 40);
  EXPECT_LE(Number("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"), 16);
  ASSERT_OK(admin_->Run("ALTER SYSTEM RESET synchronous_standby_names"));
  ASSERT_OK(admin_->Run("SELECT pg_reload_conf()"));
  // Connections can be used again after their answers.
  bool works = false;
  for (int i = 0; !works && i < 1'000'000; ++i) {
    works = pool.Query(kInsert, PostgresParameters().AddText(absl::StrCat("again", i))).ok();
  }
  EXPECT_TRUE(works);
  EXPECT_LE(Number("SELECT count(*) FROM pg_stat_activity WHERE datname IS NOT NULL"), 25);
}

}  // namespace
}  // namespace callslip::tracker
