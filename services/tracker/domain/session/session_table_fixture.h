#pragma once

#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/fake_clock.h"
#include "common/mutex.h"
#include "common/status_matchers.h"
#include "gtest/gtest.h"
#include "tracker/domain/session/session_table.h"
#include "tracker/storage/disk.h"
#include "tracker/storage/file_session_storage.h"
#include "tracker/storage/json.h"
#ifdef CALLSLIP_SESSIONS_IN_POSTGRES
#include "support/postgres_server.h"
#include "tracker/postgres/cell.h"
#include "tracker/postgres/postgres_session_storage.h"
#endif

// A SessionTable on real files, for tests. Its calls wait for their answers.
namespace callslip::tracker {

// Errors of calls that name no known session, or are invalid.
inline const auto kUnknown = FailsWith(absl::StatusCode::kNotFound, "unknown_session");
inline const auto kInvalid = FailsWith(absl::StatusCode::kInvalidArgument, "invalid_argument");

// An event as text, "TYPE DATA".
inline std::string TextOf(const EventPtr& event) {
  return absl::StrCat(event->type, " ", event->data);
}
// A string member of its data; empty if absent.
inline std::string MemberOf(const EventPtr& event, const char* name) {
  return callslip::TextOf(ParseJson(event->data).value_or(Json()), name);
}

// A folder that is removed with the test; in memory if possible, because tests do not depend on how
// long a disk takes for a sync.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    const bool has_memory = std::filesystem::exists("/dev/shm");
    std::string pattern =
        absl::StrCat(has_memory ? "/dev/shm" : ::testing::TempDir(), "/callslip-XXXXXX");
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A value that another thread sets.
template <typename T>
class Awaited {
 public:
  void Set(T value) {
    MutexLock lock(&mutex_);
    value_.emplace(std::move(value));
    changed_.NotifyAll();
  }
  T Wait() {
    MutexLock lock(&mutex_);
    while (!value_.has_value()) changed_.Wait(&mutex_);
    return *value_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::optional<T> value_;
};

// Values that another thread adds one after the other.
template <typename T>
class Inbox {
 public:
  void Put(T value) {
    MutexLock lock(&mutex_);
    values_.push_back(std::move(value));
    changed_.NotifyAll();
  }
  T Take() {
    MutexLock lock(&mutex_);
    while (values_.empty()) changed_.Wait(&mutex_);
    T value = std::move(values_.front());
    values_.pop_front();
    return value;
  }
  size_t size() {
    MutexLock lock(&mutex_);
    return values_.size();
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::deque<T> values_;
};

class TestReceiver final : public MessageReceiver {
 public:
  struct Handed {
    std::string turn_id;
    QueuedMessage message;
  };
  void OnMessage(const std::string& turn_id, const QueuedMessage& message) override {
    handed.Put({turn_id, message});
  }
  void OnStop(const std::string& turn_id) override { stopped.Put(turn_id); }
  void OnEnd(const absl::Status& status) override { ended.Set(status); }

  Inbox<Handed> handed;
  Inbox<std::string> stopped;
  Awaited<absl::Status> ended;
};

class TestFeed final : public SessionFeed {
 public:
  void OnReady() override { ready_.Put(absl::OkStatus()); }
  // For a feed that no session fills, or whose session has failed.
  void Fail(const absl::Status& status) { ready_.Put(status); }

  // The next update, however long that takes.
  SessionUpdate Next() {
    while (true) {
      std::vector<SessionUpdate> taken = Take(1, 1);
      if (!taken.empty()) return std::move(taken.front());
      const absl::Status ready = ready_.Take();
      if (!ready.ok()) return {.what = FeedEnd{ready}};
    }
  }
  // The next update of one kind; skips others.
  template <typename T>
  T NextOf() {
    while (true) {
      SessionUpdate update = Next();
      if (T* found = std::get_if<T>(&update.what)) return std::move(*found);
    }
  }

 private:
  Inbox<absl::Status> ready_;
};

// First line of a test that concerns files.
#ifdef CALLSLIP_SESSIONS_IN_POSTGRES
#define CALLSLIP_ABOUT_FILES() GTEST_SKIP() << "about files"
#else
#define CALLSLIP_ABOUT_FILES() (void)0
#endif

class SessionTableTest : public ::testing::Test {
 protected:
  SessionTableTest() { Reopen(); }

  // Like a process that is stopped and started again.
  void Reopen(Disk* disk = nullptr) {
    Close();
    if (disk == nullptr) disk = &disk_;
    OpenStorage(disk);
    auto table = SessionTable::Open(storage_.get(), &clock_, limits_, defaults_, threads_);
    ASSERT_OK(table);
    table_ = *std::move(table);
  }
  void Close() {
    table_.reset();
    storage_.reset();
  }

  // Most tests work with any storage: files or, if compiled for it, PostgreSQL.
#ifdef CALLSLIP_SESSIONS_IN_POSTGRES
  void OpenStorage(Disk*) {
    const auto connection = PostgresConnection::Open(url_);
    ASSERT_OK(connection);
    ASSERT_OK(PreparePostgres(**connection, {.standby = false}));
    PostgresCell cell(url_);
    const auto seen = cell.Read();
    ASSERT_OK(seen);
    const auto epoch = cell.Take(*seen, "test");
    ASSERT_OK(epoch);
    storage_ = std::make_unique<PostgresSessionStorage>(url_, *epoch);
  }
  const std::string url_ = PostgresServer::Shared().NewSchema();
#else
  void OpenStorage(Disk* disk) {
    auto storage = FileSessionStorage::Open(folder_.path(), disk);
    ASSERT_OK(storage);
    storage_ = *std::move(storage);
  }
#endif

