#include "tracker/storage/sqlite_journal_storage.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tracker/storage/journal_storage_fixture.h"

namespace callslip::tracker {
namespace {

using ::testing::HasSubstr;

class SqliteJournalStorageTest : public JournalStorageFixture {
 protected:
  std::string Path() const { return folder_.path() + "/commands.db"; }

  absl::StatusOr<std::unique_ptr<SqliteJournalStorage>> Open() {
    return SqliteJournalStorage::Open(Path());
  }

  // Writes `count` commands and closes the file as a checkpoint leaves it.
  void Fill(int count, const std::string& params = "{}") {
    ASSERT_OK_AND_ASSIGN(const auto storage, Open());
    std::vector<JournalEntry> entries;
    for (int i = 1; i <= count; ++i) entries.push_back(Queued(static_cast<uint64_t>(i), params));
    Append(*storage, entries);
  }

  void Overwrite(std::streamoff from, size_t bytes, char with) {
    std::fstream file(Path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(from);
    file << std::string(bytes, with);
  }

  // Opening or replaying fails, and says what to do.
  void ExpectDamaged() {
    auto storage = Open();
    absl::Status status = storage.status();
    if (status.ok()) status = Replay(**storage).status();
    EXPECT_EQ(status.code(), StatusCode::kDataLoss) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(Path()));
    EXPECT_THAT(std::string(status.message()), HasSubstr("move it away"));
  }
};

TEST_F(SqliteJournalStorageTest, AppendedEntriesAreReplayed) {
  Fill(3);
  ASSERT_OK_AND_ASSIGN(const auto storage, Open());
  EXPECT_EQ(storage->position(), 1u);
  EXPECT_THAT(*Replay(*storage), ElementsAre(1, 2, 3));
  Append(*storage, {Removed(2), Queued(4)});
  ASSERT_OK_AND_ASSIGN(const auto again, Open());
  EXPECT_THAT(*Replay(*again), ElementsAre(1, 3, 4));
}

TEST_F(SqliteJournalStorageTest, NothingIsLostWhenProcessEndsWithoutClosing) {
  // As it lies on the disk while the tracker runs.
  ASSERT_OK_AND_ASSIGN(const auto running, Open());
  Append(*running, {Queued(1), Queued(2)});
  const TemporaryFolder copy;
  std::filesystem::copy(folder_.path(), copy.path(), std::filesystem::copy_options::recursive);
  ASSERT_OK_AND_ASSIGN(const auto storage,
                       SqliteJournalStorage::Open(copy.path() + "/commands.db"));
  EXPECT_THAT(*Replay(*storage), ElementsAre(1, 2));
}

// The last append was not written completely.
TEST_F(SqliteJournalStorageTest, TornLogKeepsEarlierAppends) {
  ASSERT_OK_AND_ASSIGN(const auto running, Open());
  Append(*running, {Queued(1)});
  Append(*running, {Queued(2)});
  const TemporaryFolder copy;
  std::filesystem::copy(folder_.path(), copy.path(), std::filesystem::copy_options::recursive);
  const std::string log = copy.path() + "/commands.db-wal";
  std::filesystem::resize_file(log, std::filesystem::file_size(log) - 100);
  ASSERT_OK_AND_ASSIGN(const auto storage,
                       SqliteJournalStorage::Open(copy.path() + "/commands.db"));
  EXPECT_THAT(*Replay(*storage), ElementsAre(1));
  EXPECT_EQ(storage->position(), 1u);
}

TEST_F(SqliteJournalStorageTest, SecondWriterIsRefused) {
  ASSERT_OK_AND_ASSIGN(const auto first, Open());
  ASSERT_OK_AND_ASSIGN(const auto second, Open());
  Append(*first, {Queued(1)});
  const std::vector<JournalEntry> entries = {Queued(1)};
  EXPECT_EQ(second->Append(second->position(), entries).code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(second->Append(second->position(), entries).code(), StatusCode::kFailedPrecondition);
  Append(*first, {Queued(2)});
  EXPECT_THAT(*Replay(*second), ElementsAre(1, 2));
}

// Another program that closes the database takes itself for the last one, unless it finds the lock
// of the storage. It would then remove the log.
TEST_F(SqliteJournalStorageTest, OtherProgramsSeeItsLock) {
  ASSERT_OK_AND_ASSIGN(const auto storage, Open());
  Append(*storage, {Queued(1)});
  const std::string path = Path();
  const pid_t other = fork();
  if (other == 0) {
    // All programs that have the database open hold a shared lock there; see SQLite's file format.
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = 0x40000002;
    lock.l_len = 510;
    const int file = open(path.c_str(), O_RDWR);
    const bool found = fcntl(file, F_GETLK, &lock) == 0 && lock.l_type == F_RDLCK;
    _exit(found ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(other, &status, 0), other);
  EXPECT_EQ(status, 0);
}

TEST_F(SqliteJournalStorageTest, AppendIsAllOrNothing) {
  ASSERT_OK_AND_ASSIGN(const auto storage, Open());
  ASSERT_OK_AND_ASSIGN(SqliteDatabase other, SqliteDatabase::Open(Path()));
  ASSERT_OK(
      other.Run("CREATE TRIGGER full BEFORE INSERT ON entries WHEN new.key = 8 BEGIN "
                "SELECT raise(ABORT, 'no room'); END"));
  const std::vector<JournalEntry> entries = {Queued(1), Queued(2), Removed(7)};
  const absl::Status refused = storage->Append(0, entries);
  EXPECT_EQ(refused.code(), StatusCode::kUnavailable);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("no room"));
  EXPECT_THAT(*Replay(*storage), IsEmpty());
  ASSERT_OK(other.Run("DROP TRIGGER full"));
  ASSERT_OK(storage->Append(0, entries));
  EXPECT_THAT(*Replay(*storage), ElementsAre(1, 2));
}

TEST_F(SqliteJournalStorageTest, FullDiskIsUnavailableUntilThereIsRoom) {
  ASSERT_OK_AND_ASSIGN(const auto storage, Open());
  Append(*storage, {Queued(1)});
  const std::vector<JournalEntry> large = {Queued(2, std::string(1 << 20, 'x'))};
  storage->LimitPages(10);
  EXPECT_EQ(storage->Append(storage->position(), large).code(), StatusCode::kUnavailable);
  storage->LimitPages(1'000'000);
  ASSERT_OK(storage->Append(storage->position(), large));
  EXPECT_THAT(*Replay(*storage), ElementsAre(1, 2));
}

TEST_F(SqliteJournalStorageTest, UnknownFormatIsRefused) {
  Fill(1);
  for (const auto& [format, why] :
       {std::pair("99", "newer version"), std::pair("3", "move the files away")}) {
    {
      ASSERT_OK_AND_ASSIGN(SqliteDatabase other, SqliteDatabase::Open(Path()));
      ASSERT_OK(other.Run(std::string("PRAGMA user_version = ") + format));
    }
    const auto storage = Open();
    EXPECT_EQ(storage.status().code(), StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(storage.status().message()), HasSubstr(why));
  }
}

TEST_F(SqliteJournalStorageTest, DatabaseOfAnotherProgramIsRefused) {
  {
    ASSERT_OK_AND_ASSIGN(SqliteDatabase other, SqliteDatabase::Open(Path()));
    ASSERT_OK(other.Run("CREATE TABLE songs (title TEXT)"));
  }
  EXPECT_EQ(Open().status().code(), StatusCode::kFailedPrecondition);
}

TEST_F(SqliteJournalStorageTest, GarbageIsReportedAsDamage) {
  std::ofstream(Path()) << std::string(10'000, 'g');
  ExpectDamaged();
}

TEST_F(SqliteJournalStorageTest, EveryTornPageIsDetected) {
  Fill(200, std::string(300, 'p'));
  const auto size = static_cast<std::streamoff>(std::filesystem::file_size(Path()));
  constexpr std::streamoff kPage = 4096;
  std::string whole(static_cast<size_t>(size), 0);
  std::ifstream(Path(), std::ios::binary).read(whole.data(), size);
  int unnoticed = 0;
  for (std::streamoff page = 0; page < size; page += kPage) {
    Overwrite(page, kPage, '\xa5');
    const auto storage = Open();
    if (storage.ok() && Replay(**storage).ok()) ++unnoticed;
    std::ofstream(Path(), std::ios::binary) << whole;
  }
  // The unused tree of tombstones has a page as well, which is read.
  EXPECT_EQ(unnoticed, 0) << "of " << size / kPage;
  Overwrite(size - kPage, kPage, '\xa5');
  ExpectDamaged();
}

// In the middle of parameters that fill several pages, where the database looks whole.
TEST_F(SqliteJournalStorageTest, DamagedContentIsDetected) {
  Fill(4, std::string(20'000, 'p'));
  const auto size = static_cast<std::streamoff>(std::filesystem::file_size(Path()));
  std::string whole(static_cast<size_t>(size), 0);
  std::ifstream(Path(), std::ios::binary).read(whole.data(), size);
  const size_t place = whole.find(std::string(1000, 'p'));
  ASSERT_NE(place, std::string::npos);
  Overwrite(static_cast<std::streamoff>(place) + 500, 1, 'q');
  {
    ASSERT_OK_AND_ASSIGN(SqliteDatabase other, SqliteDatabase::Open(Path()));
    EXPECT_EQ(*other.Text("SELECT integrity_check FROM pragma_integrity_check(1)"), "ok");
  }
  ExpectDamaged();
}

TEST_F(SqliteJournalStorageTest, InvalidRowIsDetected) {
  for (const char* damage :
       {"UPDATE entries SET record = x'00'", "UPDATE entries SET crc = crc + 1",
        "UPDATE entries SET key = 8",
        // Undamaged, but in the wrong place.
        "UPDATE entries SET until = 7",
        "INSERT INTO entries (key, crc, record) SELECT 5, crc, record FROM entries"}) {
    std::filesystem::remove(Path());
    Fill(1);
    {
      ASSERT_OK_AND_ASSIGN(SqliteDatabase other, SqliteDatabase::Open(Path()));
      ASSERT_OK(other.Run(damage));
    }
    SCOPED_TRACE(damage);
    ExpectDamaged();
  }
}

TEST_F(SqliteJournalStorageTest, ErrorNamesUnwritablePath) {
  const auto storage = SqliteJournalStorage::Open(folder_.path() + "/missing/commands.db");
  EXPECT_EQ(storage.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(std::string(storage.status().message()), HasSubstr("missing/commands.db"));
}

TEST_F(SqliteJournalStorageTest, TombstonesExpire) {
  ASSERT_OK_AND_ASSIGN(const auto storage, Open());
  ASSERT_OK_AND_ASSIGN(SqliteDatabase other, SqliteDatabase::Open(Path()));
  for (int64_t i = 0; i < 50; ++i) {
    Append(*storage, {Queued(static_cast<uint64_t>(i + 1))});
    Append(*storage, {Removed(static_cast<uint64_t>(i + 1), i * 500)});
  }
  EXPECT_EQ(*other.Number("SELECT count(*) FROM entries WHERE kind = 'tombstone'"), 2);
  EXPECT_EQ(*other.Number("SELECT count(*) FROM overview"), 0);
}

TEST_F(SqliteJournalStorageTest, FilesDoNotGrowWithTheNumberOfCommands) {
  ASSERT_OK_AND_ASSIGN(const auto storage, Open());
  constexpr uint64_t kAtOnce = 200;
  const std::string params(2000, 'p');
  uintmax_t after_warm_up = 0;
  for (uint64_t round = 0; round < 100; ++round) {
    std::vector<JournalEntry> made, removed;
    for (uint64_t i = 1; i <= kAtOnce; ++i) {
      made.push_back(Queued(round * kAtOnce + i, params));
      removed.push_back(Removed(round * kAtOnce + i, static_cast<int64_t>(round * 10'000)));
    }
    Append(*storage, made);
    Append(*storage, removed);
    if (round == 49) {
      after_warm_up =
          std::filesystem::file_size(Path()) + std::filesystem::file_size(Path() + "-wal");
    }
  }
  EXPECT_LE(std::filesystem::file_size(Path()) + std::filesystem::file_size(Path() + "-wal"),
            after_warm_up + after_warm_up / 10);
  EXPECT_LT(std::filesystem::file_size(Path() + "-wal"), uintmax_t{40} << 20);
}

TEST_F(SqliteJournalStorageTest, InspectionShowsContentAndDamage) {
  absl::Status status;
  Inspect(folder_.path(), status);
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_FALSE(std::filesystem::exists(Path()));
  Fill(2);
  const std::string shown = Inspect(folder_.path(), status);
  EXPECT_OK(status);
  EXPECT_THAT(shown, HasSubstr("Commands: 2, of which 2 queued; 0 removed of late"));
  EXPECT_THAT(
      shown,
      HasSubstr("queued     agent            browser      click            2026-02-01 12:00:00"));
  Overwrite(4096, 4096, '\xa5');
  Inspect(folder_.path(), status);
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
}

TEST_F(SqliteJournalStorageTest, InspectionFitsOnScreen) {
  Fill(50);
  absl::Status status;
  EXPECT_THAT(Inspect(folder_.path(), status),
              HasSubstr("and 10 that were registered before these"));
  EXPECT_OK(status);
}

TEST_F(SqliteJournalStorageTest, OverviewIsHumanReadable) {
  Fill(2);
  ASSERT_OK_AND_ASSIGN(SqliteDatabase other, SqliteDatabase::Open(Path()));
  EXPECT_EQ(*other.Text("SELECT client || ' ' || target || ' ' || type || ' ' || state || ' ' || "
                        "registered_utc FROM overview WHERE sequence = 2"),
            "agent browser click queued 2026-02-01 12:00:00");
}

}  // namespace
}  // namespace callslip::tracker
