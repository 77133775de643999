// The contract of every journal storage.
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/postgres_server.h"
#include "tracker/postgres/cell.h"
#include "tracker/postgres/postgres_journal_storage.h"
#include "tracker/storage/journal_storage_fixture.h"
#include "tracker/storage/logged_journal_storage.h"
#include "tracker/storage/sqlite_journal_storage.h"

namespace callslip::tracker {
namespace {

using Opened = absl::StatusOr<std::unique_ptr<JournalStorage>>;

// The place of one kind of storage. When it is opened again, it has what was stored.
class Place {
 public:
  virtual ~Place() = default;
  virtual Opened Open() = 0;
};

class SqlitePlace final : public Place {
 public:
  Opened Open() override {
    return SqliteJournalStorage::Open(folder_.path() + "/" + SqliteJournalStorage::kFileName);
  }

 private:
  TemporaryFolder folder_;
};

class LoggedPlace final : public Place {
 public:
  Opened Open() override {
    return LoggedJournalStorage::Open(folder_.path(), LoggedJournalStorage::Sync::kAlways);
  }

 private:
  TemporaryFolder folder_;
};

// A cell. Each Open() takes it over.
class PostgresPlace final : public Place {
 public:
  Opened Open() override {
    const auto connection = PostgresConnection::Open(url_);
    if (!connection.ok()) return connection.status();
    const absl::Status prepared = PreparePostgres(**connection, {.standby = false});
    if (!prepared.ok()) return prepared;
    PostgresCell cell(url_);
    const auto seen = cell.Read();
    if (!seen.ok()) return seen.status();
    const auto epoch = cell.Take(*seen, "test");
    if (!epoch.ok()) return epoch.status();
    return PostgresJournalStorage::Open(url_, *epoch);
  }

