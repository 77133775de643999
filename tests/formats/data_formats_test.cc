// Data directories of every earlier format: a tracker starts with each, and keeps all data.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "common/status_matchers.h"
#include "formats/describe.h"
#include "formats/lay.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/temporary_folder.h"
#include "tracker/domain/annotation/annotation_store.h"
#include "tracker/storage/command_inspection.h"
#include "tracker/storage/disk.h"
#include "tracker/storage/event_json.h"
#include "tracker/storage/file_session_storage.h"
#include "tracker/storage/json.h"
#include "tracker/storage/logged_journal_storage.h"
#include "tracker/storage/session_json.h"

namespace callslip::tracker {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Compares with expected.txt. If the file is missing, CALLSLIP_UPDATE_GOLDEN makes it.
void ExpectFound(const std::string& format, const std::vector<std::string>& lines) {
  const fs::path expected = Formats() / format / "expected.txt";
  if (!fs::exists(expected) && std::getenv("CALLSLIP_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(expected) << absl::StrJoin(lines, "\n") << "\n";
  }
  EXPECT_EQ(
      lines,
      (std::vector<std::string>(absl::StrSplit(Contents(expected), '\n', absl::SkipEmpty()))));
}

// Only the command's own deadlines.
std::shared_ptr<const CommandDeadlines> OwnClocks(const DeadlineOverrides& overrides,
                                                  CommandClass) {
  auto clocks = std::make_shared<CommandDeadlines>();
  clocks->overrides = overrides;
  return clocks;
}

std::vector<std::string> LinesOf(JournalStorage& storage) {
  std::vector<std::string> lines;
  const auto clocks = [](const DeadlineOverrides& overrides, CommandClass) {
    auto own = std::make_shared<CommandDeadlines>();
    own->overrides = overrides;
    return own;
  };
  EXPECT_OK(
      storage.Replay(clocks, [&](const JournalEntry& entry) { lines.push_back(Describe(entry)); }));
  const auto summary = storage.Summarize();
  EXPECT_OK(summary);
  lines.push_back(absl::StrCat("position ", storage.position(), " last_sequence ",
                               summary->last_sequence, " latest ", summary->latest_nanos));
  return lines;
}

absl::StatusOr<std::unique_ptr<LoggedJournalStorage>> Open(const std::string& folder) {
  return LoggedJournalStorage::Open(folder, LoggedJournalStorage::Sync::kAlways);
}

class CommandFormatsTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { Lay(GetParam(), folder_.path()); }

  TemporaryFolder folder_;
};

TEST_P(CommandFormatsTest, StorageOpensWithAllEntries) {
  for (int start = 0; start < 3; ++start) {
    const auto storage = Open(folder_.path());
    ASSERT_OK(storage);
    ExpectFound(GetParam(), LinesOf(**storage));
  }
}

TEST_P(CommandFormatsTest, InspectionShowsCommandsAndChangesNothing) {
  const std::string before = Contents(folder_.path() + "/commands.db");
  char* text = nullptr;
  size_t size = 0;
  std::FILE* out = open_memstream(&text, &size);
  EXPECT_OK(InspectCommands(folder_.path(), out));
  std::fclose(out);
  EXPECT_THAT(text, HasSubstr("Commands: 14, of which"));
  EXPECT_THAT(text, HasSubstr("4 removed of late"));
  EXPECT_THAT(text, HasSubstr("no_element"));
  std::free(text);
  EXPECT_EQ(Contents(folder_.path() + "/commands.db"), before);
}

// Through the interface of clients and workers.
TEST_P(CommandFormatsTest, TrackerRestoresDataAndContinues) {
  const auto storage = Open(folder_.path());
  ASSERT_OK(storage);
  std::vector<JournalEntry> entries;
  EXPECT_OK((*storage)->Replay(OwnClocks,
                               [&](JournalEntry entry) { entries.push_back(std::move(entry)); }));
  const absl::Time now = absl::FromUnixSeconds(1'769'947'210);
  Journal journal;
  CommandTable table(CommandDeadlines(), {}, &journal);
  AnnotationStore annotations(&table, {}, &journal);
  std::vector<JournalEntry> of_drawings;
  ASSERT_OK(table.Restore(**storage, now,
                          [&](JournalEntry entry) { of_drawings.push_back(std::move(entry)); }));
  annotations.Restore(std::move(of_drawings), now);
  int drawings = 0;
  int leased = 0;
  for (const JournalEntry& entry : entries) {
    if (const auto* record = std::get_if<CommandRecord>(&entry.change)) {
      const CommandSpec& spec = *record->command->spec;
      const auto command = table.Get(std::string(spec.client_id()), spec.id.ToString(), true);
      ASSERT_OK(command) << Describe(entry);
      EXPECT_EQ((*command)->state, record->command->state) << Describe(entry);
      if (IsHeld((*command)->state)) ++leased;
    } else if (const auto* removal = std::get_if<CommandRemoval>(&entry.change)) {
      EXPECT_THAT(table.Get(removal->client_id, removal->id.ToString(), true),
                  FailsWith(absl::StatusCode::kNotFound, "command_removed"));
    } else if (std::holds_alternative<DrawingRecord>(entry.change)) {
      ++drawings;
    }
  }
  EXPECT_EQ(table.leased(), leased);
  EXPECT_EQ(annotations.drawings(), drawings);
  // The current version can also write it.
  const Journal::Batch batch = journal.Take();
  EXPECT_OK((*storage)->Append((*storage)->position(), batch.entries));
  EXPECT_OK((*storage)->WriteRows());
}

INSTANTIATE_TEST_SUITE_P(Formats, CommandFormatsTest, testing::ValuesIn(Holding("commands.sql")),
                         [](const testing::TestParamInfo<std::string>& format) {
                           return absl::StrReplaceAll(format.param, {{"-", "_"}});
                         });

class SessionFormatsTest : public testing::TestWithParam<std::string> {};

TEST_P(SessionFormatsTest, StorageOpensWithAllSessions) {
  const TemporaryFolder folder;
  fs::copy(Formats() / GetParam() / "sessions", folder.path() + "/sessions",
           fs::copy_options::recursive);
  for (int start = 0; start < 2; ++start) {
    Disk disk;
    const auto storage = FileSessionStorage::Open(folder.path(), &disk);
    ASSERT_OK(storage);
    auto sessions = (*storage)->List();
    ASSERT_OK(sessions);
    std::sort(sessions->begin(), sessions->end(),
              [](const auto& a, const auto& b) { return a.session_id < b.session_id; });
    std::vector<std::string> lines;
    for (const SessionMetadata& listed : *sessions) {
      EXPECT_THAT(listed.damage, IsEmpty());
      const auto loaded = (*storage)->Load(listed.session_id);
      ASSERT_OK(loaded);
      const auto add_json = [&](std::string text) {
        lines.push_back(absl::StrReplaceAll(text, {{"\n", ""}}));
      };
      add_json(EncodeMetadata(loaded->metadata));
      add_json(EncodeQueue(loaded->messages, loaded->delivery, absl::UnixEpoch()));
      const auto page = loaded->record->Read({});
      ASSERT_OK(page);
      for (const EventPtr& event : page->events) {
        add_json(absl::StrCat("{\"seq\":", event->seq, ",\"type\":\"", event->type,
                              "\",\"timestamp\":\"", FormatTimestamp(event->timestamp),
                              "\",\"data\":", event->data, "}"));
      }
    }
    ExpectFound(GetParam(), lines);
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, SessionFormatsTest, testing::ValuesIn(Holding("sessions")),
                         [](const testing::TestParamInfo<std::string>& format) {
                           return absl::StrReplaceAll(format.param, {{"-", "_"}});
                         });

TEST(DataFormatsTest, FormatsExist) {
  EXPECT_THAT(Holding("commands.sql"), Not(IsEmpty()));
  EXPECT_THAT(Holding("sessions"), Not(IsEmpty()));
}

}  // namespace
}  // namespace callslip::tracker
