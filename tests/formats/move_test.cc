// Data directories that are moved to a database and back: they keep all their content, and no
// tracker serves half of a move.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/status_matchers.h"
#include "formats/describe.h"
#include "formats/lay.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/postgres_server.h"
#include "support/temporary_folder.h"
#include "tracker/cluster/membership.h"
#include "tracker/domain/annotation/annotation_store.h"
#include "tracker/domain/queue/command_table.h"
#include "tracker/postgres/cell.h"
#include "tracker/postgres/postgres_journal_storage.h"
#include "tracker/postgres/postgres_session_storage.h"
#include "tracker/process/half_exported.h"
#include "tracker/process/inspect.h"
#include "tracker/process/move.h"
#include "tracker/storage/file_session_storage.h"
#include "tracker/storage/journal_encoding.h"
#include "tracker/storage/logged_journal_storage.h"

namespace callslip::tracker {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr char kPng[] = "\x89PNG\r\n\x1a\n and more";

class MoveTest : public testing::Test {
 protected:
  MoveTest() : nowhere_(std::fopen("/dev/null", "w")) {}
  ~MoveTest() override { std::fclose(nowhere_); }

  // Commands and drawings of all kinds, and sessions with queues and an image.
  void Fill(const std::string& format, const std::string& folder) {
    Lay(format, folder);
    for (const std::string& sessions : Holding("sessions")) {
      fs::copy(Formats() / sessions / "sessions", folder + "/sessions",
               fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    }
    const auto storage = FileSessionStorage::Open(folder, &disk_);
    ASSERT_OK(storage);
    auto made = (*storage)->Create(
        {.session_id = "with-images", .owner = "a", .created_at = absl::FromUnixSeconds(1000)});
    ASSERT_OK(made);
    ASSERT_OK(made->record->PutImage(kPng, "a \"picture\"", 10));
    std::vector<NewEvent> events;
    for (int i = 0; i < 30; ++i) {
      events.emplace_back(ErrorEvent{.message = std::string(100'000, 'x'), .code = "some"});
    }
    ASSERT_OK(made->record->AppendAll(std::move(events), absl::FromUnixSeconds(2000)));
    ASSERT_OK(made->record->SyncLog());
    // Leaves a gap in the sequence of events.
    ASSERT_OK(made->record->Prune({.max_events = 20}));
    std::deque<QueuedMessage> messages(1);
    messages[0].id = "m1";
    messages[0].message = "and then?";
    ASSERT_OK(made->record->SaveQueue(messages, {}, absl::FromUnixSeconds(3000)));
    ASSERT_OK((*storage)->Load("with-images"));
  }

  MoveRequest Request(const std::string& folder) {
    return {.data_dir = folder, .storage = url_, .standby = false, .out = nowhere_};
  }

  // The output of an inspection without the name of the inspected storage.
  static std::string Shown(const std::string& of, const std::string& command = "") {
    char* text = nullptr;
    size_t size = 0;
    std::FILE* const out = open_memstream(&text, &size);
    const bool is_database = of.starts_with("postgres:");
    if (command.empty()) {
      EXPECT_OK(is_database ? InspectDatabase(of, out) : InspectDataDirectory(of, out));
    } else {
      EXPECT_OK(is_database ? InspectCommandInDatabase(of, command, out)
                            : InspectCommand(of, command, out));
    }
    std::fclose(out);
    const std::string shown(text, size);
    std::free(text);
    return command.empty() ? shown.substr(shown.find('\n')) : shown;
  }

  // Takes the database as a starting tracker does.
  absl::StatusOr<uint64_t> Take() {
    const auto connection = PostgresConnection::Open(url_);
    if (!connection.ok()) return connection.status();
    const absl::Status fit = PreparePostgres(**connection, {.standby = false});
    if (!fit.ok()) return fit;
    PostgresCell cell(url_);
    const auto seen = cell.Read();
    if (!seen.ok()) return seen.status();
    const auto epoch = cell.Take(*seen, "tracker");
    if (epoch.ok()) {
      EXPECT_OK(cell.Release(*epoch));
    }
    return epoch;
  }

  static std::vector<std::string> LinesOf(JournalStorage& storage) {
    std::vector<std::string> lines;
    EXPECT_OK(storage.Replay(ClocksAsBrought,
                             [&](const JournalEntry& entry) { lines.push_back(Describe(entry)); }));
    const auto summary = storage.Summarize();
    EXPECT_OK(summary);
    lines.push_back(absl::StrCat(summary->last_sequence, " ", summary->latest_nanos));
    return lines;
  }

  // The storage serves its content, and accepts more.
  static void ExpectServed(JournalStorage& journal, SessionStorage& sessions) {
    const absl::Time now = absl::FromUnixSeconds(1'769'947'210);
    Journal changes;
    CommandTable table(CommandDeadlines(), {}, &changes);
    AnnotationStore annotations(&table, {}, &changes);
    std::vector<JournalEntry> of_drawings;
    ASSERT_OK(table.Restore(journal, now,
                            [&](JournalEntry entry) { of_drawings.push_back(std::move(entry)); }));
    annotations.Restore(std::move(of_drawings), now);
    EXPECT_GE(table.commands(), 13);
    EXPECT_OK(journal.Append(journal.position(), changes.Take().entries));

    auto loaded = sessions.Load("with-images");
    ASSERT_OK(loaded);
    EXPECT_EQ(loaded->messages.size(), 1u);
    EXPECT_EQ(loaded->record->event_count(), 20);
    EXPECT_EQ(loaded->record->max_seq(), 31);
    // The same image is stored already.
    const auto put = loaded->record->PutImage(kPng, "", 10);
    ASSERT_OK(put);
    const auto image = loaded->record->GetImage(put->id);
    ASSERT_OK(image);
    EXPECT_EQ(image->data, kPng);
    EXPECT_EQ(image->ref.name, "a \"picture\"");
    std::vector<NewEvent> more;
    more.emplace_back(ErrorEvent{.message = "more"});
    EXPECT_OK(loaded->record->AppendAll(std::move(more), now));
    EXPECT_OK(loaded->record->SyncLog());
  }

  std::FILE* const nowhere_;
  Disk disk_;
  const TemporaryFolder from_;
  const TemporaryFolder to_;
  const std::string url_ = PostgresServer::Shared().NewSchema();
};

class MoveFormatsTest : public MoveTest, public testing::WithParamInterface<std::string> {};

TEST_P(MoveFormatsTest, ImportAndExportKeepAllData) {
  Fill(GetParam(), from_.path());
  ASSERT_OK(Import(Request(from_.path())));
  const std::string before = Shown(from_.path());
  EXPECT_THAT(before, HasSubstr("with-images"));
  EXPECT_THAT(before, HasSubstr("1 queued"));
  EXPECT_EQ(Shown(url_), before);
  ASSERT_OK(Export(Request(to_.path())));
  EXPECT_EQ(Shown(to_.path()), before);

  const auto original =
      LoggedJournalStorage::Open(from_.path(), LoggedJournalStorage::Sync::kAlways);
  ASSERT_OK(original);
  const std::vector<std::string> lines = LinesOf(**original);
  {
    const auto epoch = Take();
    ASSERT_OK(epoch);
    const auto journal = PostgresJournalStorage::Open(url_, *epoch);
    ASSERT_OK(journal);
    EXPECT_EQ(LinesOf(**journal), lines);
    PostgresSessionStorage sessions(url_, *epoch);
    ExpectServed(**journal, sessions);
  }
  const auto journal = LoggedJournalStorage::Open(to_.path(), LoggedJournalStorage::Sync::kAlways);
  ASSERT_OK(journal);
  EXPECT_EQ(LinesOf(**journal), lines);
  const auto sessions = FileSessionStorage::Open(to_.path(), &disk_);
  ASSERT_OK(sessions);
  ExpectServed(**journal, **sessions);
}

INSTANTIATE_TEST_SUITE_P(Formats, MoveFormatsTest, testing::ValuesIn(Holding("commands.sql")),
                         [](const testing::TestParamInfo<std::string>& format) {
                           std::string name = format.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_F(MoveTest, CommandLooksSameInDirectoryAndDatabase) {
  Fill("4-one-encoding", from_.path());
  ASSERT_OK(Import(Request(from_.path())));
  const std::string all = Shown(url_);
  const size_t begin = all.find("corr-");
  ASSERT_NE(begin, std::string::npos);
  const std::string id = all.substr(begin, all.find(' ', begin) - begin);
  // The last span of an unfinished command lasts until now.
  const auto head = [](const std::string& text) { return text.substr(0, text.find("ms ")); };
  EXPECT_EQ(head(Shown(url_, id)), head(Shown(from_.path(), id)));
}

TEST_F(MoveTest, NonEmptyTargetIsRefused) {
  Fill("4-one-encoding", from_.path());
  ASSERT_OK(Import(Request(from_.path())));
  const std::string before = Shown(url_);
  const absl::Status again = Import(Request(from_.path()));
  EXPECT_EQ(again.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(again.message()), HasSubstr("another schema"));
  EXPECT_EQ(Shown(url_), before);
  EXPECT_OK(Take());

  const absl::Status back = Export(Request(from_.path()));
  EXPECT_EQ(back.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(back.message()), HasSubstr("not empty"));
  EXPECT_OK(CheckWhole(from_.path()));
}

TEST_F(MoveTest, StorageInUseIsRefused) {
  Fill("4-one-encoding", from_.path());
  {
    const auto locked = FileSessionStorage::Open(from_.path(), &disk_);
    ASSERT_OK(locked);
    EXPECT_THAT(std::string(Import(Request(from_.path())).message()),
                HasSubstr("another process uses the data directory"));
  }
  const auto connection = PostgresConnection::Open(url_);
  ASSERT_OK(connection);
  ASSERT_OK(PreparePostgres(**connection, {.standby = false}));
  RealClock clock;
  const auto lost = [] { ADD_FAILURE() << "the cell was taken from a tracker that lives"; };
  Membership tracker(&clock, std::make_unique<PostgresCell>(url_), "a tracker", lost);
  while (!tracker.epoch().has_value()) std::this_thread::yield();
  for (const auto move : {&Import, &Export}) {
    const absl::Status refused = move(Request(move == &Import ? from_.path() : to_.path()));
    EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(refused.message()), HasSubstr("(a tracker): stop all trackers"));
  }
}

// With a stop at each possible place.
TEST_F(MoveTest, PartialImportIsNotServedAndCanBeRepeated) {
  Fill("4-one-encoding", from_.path());
  int stops = 0;
  for (int last = 1;; ++last) {
    MoveRequest request = Request(from_.path());
    int asked = 0;
    request.is_stopped = [&] { return ++asked == last; };
    const absl::Status moved = Import(request);
    if (moved.ok()) break;
    ++stops;
    ASSERT_EQ(moved.code(), absl::StatusCode::kCancelled) << moved;
    const absl::Status served = Take().status();
    EXPECT_EQ(served.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(served.message()), HasSubstr("half imported"));
    EXPECT_EQ(Export(Request(to_.path())).code(), absl::StatusCode::kFailedPrecondition);
    // A tracker that was already standing by does not take it either.
    PostgresCell cell(url_);
    EXPECT_EQ(cell.Take(*cell.Read(), "tracker").status().code(),
              absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(Shown(url_), HasSubstr("Half imported"));
  }
  EXPECT_GT(stops, 3);
  EXPECT_EQ(Shown(url_), Shown(from_.path()));
  EXPECT_OK(Take());
}

TEST_F(MoveTest, PartialExportIsNotServedAndCanBeRepeated) {
  Fill("4-one-encoding", from_.path());
  ASSERT_OK(Import(Request(from_.path())));
  int stops = 0;
  for (int last = 1;; ++last) {
    MoveRequest request = Request(to_.path());
    int asked = 0;
    request.is_stopped = [&] { return ++asked == last; };
    const absl::Status moved = Export(request);
    if (moved.ok()) break;
    ++stops;
    ASSERT_EQ(moved.code(), absl::StatusCode::kCancelled) << moved;
    EXPECT_THAT(std::string(CheckWhole(to_.path()).message()), HasSubstr("half exported"));
    EXPECT_EQ(Import(Request(to_.path())).code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_OK(Take());
  }
  EXPECT_GT(stops, 3);
  EXPECT_OK(CheckWhole(to_.path()));
  EXPECT_EQ(Shown(to_.path()), Shown(from_.path()));
}

// A trigger of the database drops rows.
TEST_F(MoveTest, LostRowsFailImport) {
  Fill("4-one-encoding", from_.path());
  for (const char* change :
       {"callslip_events FOR EACH ROW WHEN (NEW.seq = 30) EXECUTE FUNCTION forget()",
        "callslip_images FOR EACH ROW EXECUTE FUNCTION forget()",
        "callslip_entries FOR EACH ROW WHEN (NEW.kind = 'drawing') EXECUTE FUNCTION forget()"}) {
    const auto connection = PostgresConnection::Open(url_);
    ASSERT_OK(connection);
    ASSERT_OK(PreparePostgres(**connection, {.standby = false, .whole = false}));
    ASSERT_OK(
        (*connection)
            ->Run(absl::StrCat(
                "CREATE OR REPLACE FUNCTION forget() RETURNS trigger LANGUAGE plpgsql AS "
                "'BEGIN RETURN NULL; END'; CREATE OR REPLACE TRIGGER forgets BEFORE INSERT ON ",
                change)));
    EXPECT_EQ(Import(Request(from_.path())).code(), absl::StatusCode::kDataLoss) << change;
    EXPECT_THAT(std::string(Take().status().message()), HasSubstr("half imported"));
    const std::string table(change, std::string(change).find(' '));
    ASSERT_OK((*connection)->Run("DROP TRIGGER forgets ON " + table));
  }
  EXPECT_OK(Import(Request(from_.path())));
}

TEST_F(MoveTest, UnreadableSessionStopsImport) {
  Fill("4-one-encoding", from_.path());
  const std::string log = from_.path() + "/sessions/s-owned/events.jsonl";
  fs::remove(log);
  fs::create_directory(log);
  const absl::Status refused = Import(Request(from_.path()));
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("s-owned"));
  fs::remove_all(from_.path() + "/sessions/s-owned");
  EXPECT_OK(Import(Request(from_.path())));
}

TEST_F(MoveTest, MissingDirectoryIsRefusedAndNotCreated) {
  EXPECT_EQ(Import(Request(from_.path() + "/typo")).code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(fs::exists(from_.path() + "/typo"));
}

}  // namespace
}  // namespace callslip::tracker