 private:
  const std::string url_ = PostgresServer::Shared().NewSchema();
};

struct Kind {
  const char* name;
  std::function<std::unique_ptr<Place>()> make;
};

class JournalStorageContract : public JournalStorageFixture,
                               public testing::WithParamInterface<Kind> {
 protected:
  // Opens it anew, as after a restart.
  void Reopen() {
    storage_ = nullptr;
    auto opened = place_->Open();
    ASSERT_OK(opened);
    storage_ = *std::move(opened);
  }
  void SetUp() override { Reopen(); }

  static JournalEntry Drawn(uint64_t sequence, std::vector<DrawingReceipt> receipts = {}) {
    const bool is_first = receipts.empty();
    return {sequence,
            DrawingRecord{.drawing = std::make_shared<const Drawing>(
                              Drawing{.target = "browser",
                                      .content = Bytes("1"),
                                      .sequence = sequence,
                                      .append_time = absl::FromUnixSeconds(1'769'947'200)}),
                          .drawing_id = "d",
                          .receipts = std::move(receipts)},
            is_first};
  }

  const std::unique_ptr<Place> place_ = GetParam().make();
  std::unique_ptr<JournalStorage> storage_;
};

TEST_P(JournalStorageContract, NewStorageIsEmpty) {
  EXPECT_EQ(storage_->position(), 0u);
  EXPECT_THAT(*EntriesOf(*storage_), IsEmpty());
  EXPECT_EQ(storage_->Summarize()->last_sequence, 0u);
}

TEST_P(JournalStorageContract, AppendedEntriesAreReplayedInRegistrationOrder) {
  Append(*storage_, {Queued(3), Queued(1)});
  Append(*storage_, {Queued(2)});
  EXPECT_EQ(storage_->position(), 2u);
  Reopen();
  EXPECT_EQ(storage_->position(), 2u);
  EXPECT_THAT(*Replay(*storage_), ElementsAre(1, 2, 3));
  ASSERT_OK_AND_ASSIGN(const auto summary, storage_->Summarize());
  EXPECT_EQ(summary.last_sequence, 3u);
  EXPECT_EQ(summary.latest_nanos, int64_t{1'769'947'200} * 1'000'000'000);
}

TEST_P(JournalStorageContract, NewestRecordKeepsReceiptAndImmutablePart) {
  const JournalEntry queued = Queued(1, R"({"x":1})");
  Append(*storage_, {queued});
  Append(*storage_, {Completed(queued, "1")});
  Append(*storage_, {Completed(queued, std::string("4\0002", 3))});
  Append(*storage_, {{1, CommandReceipt()}});
  Reopen();
  ASSERT_OK_AND_ASSIGN(const auto entries, EntriesOf(*storage_));
  ASSERT_THAT(entries, SizeIs(1));
  const auto& record = std::get<CommandRecord>(entries[0].change);
  EXPECT_EQ(*record.command->spec->params, R"({"x":1})");
  EXPECT_EQ(record.command->spec->client_id(), "agent");
  EXPECT_EQ(record.command->state, CommandState::kCompleted);
  EXPECT_EQ(*record.command->result, std::string("4\0002", 3));
  EXPECT_TRUE(record.command->spec->is_read());
  EXPECT_EQ(record.worker, "worker");
  EXPECT_THAT(record.leases, SizeIs(1));
}

TEST_P(JournalStorageContract, OneAppendCanChangeSequenceRepeatedly) {
  const JournalEntry queued = Queued(1);
  Append(*storage_, {queued, Completed(queued, "1"), Removed(1), Queued(2)});
  Reopen();
  EXPECT_THAT(*Replay(*storage_), ElementsAre(2));
  EXPECT_THAT(*EntriesOf(*storage_), SizeIs(2));
}

TEST_P(JournalStorageContract, TombstonesAreOrderedByTimeAndExpire) {
  Append(*storage_, {Queued(1), Queued(2), Queued(3)});
  Append(*storage_, {Removed(2, 2000), Removed(1, 2500)});
  Reopen();
  ASSERT_OK_AND_ASSIGN(auto entries, EntriesOf(*storage_));
  ASSERT_THAT(entries, SizeIs(3));
  EXPECT_EQ(entries[1].sequence, 2u);
  EXPECT_EQ(entries[2].sequence, 1u);
  // The tombstone of the first command ends at 3000.
  Append(*storage_, {Removed(3, 3000)});
  Reopen();
  ASSERT_OK_AND_ASSIGN(entries, EntriesOf(*storage_));
  ASSERT_THAT(entries, SizeIs(2));
  EXPECT_EQ(entries[0].sequence, 1u);
  EXPECT_EQ(std::get<CommandRemoval>(entries[1].change).client_id, "agent");
}

TEST_P(JournalStorageContract, DrawingsAndAnswersComeAfterCommands) {
  Append(*storage_, {Drawn(2), Queued(3), Drawn(4)});
  Append(*storage_, {{1, DrawingAnswer{.target = "browser", .drawing_id = "d"}},
                     Drawn(2, {DrawingReceipt{.client_id = "a"}}),
                     {4, DrawingRemoval()}});
  Reopen();
  ASSERT_OK_AND_ASSIGN(const auto entries, EntriesOf(*storage_));
  ASSERT_THAT(entries, SizeIs(3));
  EXPECT_EQ(entries[0].sequence, 3u);
  EXPECT_EQ(std::get<DrawingRecord>(entries[1].change).receipts.front().client_id, "a");
  EXPECT_EQ(*std::get<DrawingRecord>(entries[1].change).drawing->content, "1");
  EXPECT_EQ(std::get<DrawingAnswer>(entries[2].change).drawing_id, "d");
}

TEST_P(JournalStorageContract, AppendAtWrongPositionIsRefused) {
  Append(*storage_, {Queued(1)});
  const std::vector<JournalEntry> entries = {Queued(2)};
  EXPECT_EQ(storage_->Append(0, entries).code(), absl::StatusCode::kFailedPrecondition);
  Reopen();
  EXPECT_THAT(*Replay(*storage_), ElementsAre(1));
}

TEST_P(JournalStorageContract, LargeAppendsAreStoredCompletely) {
  std::vector<JournalEntry> entries;
  for (uint64_t i = 1; i <= 40; ++i) entries.push_back(Queued(i, std::string(1'000'000, 'x')));
  Append(*storage_, entries);
  for (uint64_t i = 41; i <= 3000; ++i) entries.push_back(Queued(i));
  Append(*storage_, {entries.begin() + 40, entries.end()});
  Reopen();
  EXPECT_THAT(*Replay(*storage_), SizeIs(3000));
}

// Also in the columns for people.
TEST_P(JournalStorageContract, ArbitraryBytesAreStored) {
  const std::string odd("a\0\xFF\xC0\x80\xED\xA0\x80\xF4\x90\x80\x80 \xE2\x82\xAC", 17);
  CommandRequest request;
  request.client_id = odd;
  request.target = odd;
  request.type = odd;
  request.params = Bytes(odd);
  const absl::Time now = absl::FromUnixSeconds(1'769'947'200);
  auto command = std::make_shared<CommandSnapshot>();
  command->spec = std::make_shared<const CommandSpec>(
      CommandId::New(now, false, 3), request, now, 1, std::make_shared<const CommandDeadlines>());
  command->trace.push_back(
      {absl::ToUnixNanos(now), TraceEntry::Stage::kQueued, TraceEntry::Source::kClient});
  Append(*storage_, {{1, CommandRecord{.command = std::move(command)}, /*is_first=*/true}});
  Reopen();
  ASSERT_OK_AND_ASSIGN(const auto entries, EntriesOf(*storage_));
  ASSERT_THAT(entries, SizeIs(1));
  const CommandSpec& spec = *std::get<CommandRecord>(entries[0].change).command->spec;
  EXPECT_EQ(spec.client_id(), odd);
  EXPECT_EQ(spec.target(), odd);
  EXPECT_EQ(*spec.params, odd);
}

TEST_P(JournalStorageContract, RestartTimeAloneIsAnAppend) {
  Append(*storage_, {{0, Restart{.time = absl::FromUnixSeconds(1'800'000'000)}}});
  Reopen();
  EXPECT_EQ(storage_->position(), 1u);
  EXPECT_EQ(storage_->Summarize()->latest_nanos, int64_t{1'800'000'000} * 1'000'000'000);
}

INSTANTIATE_TEST_SUITE_P(All, JournalStorageContract,
                         testing::Values(Kind{"Sqlite", std::make_unique<SqlitePlace>},
                                         Kind{"Logged", std::make_unique<LoggedPlace>},
                                         Kind{"Postgres", std::make_unique<PostgresPlace>}),
                         [](const auto& kind) { return kind.param.name; });

// Promises that only a cell makes.
class PostgresJournalStorageTest : public JournalStorageFixture {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(const auto connection, PostgresConnection::Open(url_));
    ASSERT_OK(PreparePostgres(*connection, {.standby = false}));
  }
  absl::StatusOr<uint64_t> Take() {
    const auto seen = cell_.Read();
    if (!seen.ok()) return seen.status();
    return cell_.Take(*seen, "test");
  }

  PostgresServer& server_ = PostgresServer::Shared();
  const std::string url_ = server_.NewSchema();
  PostgresCell cell_{url_};
};

TEST_F(PostgresJournalStorageTest, EarlierOwnerCannotWrite) {
  ASSERT_OK_AND_ASSIGN(const uint64_t first, Take());
  ASSERT_OK_AND_ASSIGN(const auto before, PostgresJournalStorage::Open(url_, first));
  Append(*before, {Queued(1)});
  ASSERT_OK_AND_ASSIGN(const uint64_t second, Take());
  EXPECT_EQ(second, first + 1);
  const std::vector<JournalEntry> entries = {Queued(2)};
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(before->Append(before->position(), entries).code(),
              absl::StatusCode::kFailedPrecondition);
  }
  EXPECT_EQ(cell_.Beat(first).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(cell_.Release(first).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(PostgresJournalStorage::Open(url_, first).status().code(),
            absl::StatusCode::kFailedPrecondition);
  ASSERT_OK_AND_ASSIGN(const auto after, PostgresJournalStorage::Open(url_, second));
  Append(*after, {Queued(3)});
  EXPECT_THAT(*Replay(*after), ElementsAre(1, 3));
}

TEST_F(PostgresJournalStorageTest, StorageReconnectsAfterServerRestart) {
  ASSERT_OK_AND_ASSIGN(const uint64_t epoch, Take());
  ASSERT_OK_AND_ASSIGN(const auto storage, PostgresJournalStorage::Open(url_, epoch));
  Append(*storage, {Queued(1)});
  server_.Stop();
  const std::vector<JournalEntry> entries = {Queued(2)};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(storage->Append(storage->position(), entries).code(), absl::StatusCode::kUnavailable);
  }
  server_.Start();
  Append(*storage, {Queued(2)});
  EXPECT_THAT(*Replay(*storage), ElementsAre(1, 2));
}

// As with a commit that waits for a missing standby: no statements pile up behind it.
TEST_F(PostgresJournalStorageTest, LockedRowIsNotAwaitedForever) {
  ASSERT_OK_AND_ASSIGN(const uint64_t epoch, Take());
  ASSERT_OK_AND_ASSIGN(const auto holder, PostgresConnection::Open(url_));
  ASSERT_OK(holder->Run("SET idle_in_transaction_session_timeout = 0"));
  ASSERT_OK(holder->Run("BEGIN; UPDATE callslip_cell SET count = count"));
  EXPECT_EQ(cell_.Beat(epoch).code(), absl::StatusCode::kAborted);
  EXPECT_EQ(cell_.Beat(epoch).code(), absl::StatusCode::kAborted);
  ASSERT_OK_AND_ASSIGN(const auto waiting,
                       holder->Query("SELECT count(*) FROM pg_locks WHERE NOT granted"));
  EXPECT_EQ(waiting.Int(0, 0), 0);
  ASSERT_OK(holder->Run("ROLLBACK"));
  EXPECT_OK(cell_.Beat(epoch));
}

// The answer was lost: the number of appends is higher than the storage knows.
TEST_F(PostgresJournalStorageTest, OwnAppendWithLostAnswerIsRecognized) {
  ASSERT_OK_AND_ASSIGN(const uint64_t epoch, Take());
  ASSERT_OK_AND_ASSIGN(const auto storage, PostgresJournalStorage::Open(url_, epoch));
  ASSERT_OK_AND_ASSIGN(const auto unnoticed, PostgresJournalStorage::Open(url_, epoch));
  Append(*unnoticed, {Queued(1)});
  server_.Stop();
  server_.Start();
  const std::vector<JournalEntry> entries = {Queued(1), Queued(2)};
  absl::Status appended = storage->Append(storage->position(), entries);
  if (!appended.ok()) appended = storage->Append(storage->position(), entries);
  EXPECT_OK(appended);
  EXPECT_EQ(storage->position(), 2u);
  EXPECT_THAT(*Replay(*storage), ElementsAre(1, 2));
}

// An append that this tracker has abandoned was executed late.
TEST_F(PostgresJournalStorageTest, LateAppendDelaysOnlyOneAppend) {
  ASSERT_OK_AND_ASSIGN(const uint64_t epoch, Take());
  ASSERT_OK_AND_ASSIGN(const auto storage, PostgresJournalStorage::Open(url_, epoch));
  ASSERT_OK_AND_ASSIGN(const auto late, PostgresJournalStorage::Open(url_, epoch));
  Append(*late, {Queued(1)});
  const std::vector<JournalEntry> entries = {Queued(1), Queued(2)};
  EXPECT_EQ(storage->Append(storage->position(), entries).code(), absl::StatusCode::kUnavailable);
  EXPECT_OK(storage->Append(storage->position(), entries));
  EXPECT_THAT(*Replay(*storage), ElementsAre(1, 2));
}

// An append must not take as long as all removals that have accumulated.
TEST_F(PostgresJournalStorageTest, AppendDropsAtMost1000Tombstones) {
  ASSERT_OK_AND_ASSIGN(const uint64_t epoch, Take());
  ASSERT_OK_AND_ASSIGN(const auto storage, PostgresJournalStorage::Open(url_, epoch));
  std::vector<JournalEntry> removals;
  for (uint64_t i = 1; i <= 1500; ++i) removals.push_back(Removed(i, 1000));
  Append(*storage, removals);
  Append(*storage, {Removed(2000, 3000)});
  EXPECT_THAT(*EntriesOf(*storage), SizeIs(501));
  Append(*storage, {Removed(2001, 3000)});
  EXPECT_THAT(*EntriesOf(*storage), SizeIs(2));
}

TEST_F(PostgresJournalStorageTest, TombstonesBeyondLimitAreDroppedOldestFirst) {
  ASSERT_OK_AND_ASSIGN(const uint64_t epoch, Take());
  ASSERT_OK_AND_ASSIGN(const auto storage,
                       PostgresJournalStorage::Open(url_, epoch, kPostgresFormat, 2));
  Append(*storage, {Removed(1, 1000), Removed(2, 1002), Removed(3, 1001)});
  ASSERT_OK_AND_ASSIGN(const auto entries, EntriesOf(*storage));
  ASSERT_THAT(entries, SizeIs(2));
  EXPECT_EQ(entries[0].sequence, 3u);
  EXPECT_EQ(entries[1].sequence, 2u);
}

// The drops are a statement of their own: another tracker may take over between the append and
// them.
TEST_F(PostgresJournalStorageTest, EarlierOwnerDropsNoTombstones) {
  ASSERT_OK_AND_ASSIGN(const uint64_t epoch, Take());
  ASSERT_OK_AND_ASSIGN(const auto storage,
                       PostgresJournalStorage::Open(url_, epoch, kPostgresFormat, 2));
  ASSERT_OK_AND_ASSIGN(const auto connection, PostgresConnection::Open(url_));
  ASSERT_OK(
      connection->Run("CREATE FUNCTION take() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN "
                      "UPDATE callslip_cell SET epoch = epoch + 1; RETURN NULL; END'; "
                      "CREATE TRIGGER takes AFTER INSERT ON callslip_entries FOR EACH STATEMENT "
                      "EXECUTE FUNCTION take()"));
  Append(*storage, {Removed(1), Removed(2), Removed(3)});
  ASSERT_OK(connection->Run("DROP TRIGGER takes ON callslip_entries"));
  ASSERT_OK_AND_ASSIGN(const uint64_t after, Take());
  EXPECT_GT(after, epoch + 1);
  ASSERT_OK_AND_ASSIGN(const auto next, PostgresJournalStorage::Open(url_, after));
  EXPECT_THAT(*EntriesOf(*next), SizeIs(3));
}

// The server ends the transaction of a tracker that has vanished.
TEST_F(PostgresJournalStorageTest, AbandonedTransactionsTimeOut) {
  ASSERT_OK_AND_ASSIGN(const auto connection, PostgresConnection::Open(url_));
  for (const auto& [name, value] : std::vector<std::pair<const char*, const char*>>{
           {"idle_in_transaction_session_timeout", "2s"},
           {"statement_timeout", "0"},
           {"lock_timeout", "4s"}}) {
    ASSERT_OK_AND_ASSIGN(
        const PostgresResult set,
        connection->Query("SELECT current_setting($1::text)", PostgresParameters().AddText(name)));
    EXPECT_EQ(set.Text(0, 0), value) << name;
  }
}

// An owner that can't log in may still be the owner; only another epoch shows that it is not.
TEST_F(PostgresJournalStorageTest, RefusedLoginDoesNotCountAsTakeover) {
  PostgresCell stranger(url_ + "&user=stranger");
  EXPECT_EQ(stranger.Beat(1).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(stranger.Read().status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(PostgresJournalStorageTest, CellOfNewerFormatIsNotTaken) {
  ASSERT_OK_AND_ASSIGN(const auto connection, PostgresConnection::Open(url_));
  ASSERT_OK(connection->Run("UPDATE callslip_cell SET format = 2"));
  EXPECT_EQ(Take().status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(PostgresJournalStorageTest, TablesOfOtherSchemaInPathBelongToOtherCell) {
  const std::string path = server_.last_schema();
  server_.NewSchema();
  const std::string url = server_.Url(server_.last_schema() + "," + path);
  ASSERT_OK_AND_ASSIGN(const auto connection, PostgresConnection::Open(url));
  ASSERT_OK(PreparePostgres(*connection, {.standby = false}));
  ASSERT_OK(Take());
  PostgresCell other(url);
  EXPECT_EQ(other.Read()->epoch, 0u);
}

// An administrator may cancel slow statements. The commit is stored on this server then, and it is
// not known whether on another one.
TEST_F(PostgresJournalStorageTest, CommitCancelledWhileWaitingForStandbyIsUncertain) {
  ASSERT_OK_AND_ASSIGN(const uint64_t epoch, Take());
  ASSERT_OK_AND_ASSIGN(const auto storage, PostgresJournalStorage::Open(url_, epoch));
  ASSERT_OK_AND_ASSIGN(const auto admin, PostgresConnection::Open(url_));
  ASSERT_OK(admin->Run("ALTER SYSTEM SET synchronous_standby_names = 'nobody'"));
  ASSERT_OK(admin->Run("SELECT pg_reload_conf()"));
  std::atomic<bool> is_over = false;
  std::thread canceller([&] {
    // Statements that change nothing do not wait for a copy.
    while (!is_over) {
      const auto cancelled = admin->Query(
          "SELECT count(*) FILTER (WHERE pg_cancel_backend(pid)) FROM pg_stat_activity WHERE "
          "wait_event = 'SyncRep'");
      EXPECT_OK(cancelled);
      if (!cancelled.ok()) break;
    }
  });
  const std::vector<JournalEntry> entries = {Queued(1)};
  // The server applies the setting a little later.
  absl::Status appended;
  for (int tries = 0; appended.ok() && tries < 10'000; ++tries) {
    appended = storage->Append(storage->position(), entries);
  }
  EXPECT_EQ(appended.code(), absl::StatusCode::kUnavailable);
  is_over = true;
  canceller.join();
  ASSERT_OK(admin->Run("ALTER SYSTEM RESET synchronous_standby_names"));
  ASSERT_OK(admin->Run("SELECT pg_reload_conf()"));
  absl::Status again = storage->Append(storage->position(), entries);
  if (!again.ok()) again = storage->Append(storage->position(), entries);
  EXPECT_OK(again);
}

TEST_F(PostgresJournalStorageTest, DamagedRowIsNamed) {
  ASSERT_OK_AND_ASSIGN(const uint64_t epoch, Take());
  ASSERT_OK_AND_ASSIGN(const auto storage, PostgresJournalStorage::Open(url_, epoch));
  Append(*storage, {Queued(1)});
  ASSERT_OK_AND_ASSIGN(const auto connection, PostgresConnection::Open(url_));
  ASSERT_OK(connection->Run("UPDATE callslip_entries SET record = record || '\\x00'::bytea"));
  const auto replayed = EntriesOf(*storage);
  EXPECT_EQ(replayed.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(replayed.status().message()), testing::HasSubstr("row 4"));
}

// Each requirement, with a database that does not meet it.
TEST_F(PostgresJournalStorageTest, UnsuitableDatabasesAreRefused) {
  const auto refusal = [&](const std::string& parameters, bool standby = false) {
    const auto connection = PostgresConnection::Open(url_ + parameters);
    const absl::Status refused =
        connection.ok() ? PreparePostgres(**connection, {.standby = standby}) : connection.status();
    EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition) << refused;
    return std::string(refused.message());
  };
  EXPECT_THAT(refusal("", true), testing::HasSubstr("--storage-without-standby"));
  EXPECT_THAT(refusal("&dbname=missing"), testing::HasSubstr("does not exist"));
  EXPECT_THAT(refusal("&user=stranger"), testing::HasSubstr("stranger"));
  ASSERT_OK_AND_ASSIGN(const auto connection, PostgresConnection::Open(url_));
  ASSERT_OK(connection->Run("UPDATE callslip_cell SET format = 99"));
  EXPECT_THAT(refusal(""), testing::HasSubstr("newer tracker"));
  ASSERT_OK(
      connection->Run("UPDATE callslip_cell SET format = 1; CREATE ROLE reader LOGIN; "
                      "GRANT USAGE ON SCHEMA " +
                      server_.last_schema() + " TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA " +
                      server_.last_schema() + " TO reader"));
  EXPECT_THAT(refusal("&user=reader"), testing::HasSubstr("insert, update and delete"));
}

}  // namespace
}  // namespace callslip::tracker
