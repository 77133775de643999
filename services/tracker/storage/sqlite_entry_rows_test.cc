// Drawings as rows; commands are in sqlite_journal_storage_test.cc.
#include "tracker/storage/sqlite_entry_rows.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tracker/storage/journal_storage_fixture.h"
#include "tracker/storage/sqlite_journal_storage.h"

namespace callslip::tracker {
namespace {

using ::testing::HasSubstr;

class EntryRowsTest : public JournalStorageFixture {
 protected:
  std::string Path() const { return folder_.path() + "/commands.db"; }

  absl::StatusOr<std::unique_ptr<SqliteJournalStorage>> Open() {
    return SqliteJournalStorage::Open(Path());
  }

  static JournalEntry Kept(uint64_t sequence, const std::string& content = "1",
                           std::vector<DrawingReceipt> receipts = {}) {
    return {sequence,
            DrawingRecord{.drawing = std::make_shared<const Drawing>(
                              Drawing{.target = "browser",
                                      .tab_id = 7,
                                      .content = Bytes(content),
                                      .sequence = sequence,
                                      .append_time = absl::FromUnixSeconds(1'769'947'200)}),
                          .drawing_id = "d1",
                          .receipts = std::move(receipts)},
            /*is_first=*/true};
  }
  static JournalEntry Again(JournalEntry entry) {
    entry.is_first = false;
    return entry;
  }
  static JournalEntry Answered(uint64_t sequence) {
    return {sequence, DrawingAnswer{.target = "browser",
                                    .drawing_id = "d1",
                                    .append_time = absl::FromUnixSeconds(1'769'947'200),
                                    .answer = {.completed = {"a", "b"}, .stored = true}}};
  }
  static JournalEntry Removed(uint64_t sequence) { return {sequence, DrawingRemoval()}; }

  void Fill(const std::vector<JournalEntry>& entries) {
    ASSERT_OK_AND_ASSIGN(const auto storage, Open());
    Append(*storage, entries);
  }

  static int64_t Rows(SqliteDatabase& database) {
    return *database.Number("SELECT count(*) FROM entries");
  }

  void ExpectDamaged() {
    auto storage = Open();
    ASSERT_OK(storage);
    const absl::Status status = EntriesOf(**storage).status();
    EXPECT_EQ(status.code(), StatusCode::kDataLoss) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("move it away"));
  }
};

TEST_F(EntryRowsTest, NewestRecordOfEachEntryIsRead) {
  const CommandId command = CommandId::New(absl::UnixEpoch(), true, 3);
  JournalEntry given = Kept(1, "1", {{"agent one", command}, {"b", std::nullopt}});
  std::get<DrawingRecord>(given.change).to_complete = {"a", "b"};
  Fill({Kept(1), Kept(2), Answered(3)});
  {
    ASSERT_OK_AND_ASSIGN(const auto storage, Open());
    ASSERT_THAT(*EntriesOf(*storage), SizeIs(3));
    Append(*storage, {Again(given), Kept(4, "4", {{"c", std::nullopt}}), Removed(2), Answered(5)});
  }
  ASSERT_OK_AND_ASSIGN(const auto storage, Open());
  ASSERT_OK_AND_ASSIGN(const auto summary, storage->Summarize());
  EXPECT_EQ(summary.last_sequence, 5u);
  EXPECT_EQ(summary.latest_nanos, int64_t{1'769'947'200} * 1'000'000'000);
  ASSERT_OK_AND_ASSIGN(const std::vector<JournalEntry> entries, EntriesOf(*storage));
  ASSERT_THAT(entries, SizeIs(4));
  const auto& first = std::get<DrawingRecord>(entries[0].change);
  EXPECT_EQ(*first.drawing->content, "1");
  EXPECT_EQ(first.drawing_id, "d1");
  ASSERT_THAT(first.receipts, SizeIs(2));
  EXPECT_EQ(first.receipts[0].client_id, "agent one");
  EXPECT_EQ(first.receipts[0].command, command);
  EXPECT_EQ(first.receipts[1].client_id, "b");
  EXPECT_EQ(first.receipts[1].command, std::nullopt);
  EXPECT_THAT(first.to_complete, ElementsAre("a", "b"));
  EXPECT_EQ(entries[1].sequence, 4u);
  EXPECT_THAT(std::get<DrawingRecord>(entries[1].change).receipts, SizeIs(1));
  EXPECT_EQ(entries[2].sequence, 3u);
  const auto& answer = std::get<DrawingAnswer>(entries[3].change);
  EXPECT_EQ(answer.target, "browser");
  EXPECT_EQ(answer.drawing_id, "d1");
  EXPECT_EQ(answer.append_time, absl::FromUnixSeconds(1'769'947'200));
  EXPECT_THAT(answer.answer.completed, ElementsAre("a", "b"));
  EXPECT_TRUE(answer.answer.stored);
}

TEST_F(EntryRowsTest, RemovalLeavesNoRows) {
  ASSERT_OK_AND_ASSIGN(const auto storage, Open());
  ASSERT_OK_AND_ASSIGN(SqliteDatabase other, SqliteDatabase::Open(Path()));
  Append(*storage, {Kept(1), Answered(2)});
  Append(*storage, {Again(Kept(1, "1", {{"a", std::nullopt}}))});
  EXPECT_EQ(Rows(other), 3);
  // One of them never had a row.
  Append(*storage, {Removed(1), Removed(2), Removed(3)});
  EXPECT_EQ(Rows(other), 0);
}

TEST_F(EntryRowsTest, ContentIsWrittenOnce) {
  ASSERT_OK_AND_ASSIGN(const auto storage, Open());
  Append(*storage, {Kept(1, std::string(1 << 20, 'c'))});
  const auto size = std::filesystem::file_size(Path() + "-wal");
  for (int i = 0; i < 10; ++i) {
    Append(*storage, {Again(Kept(1, std::string(1 << 20, 'c'), {{"a", std::nullopt}}))});
  }
  EXPECT_LT(std::filesystem::file_size(Path() + "-wal"), size + (size_t{256} << 10));
}

TEST_F(EntryRowsTest, FailedAppendIsWrittenCompletelyOnRetry) {
  ASSERT_OK_AND_ASSIGN(const auto storage, Open());
  storage->LimitPages(14);
  const std::vector<JournalEntry> entries = {Kept(1), Kept(2, std::string(1 << 20, 'c'))};
  EXPECT_EQ(storage->Append(0, entries).code(), StatusCode::kUnavailable);
  storage->LimitPages(1'000'000);
  ASSERT_OK(storage->Append(0, entries));
  EXPECT_THAT(*EntriesOf(*storage), SizeIs(2));
}

// In the middle of a drawing that fills several pages, where the database looks whole.
TEST_F(EntryRowsTest, DamagedContentIsDetected) {
  Fill({Kept(1, std::string(20'000, 'c'))});
  std::string whole(std::filesystem::file_size(Path()), 0);
  std::ifstream(Path(), std::ios::binary)
      .read(whole.data(), static_cast<std::streamoff>(whole.size()));
  const size_t place = whole.find(std::string(1000, 'c'));
  ASSERT_NE(place, std::string::npos);
  whole[place + 500] = 'd';
  std::ofstream(Path(), std::ios::binary) << whole;
  ExpectDamaged();
}

TEST_F(EntryRowsTest, ChangedRowIsDetected) {
  for (const char* damage : {"UPDATE entries SET record = x'00' WHERE kind = 'drawing'",
                             "UPDATE entries SET record = crc WHERE kind = 'receipts'",
                             "UPDATE entries SET key = 9 WHERE kind = 'receipts'",
                             "UPDATE entries SET key = 3 WHERE kind = 'answer'",
                             "DELETE FROM entries WHERE kind = 'drawing'",
                             "UPDATE entries SET crc = 0 WHERE kind = 'answer'"}) {
    std::filesystem::remove(Path());
    Fill({Kept(1), Answered(2)});
    {
      ASSERT_OK_AND_ASSIGN(const auto storage, Open());
      Append(*storage, {Again(Kept(1, "1", {{"a", std::nullopt}}))});
    }
    {
      ASSERT_OK_AND_ASSIGN(SqliteDatabase other, SqliteDatabase::Open(Path()));
      ASSERT_OK(other.Run(damage));
    }
    SCOPED_TRACE(damage);
    ExpectDamaged();
  }
}

TEST_F(EntryRowsTest, FileAndLogDoNotGrowWithTheNumberOfDrawings) {
  ASSERT_OK_AND_ASSIGN(const auto storage, Open());
  const auto size = [&] {
    return std::filesystem::file_size(Path()) + std::filesystem::file_size(Path() + "-wal");
  };
  constexpr uint64_t kAtOnce = 10;
  const std::string content(200'000, 'c');
  uintmax_t after_warm_up = 0;
  for (uint64_t round = 0; round < 60; ++round) {
    std::vector<JournalEntry> made, given, removed;
    for (uint64_t i = 1; i <= kAtOnce; ++i) {
      const uint64_t sequence = round * 2 * kAtOnce + i;
      made.push_back(Kept(sequence, content));
      made.push_back(Answered(sequence + kAtOnce));
      given.push_back(Again(Kept(sequence, content, {{"a", std::nullopt}})));
      removed.push_back(Removed(sequence));
      removed.push_back(Removed(sequence + kAtOnce));
    }
    for (const auto* entries : {&made, &given, &removed}) Append(*storage, *entries);
    if (round == 29) after_warm_up = size();
  }
  EXPECT_LE(size(), after_warm_up + after_warm_up / 10);
}

TEST_F(EntryRowsTest, InspectionCountsAndReadsDrawings) {
  Fill({Kept(1), Kept(2), Answered(3)});
  absl::Status status;
  EXPECT_THAT(Inspect(folder_.path(), status), HasSubstr("removed of late\nDrawings: 2\n"));
  EXPECT_OK(status);
  {
    ASSERT_OK_AND_ASSIGN(SqliteDatabase other, SqliteDatabase::Open(Path()));
    ASSERT_OK(other.Run("UPDATE entries SET record = 'other' WHERE key = 8"));
  }
  Inspect(folder_.path(), status);
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
}

}  // namespace
}  // namespace callslip::tracker