  absl::StatusOr<SessionMetadata> Create(SessionRequest request) {
    Awaited<absl::StatusOr<SessionMetadata>> done;
    table_->Create(std::move(request), [&](absl::StatusOr<SessionMetadata> r) { done.Set(r); });
    return done.Wait();
  }
  absl::StatusOr<SessionMetadata> Create(const std::string& id) {
    return Create(SessionRequest{.session_id = id, .acp_server = "claude", .working_dir = "/src"});
  }
  absl::Status Delete(const std::string& id) {
    Awaited<absl::Status> done;
    table_->Delete(id, [&](absl::Status status) { done.Set(status); });
    return done.Wait();
  }
  template <typename T>
  absl::StatusOr<T> With(std::function<absl::StatusOr<T>(Session&, absl::Time)> call,
                         const std::string& id = "s1") {
    Awaited<absl::StatusOr<T>> done;
    table_->With<T>(id, std::move(call), [&](absl::StatusOr<T> result) { done.Set(result); });
    return done.Wait();
  }
  absl::Status Run(std::function<absl::Status(Session&, absl::Time)> call,
                   const std::string& id = "s1") {
    Awaited<absl::Status> done;
    table_->Run(id, std::move(call), [&](absl::Status status) { done.Set(status); });
    return done.Wait();
  }

  absl::StatusOr<EventPtr> Record(NewEvent event, const std::string& id = "s1") {
    return With<EventPtr>(
        [&](Session& session, absl::Time now) { return session.Record(event, now); }, id);
  }
  absl::StatusOr<EventPage> Read(const EventQuery& query, const std::string& id = "s1") {
    return With<EventPage>([&](Session& session, absl::Time) { return session.Read(query); }, id);
  }
  std::vector<EventPtr> ReadAll(const std::string& id = "s1") {
    std::vector<EventPtr> all;
    EventQuery query;
    while (true) {
      absl::StatusOr<EventPage> page = Read(query, id);
      EXPECT_OK(page);
      if (!page.ok()) return all;
      all.insert(all.end(), page->events.begin(), page->events.end());
      if (!page->has_more) return all;
      query.value = page->last_seq();
    }
  }
  absl::StatusOr<QueuedMessage> Add(const std::string& text, const std::string& prompt_id = "") {
    return With<QueuedMessage>([&](Session& session, absl::Time now) {
      return session.AddMessage({.message = text, .prompt_id = prompt_id}, now);
    });
  }
  absl::Status Attach(const std::shared_ptr<TestReceiver>& receiver,
                      const std::string& turn_id = "") {
    return Run(
        [&](Session& session, absl::Time now) { return session.Attach(receiver, turn_id, now); });
  }
  absl::StatusOr<Turn> StartTurn(const std::string& turn_id) {
    return With<Turn>(
        [&](Session& session, absl::Time now) { return session.StartTurn(turn_id, now); });
  }
  absl::Status FinishTurn(const std::string& turn_id, const TurnOutcome& outcome = {}) {
    return Run([&](Session& session, absl::Time now) {
      return session.FinishTurn(turn_id, outcome, now);
    });
  }
  SessionSnapshot Snapshot() {
    return *With<SessionSnapshot>(
        [](Session& session, absl::Time) -> absl::StatusOr<SessionSnapshot> {
          return session.Snapshot();
        });
  }
  std::vector<QueuedMessage> Messages() {
    return *With<std::vector<QueuedMessage>>(
        [](Session& session, absl::Time) -> absl::StatusOr<std::vector<QueuedMessage>> {
          return session.ListMessages();
        });
  }
  std::shared_ptr<TestFeed> Subscribe(int64_t after_seq, const std::string& id = "s1") {
    return Feed(id, [after_seq](Session& session, const std::shared_ptr<TestFeed>& feed,
                                absl::Time) { return session.Subscribe(after_seq, feed); });
  }
  std::shared_ptr<TestFeed> Play(const PlayRequest& request) {
    return Feed("s1", [request](Session& session, const std::shared_ptr<TestFeed>& feed,
                                absl::Time now) { return session.Play(request, feed, now); });
  }
  // A feed that `begin` gives to the session; if that fails, it ends with the error.
  std::shared_ptr<TestFeed> Feed(
      const std::string& id,
      std::function<absl::Status(Session&, const std::shared_ptr<TestFeed>&, absl::Time)> begin) {
    auto feed = std::make_shared<TestFeed>();
    table_->Run(
        id,
        [begin = std::move(begin), feed](Session& session, absl::Time now) {
          return begin(session, feed, now);
        },
        [feed](const absl::Status& status) {
          if (!status.ok()) feed->Fail(status);
        });
    return feed;
  }
  void Unsubscribe(const std::shared_ptr<TestFeed>& feed) {
    table_->Run(
        "s1",
        [feed](Session& session, absl::Time) {
          session.Unsubscribe(feed.get());
          return absl::OkStatus();
        },
        [](const absl::Status&) {});
  }
  std::string PathOf(const std::string& name, const std::string& id = "s1") {
    return absl::StrCat(folder_.path(), "/sessions/", id, "/", name);
  }

  FakeClock clock_;
  Disk disk_;
  TemporaryFolder folder_;
  SessionLimits limits_;
  QueueDefaults defaults_;
  int threads_ = 2;
  std::unique_ptr<SessionStorage> storage_;
  std::unique_ptr<SessionTable> table_;
};

}  // namespace callslip::tracker
