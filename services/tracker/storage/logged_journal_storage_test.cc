#include "tracker/storage/logged_journal_storage.h"

#include <sqlite3.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "model/mortal_journal_storage.h"
#include "tracker/storage/journal_storage_fixture.h"

namespace callslip::tracker {
namespace {

using ::testing::HasSubstr;
using Sync = LoggedJournalStorage::Sync;

class LoggedJournalStorageTest : public JournalStorageFixture {
 protected:
  absl::StatusOr<std::unique_ptr<LoggedJournalStorage>> Open(Sync sync = Sync::kNever) {
    return LoggedJournalStorage::Open(folder_.path(), sync);
  }

  // The result of a query of the database.
  static int64_t Number(const std::string& folder, const std::string& sql) {
    auto database = SqliteDatabase::OpenToRead(folder + "/commands.db");
    EXPECT_OK(database);
    return *database->Number(sql);
  }
};

TEST_F(LoggedJournalStorageTest, AppendedEntriesSurviveKill) {
  MortalJournalStorage storage;
  ASSERT_OK(storage.Restart());
  Append(*storage, {Queued(1), Queued(2)});
  Append(*storage, {Queued(3), Removed(2)});
  EXPECT_EQ(Number(storage.path(), "SELECT count(*) FROM overview"), 0);
  ASSERT_OK(storage.Restart());
  EXPECT_EQ(storage->position(), 2u);
  EXPECT_THAT(*Replay(*storage), ElementsAre(1, 3));
  ASSERT_OK_AND_ASSIGN(const auto summary, storage->Summarize());
  EXPECT_EQ(summary.last_sequence, 3u);
  EXPECT_EQ(summary.latest_nanos, int64_t{1'769'947'200} * 1'000'000'000);
  ASSERT_OK(storage.Restart());
  EXPECT_EQ(storage->position(), 2u);
  EXPECT_THAT(*Replay(*storage), ElementsAre(1, 3));
}

TEST_F(LoggedJournalStorageTest, StateInLogIsMergedWithCommandInDatabase) {
  MortalJournalStorage storage;
  ASSERT_OK(storage.Restart());
  const JournalEntry queued = Queued(1, R"({"x":1})");
  Append(*storage, {queued});
  ASSERT_OK(storage->WriteRows());
  Append(*storage, {Completed(queued, "42")});
  Append(*storage, {{1, CommandReceipt()}});
  ASSERT_OK(storage.Restart());
  ASSERT_OK_AND_ASSIGN(const auto entries, EntriesOf(*storage));
  ASSERT_THAT(entries, SizeIs(1));
  const auto& record = std::get<CommandRecord>(entries[0].change);
  EXPECT_EQ(*record.command->spec->params, R"({"x":1})");
  EXPECT_EQ(record.command->state, CommandState::kCompleted);
  EXPECT_EQ(*record.command->result, "42");
  EXPECT_TRUE(record.command->spec->is_read());
  EXPECT_THAT(record.leases, SizeIs(1));
}

TEST_F(LoggedJournalStorageTest, CloseMovesLogIntoDatabase) {
  {
    ASSERT_OK_AND_ASSIGN(const auto storage, Open(Sync::kAlways));
    Append(*storage, {Queued(1)});
    Append(*storage, {Queued(2)});
  }
  for (const char* name : JournalLog::kFileNames) {
    ASSERT_TRUE(std::filesystem::remove(folder_.path() + "/" + name));
  }
  ASSERT_OK_AND_ASSIGN(const auto storage, Open());
  EXPECT_EQ(storage->position(), 2u);
  EXPECT_THAT(*Replay(*storage), ElementsAre(1, 2));
}

TEST_F(LoggedJournalStorageTest, RemovedCommandLeavesOnlyItsTombstone) {
  ASSERT_OK_AND_ASSIGN(const auto storage, Open());
  const JournalEntry queued = Queued(1);
  Append(*storage, {queued});
  Append(*storage, {Completed(queued, "42")});
  Append(*storage, {Removed(1)});
  ASSERT_OK(storage->WriteRows());
  EXPECT_EQ(Number(folder_.path(), "SELECT count(*) FROM overview"), 0);
  EXPECT_EQ(Number(folder_.path(), "SELECT count(*) FROM entries"), 1);
}

TEST_F(LoggedJournalStorageTest, AppendAtWrongPositionIsRefused) {
  ASSERT_OK_AND_ASSIGN(const auto storage, Open());
  Append(*storage, {Queued(1)});
  const std::vector<JournalEntry> entries = {Queued(2)};
  EXPECT_EQ(storage->Append(0, entries).code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(storage->Append(2, entries).code(), StatusCode::kFailedPrecondition);
  Append(*storage, entries);
  ASSERT_OK(storage->WriteRows());
  EXPECT_THAT(*Replay(*storage), ElementsAre(1, 2));
}

TEST_F(LoggedJournalStorageTest, LongLogIsWrittenToDatabase) {
  ASSERT_OK_AND_ASSIGN(const auto storage, Open());
  const std::string params(200'000, 'p');
  uint64_t sequence = 0;
  while (Number(folder_.path(), "SELECT count(*) FROM overview") < 200) {
    // The storage refuses appends while the disk does not keep up.
    if (storage->Append(storage->position(), std::vector{Queued(sequence + 1, params)}).ok()) {
      ++sequence;
    }
    std::this_thread::yield();
  }
  uintmax_t bytes = 0;
  for (const char* name : JournalLog::kFileNames) {
    bytes += std::filesystem::file_size(folder_.path() + "/" + name);
  }
  EXPECT_LT(bytes, sequence * 200'000);
}

TEST_F(LoggedJournalStorageTest, UnwritableDatabaseBlocksAppendsUntilItRecovers) {
  MortalJournalStorage storage;
  ASSERT_OK(storage.Restart());
  const JournalEntry queued = Queued(1, std::string(1 << 20, 'x'));
  Append(*storage, {queued});
  storage->database().LimitPages(20);
  EXPECT_EQ(storage->WriteRows().code(), StatusCode::kUnavailable);
  const std::vector<JournalEntry> more = {Completed(queued, "42"), Queued(2)};
  const absl::Status refused = storage->Append(1, more);
  EXPECT_EQ(refused.code(), StatusCode::kUnavailable);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("commands.db can't be used"));
  storage->database().LimitPages(1'000'000);
  // It tries again by itself.
  while (!storage->Append(1, more).ok()) std::this_thread::yield();
  ASSERT_OK(storage.Restart());
  ASSERT_OK_AND_ASSIGN(const auto entries, EntriesOf(*storage));
  ASSERT_THAT(entries, SizeIs(2));
  EXPECT_EQ(*std::get<CommandRecord>(entries[0].change).command->result, "42");
}

// Blocks each writer of a row.
class SlowRows {
 public:
  explicit SlowRows(SqliteDatabase& database) {
    const auto wait = [](sqlite3_context* context, int, sqlite3_value**) {
      auto& rows = *static_cast<SlowRows*>(sqlite3_user_data(context));
      MutexLock lock(&rows.mutex_);
      while (rows.is_slow_) rows.changed_.Wait(&rows.mutex_);
    };
    sqlite3_create_function(database.get(), "wait", 0, SQLITE_UTF8, this, wait, nullptr, nullptr);
    EXPECT_OK(
        database.Run("CREATE TEMP TRIGGER slow BEFORE INSERT ON entries BEGIN SELECT wait(); END"));
  }
  void End() {
    MutexLock lock(&mutex_);
    is_slow_ = false;
    changed_.NotifyAll();
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  bool is_slow_ ABSL_GUARDED_BY(mutex_) = true;
};

TEST_F(LoggedJournalStorageTest, HasNoRoomWhileRowsFallBehind) {
  ASSERT_OK_AND_ASSIGN(const auto storage,
                       LoggedJournalStorage::Open(folder_.path(), Sync::kNever,
                                                  {.is_long = 1000, .is_longest = 16'000}));
  SlowRows rows(storage->database().database());
  const std::string params(900, 'p');
  uint64_t sequence = 0;
  while (storage->HasRoom()) Append(*storage, {Queued(++sequence, params)});
  EXPECT_GE(sequence, 16u);
  const std::vector<JournalEntry> more = {Queued(sequence + 1, params)};
  const absl::Status refused = storage->Append(storage->position(), more);
  EXPECT_EQ(refused.code(), StatusCode::kUnavailable);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("slower than what it is given"));
  rows.End();
  // By itself.
  while (!storage->HasRoom()) std::this_thread::yield();
  Append(*storage, more);
  ASSERT_OK(storage->WriteRows());
  EXPECT_THAT(*Replay(*storage), SizeIs(sequence + 1));
}

TEST_F(LoggedJournalStorageTest, InvalidLogIsReportedAsDamage) {
  {
    ASSERT_OK_AND_ASSIGN(JournalLog log, JournalLog::Open(folder_.path()));
    std::string record(JournalLog::kHeadBytes, 0);
    record += "no entries";
    ASSERT_OK(log.Append(0, record));
  }
  const absl::Status status = Open().status();
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("append 0 of it makes no sense"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("move commands-0.log"));
}

// As with a database from a backup: the log begins after a gap.
TEST_F(LoggedJournalStorageTest, LogAfterGapIsDamageOrMovedAside) {
  const auto append_five = [this] {
    ASSERT_OK_AND_ASSIGN(JournalLog log, JournalLog::Open(folder_.path()));
    std::string record(JournalLog::kHeadBytes, 0);
    const JournalEntry entry = Queued(1);
    ASSERT_TRUE(JournalEncoder().Encode({&entry, 1}, record));
    ASSERT_OK(log.Append(5, record));
  };
  append_five();
  const absl::Status status = Open(Sync::kAlways).status();
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("append 0 is missing"));
  const std::string aside = folder_.path() + "/commands-0.log.damaged";
  ASSERT_OK(Open(Sync::kNever));
  EXPECT_TRUE(std::filesystem::exists(aside));
  // A second log does not replace it.
  append_five();
  EXPECT_FALSE(std::filesystem::exists(aside + "-2"));
  ASSERT_OK_AND_ASSIGN(const auto storage, Open(Sync::kNever));
  EXPECT_TRUE(std::filesystem::exists(aside));
  EXPECT_TRUE(std::filesystem::exists(aside + "-2"));
  EXPECT_THAT(*Replay(*storage), IsEmpty());
  Append(*storage, {Queued(1)});
}

// The process was killed between the commit of the rows and the end of the log that holds the same.
TEST_F(LoggedJournalStorageTest, EntryInLogAndDatabaseCountsOnce) {
  MortalJournalStorage storage;
  ASSERT_OK(storage.Restart());
  const JournalEntry queued = Queued(1);
  Append(*storage, {queued});
  Append(*storage, {Completed(queued, "42")});
  ASSERT_OK(storage->WriteRows());
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK(storage.Restart());
    EXPECT_EQ(storage->position(), 2u);
    EXPECT_THAT(*Replay(*storage), ElementsAre(1));
  }
  Append(*storage, {Queued(2)});
  ASSERT_OK(storage.Restart());
  EXPECT_EQ(storage->position(), 3u);
  EXPECT_THAT(*Replay(*storage), ElementsAre(1, 2));
}

// The log may be the only copy of entries that the database does not have.
TEST_F(LoggedJournalStorageTest, LogIsRetainedUntilFirstAppend) {
  MortalJournalStorage storage;
  ASSERT_OK(storage.Restart());
  Append(*storage, {Queued(1)});
  ASSERT_OK(storage.Restart());
  const std::string log = storage.path() + "/commands-0.log";
  EXPECT_GT(std::filesystem::file_size(log), 100u);
  const auto size = std::filesystem::file_size(log);
  Append(*storage, {Removed(1)});
  EXPECT_LT(std::filesystem::file_size(log), size);
}

TEST_F(LoggedJournalStorageTest, InspectionIncludesLog) {
  ASSERT_OK_AND_ASSIGN(const auto storage, Open());
  const JournalEntry queued = Queued(1);
  Append(*storage, {queued, Queued(2)});
  ASSERT_OK(storage->WriteRows());
  Append(*storage, {Completed(queued, "42"), Queued(3)});
  absl::Status status;
  EXPECT_THAT(Inspect(folder_.path(), status),
              HasSubstr("Commands: 3, of which 1 completed, 2 queued; 0 removed of late"));
  EXPECT_OK(status);
  EXPECT_EQ(Number(folder_.path(), "SELECT count(*) FROM overview"), 2) << "it changed something";
}

}  // namespace
}  // namespace callslip::tracker
