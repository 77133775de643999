#include "tracker/storage/journal_log.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/temporary_folder.h"

namespace callslip::tracker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class JournalLogTest : public testing::Test {
 protected:
  std::string Path(size_t file) const {
    return folder_.path() + "/" + JournalLog::kFileNames[file];
  }
  std::string Contents(size_t file) const {
    std::ifstream in(Path(file), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void SetContents(size_t file, const std::string& bytes) const {
    std::ofstream(Path(file), std::ios::binary) << bytes;
  }

  static void Append(JournalLog& log, uint64_t position, const std::string& bytes) {
    std::string record(JournalLog::kHeadBytes, 0);
    record += bytes;
    ASSERT_OK(log.Append(position, record));
  }

  // The records of the log from `position` on.
  std::vector<std::string> From(uint64_t position) const {
    std::vector<std::string> all;
    const auto contents = JournalLogContents::Read(folder_.path());
    EXPECT_OK(contents);
    EXPECT_OK(contents->ForEach(position, [&](uint64_t at, absl::string_view bytes) {
      EXPECT_EQ(at, position + all.size());
      all.emplace_back(bytes);
      return absl::OkStatus();
    }));
    return all;
  }

  TemporaryFolder folder_;
};

TEST_F(JournalLogTest, HoldsAppendedRecords) {
  EXPECT_THAT(From(0), IsEmpty());
  ASSERT_OK_AND_ASSIGN(JournalLog log, JournalLog::Open(folder_.path()));
  EXPECT_THAT(From(0), IsEmpty());
  Append(log, 7, "seven");
  Append(log, 8, "");
  Append(log, 9, "nine");
  ASSERT_OK(log.Sync());
  EXPECT_EQ(log.bytes(), static_cast<int64_t>(3 * JournalLog::kHeadBytes + 9));
  EXPECT_THAT(From(7), ElementsAre("seven", "", "nine"));
  EXPECT_THAT(From(9), ElementsAre("nine"));
  EXPECT_THAT(From(10), IsEmpty());
  EXPECT_THAT(From(6), IsEmpty()) << "the one before is missing";
}

TEST_F(JournalLogTest, EndsAtIncompleteWrite) {
  ASSERT_OK_AND_ASSIGN(JournalLog log, JournalLog::Open(folder_.path()));
  Append(log, 0, "first");
  Append(log, 1, "second");
  const std::string whole = Contents(0);
  for (size_t size = 0; size < whole.size(); ++size) {
    SetContents(0, whole.substr(0, size));
    EXPECT_THAT(From(0), SizeIs(size < JournalLog::kHeadBytes + 5 ? 0 : 1)) << size;
  }
}

TEST_F(JournalLogTest, EndsAtDamagedRecord) {
  ASSERT_OK_AND_ASSIGN(JournalLog log, JournalLog::Open(folder_.path()));
  for (uint64_t i = 0; i < 3; ++i) Append(log, i, "record");
  const std::string whole = Contents(0);
  const size_t each = whole.size() / 3;
  for (size_t place = 0; place < whole.size(); ++place) {
    std::string damaged = whole;
    damaged[place] = static_cast<char>(damaged[place] ^ 0x40);
    SetContents(0, damaged);
    EXPECT_THAT(From(0), SizeIs(place / each)) << place;
  }
}

TEST_F(JournalLogTest, FilesTakeTurns) {
  ASSERT_OK_AND_ASSIGN(JournalLog log, JournalLog::Open(folder_.path()));
  for (uint64_t i = 0; i < 5; ++i) Append(log, i, "a");
  log.Turn();
  EXPECT_EQ(log.bytes(), 0);
  Append(log, 5, "b");
  EXPECT_THAT(From(0), ElementsAre("a", "a", "a", "a", "a", "b"));
  // The first file is still needed.
  log.Turn();
  Append(log, 6, "b");
  EXPECT_THAT(From(0), SizeIs(7));
  log.Release();
  log.Turn();
  Append(log, 7, "c");
  // Behind it are bytes of the earlier records.
  EXPECT_GT(std::filesystem::file_size(Path(0)), JournalLog::kHeadBytes + 1);
  EXPECT_THAT(From(5), ElementsAre("b", "b", "c"));
  EXPECT_THAT(From(7), ElementsAre("c"));
}

TEST_F(JournalLogTest, EmptyFileIsNotTurned) {
  ASSERT_OK_AND_ASSIGN(JournalLog log, JournalLog::Open(folder_.path()));
  log.Turn();
  Append(log, 0, "a");
  EXPECT_GT(std::filesystem::file_size(Path(0)), 0u);
}

// The first record could not be synced, so it was appended again.
TEST_F(JournalLogTest, LaterFileWinsForPositionInBothFiles) {
  ASSERT_OK_AND_ASSIGN(JournalLog log, JournalLog::Open(folder_.path()));
  Append(log, 0, "a");
  Append(log, 1, "failed");
  log.Turn();
  Append(log, 1, "kept");
  Append(log, 2, "c");
  EXPECT_THAT(From(0), ElementsAre("a", "kept", "c"));
}

TEST_F(JournalLogTest, NothingIsReadPastGap) {
  ASSERT_OK_AND_ASSIGN(JournalLog log, JournalLog::Open(folder_.path()));
  Append(log, 0, "a");
  Append(log, 1, "b");
  log.Turn();
  Append(log, 2, "c");
  std::string damaged = Contents(0);
  damaged.back() ^= 1;
  SetContents(0, damaged);
  EXPECT_THAT(From(0), ElementsAre("a"));
  EXPECT_THAT(From(2), ElementsAre("c"));
  ASSERT_OK_AND_ASSIGN(const auto contents, JournalLogContents::Read(folder_.path()));
  EXPECT_TRUE(contents.HasFrom(1));
  EXPECT_TRUE(contents.HasFrom(2));
  EXPECT_FALSE(contents.HasFrom(3));
}

TEST_F(JournalLogTest, LargeFileShrinksWhenReused) {
  ASSERT_OK_AND_ASSIGN(JournalLog log, JournalLog::Open(folder_.path()));
  Append(log, 0, std::string(static_cast<size_t>(JournalLog::kKeptBytes) + 1000, 'x'));
  log.Turn();
  Append(log, 1, "b");
  log.Release();
  log.Turn();
  Append(log, 2, "c");
  EXPECT_EQ(std::filesystem::file_size(Path(0)), static_cast<uintmax_t>(JournalLog::kKeptBytes));
  EXPECT_THAT(From(1), ElementsAre("b", "c"));
}

TEST_F(JournalLogTest, RecordsAreRetainedUntilLogIsEmptied) {
  {
    ASSERT_OK_AND_ASSIGN(JournalLog log, JournalLog::Open(folder_.path()));
    Append(log, 0, "a");
  }
  ASSERT_OK_AND_ASSIGN(JournalLog log, JournalLog::Open(folder_.path()));
  EXPECT_THAT(From(0), ElementsAre("a"));
  ASSERT_OK(log.Empty());
  EXPECT_THAT(From(0), IsEmpty());
}

TEST_F(JournalLogTest, ErrorsNamePathAndReason) {
  const absl::Status status = JournalLog::Open(folder_.path() + "/missing").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("missing/commands-0.log: No such file"));
}

TEST_F(JournalLogTest, VisitorErrorStopsReading) {
  ASSERT_OK_AND_ASSIGN(JournalLog log, JournalLog::Open(folder_.path()));
  Append(log, 0, "a");
  Append(log, 1, "b");
  ASSERT_OK_AND_ASSIGN(const auto contents, JournalLogContents::Read(folder_.path()));
  int calls = 0;
  EXPECT_EQ(contents.ForEach(0,
                             [&](uint64_t, absl::string_view) {
                               ++calls;
                               return absl::DataLossError("no");
                             }),
            absl::DataLossError("no"));
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace callslip::tracker
