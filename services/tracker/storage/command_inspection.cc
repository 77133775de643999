#include "tracker/storage/command_inspection.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/status_macros.h"
#include "tracker/storage/entry_rows.h"
#include "tracker/storage/journal_log.h"
#include "tracker/storage/logged_journal_storage.h"
#include "tracker/storage/sqlite.h"
#include "tracker/storage/sqlite_journal_storage.h"

namespace callslip::tracker {
namespace {

// A screen of them; the newest are of interest.
constexpr int kMaxRows = 40;

absl::StatusOr<std::string> Totals(SqliteDatabase& database) {
  ASSIGN_OR_RETURN(
      SqliteStatement row,
      SqliteStatement::Prepare(database, "SELECT state, count(*) FROM overview GROUP BY state"));
  std::vector<std::string> parts;
  int64_t commands = 0;
  while (true) {
    ASSIGN_OR_RETURN(const bool found, row.Step());
    if (!found) break;
    commands += row.Int(1);
    parts.push_back(absl::StrCat(row.Int(1), " ", row.Bytes(0)));
  }
  ASSIGN_OR_RETURN(const int64_t removed,
                   database.Number("SELECT count(*) FROM entries WHERE kind = 'tombstone'"));
  return absl::StrFormat("Commands: %d%s%s; %d removed of late\n", commands,
                         parts.empty() ? "" : ", of which ", absl::StrJoin(parts, ", "), removed);
}

absl::StatusOr<std::string> Drawings(SqliteDatabase& database) {
  ASSIGN_OR_RETURN(const int64_t drawings,
                   database.Number("SELECT count(*) FROM entries WHERE kind = 'drawing'"));
  return absl::StrFormat("Drawings: %d\n", drawings);
}

absl::StatusOr<std::string> Newest(SqliteDatabase& database) {
  ASSIGN_OR_RETURN(
      SqliteStatement row,
      SqliteStatement::Prepare(
          database, absl::StrCat("SELECT id, state, client, target, type, registered_utc, worker, "
                                 "error_code FROM overview ORDER BY sequence DESC LIMIT ",
                                 kMaxRows)));
  const absl::ParsedFormat<'s', 's', 's', 's', 's', 's', 's', 's'> line(
      "  %-51s %-10s %-16s %-12s %-16s %-20s %-16s %s\n");
  const auto shown = [&](int column) { return row.IsNull(column) ? "-" : row.Text(column); };
  std::string text;
  int rows = 0;
  for (;; ++rows) {
    ASSIGN_OR_RETURN(const bool found, row.Step());
    if (!found) break;
    if (rows == 0) {
      absl::StrAppend(&text, "\n");
      absl::StrAppendFormat(&text, line, "command", "state", "client", "target", "type",
                            "registered", "worker", "error");
    }
    absl::StrAppendFormat(&text, line, shown(0), shown(1), shown(2), shown(3), shown(4), shown(5),
                          shown(6), shown(7));
  }
  ASSIGN_OR_RETURN(const int64_t commands, database.Number("SELECT count(*) FROM overview"));
  if (commands > rows) {
    absl::StrAppendFormat(&text, "  and %d that were registered before these\n", commands - rows);
  }
  return text;
}

// What SQLite says of the file's structure, then what the checksums say of its rows.
absl::Status Check(SqliteDatabase& database) {
  ASSIGN_OR_RETURN(const std::string structure,
                   database.Text("SELECT integrity_check FROM pragma_integrity_check(1)"));
  if (structure != "ok") return absl::DataLossError(structure);
  const auto clocks = std::make_shared<const CommandDeadlines>();
  return ReadEntryRows(
      database, [&](const DeadlineOverrides&, CommandClass) { return clocks; },
      [](const JournalEntry&) {});
}

}  // namespace

absl::Status InspectCommands(const std::string& folder, std::FILE* out) {
  const std::string path = absl::StrCat(folder, "/", SqliteJournalStorage::kFileName);
  // A tracker may go on meanwhile.
  ASSIGN_OR_RETURN(const JournalLogContents log, JournalLogContents::Read(folder));
  ASSIGN_OR_RETURN(const auto storage, SqliteJournalStorage::OpenCopy(path));
  absl::Status all = WriteRowsOf(log, *storage);
  SqliteDatabase& database = storage->database();
  for (const auto& part : {&Totals, &Drawings, &Newest}) {
    const absl::StatusOr<std::string> text = part(database);
    if (text.ok()) std::fputs(text->c_str(), out);
    all.Update(text.status());
  }
  all.Update(Check(database));
  if (all.ok()) return all;
  return {all.code(), absl::StrCat(folder, ": ", all.message())};
}

}  // namespace callslip::tracker
