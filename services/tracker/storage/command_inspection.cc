#include "tracker/storage/command_inspection.h"

#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/status_macros.h"
#include "tracker/storage/journal_copy.h"
#include "tracker/storage/journal_encoding.h"
#include "tracker/storage/journal_log.h"
#include "tracker/storage/logged_journal_storage.h"
#include "tracker/storage/sqlite.h"
#include "tracker/storage/sqlite_entry_rows.h"
#include "tracker/storage/sqlite_journal_storage.h"

namespace callslip::tracker {
namespace {

// One screen; the newest commands matter most.
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

// Checks the file's structure with SQLite, then its rows by their checksums.
absl::Status Check(SqliteDatabase& database) {
  ASSIGN_OR_RETURN(const std::string structure,
                   database.Text("SELECT integrity_check FROM pragma_integrity_check(1)"));
  if (structure != "ok") return absl::DataLossError(structure);
  return ReadEntryRows(database, ClocksAsBrought, [](const JournalEntry&) {});
}

using StoragePtr = decltype(SqliteJournalStorage::OpenCopy(""))::value_type;

// A copy in a SQLite database; a tracker can be running.
absl::StatusOr<StoragePtr> CopyOf(const std::string& folder, absl::Status& all) {
  ASSIGN_OR_RETURN(const JournalLogContents log, JournalLogContents::Read(folder));
  ASSIGN_OR_RETURN(StoragePtr storage, SqliteJournalStorage::OpenCopy(absl::StrCat(
                                           folder, "/", SqliteJournalStorage::kFileName)));
  all = WriteRowsOf(log, *storage);
  return storage;
}

// `all`: the status of making the copy.
absl::Status Show(SqliteDatabase& database, absl::Status all, std::FILE* out) {
  for (const auto& part : {&Totals, &Drawings, &Newest}) {
    const absl::StatusOr<std::string> text = part(database);
    if (text.ok()) std::fputs(text->c_str(), out);
    all.Update(text.status());
  }
  all.Update(Check(database));
  return all;
}

}  // namespace

absl::StatusOr<CommandPtr> FindStoredCommand(const std::string& folder, absl::string_view id) {
  absl::Status all;
  ASSIGN_OR_RETURN(const StoragePtr storage, CopyOf(folder, all));
  RETURN_IF_ERROR(all);
  return FindStoredCommand(*storage, id);
}

absl::StatusOr<CommandPtr> FindStoredCommand(JournalStorage& journal, absl::string_view id) {
  CommandPtr found;
  RETURN_IF_ERROR(journal.Replay(ClocksAsBrought, [&](const JournalEntry& entry) {
    const auto* record = std::get_if<CommandRecord>(&entry.change);
    if (record != nullptr && record->command->spec->id.ToString() == id) found = record->command;
  }));
  if (found != nullptr) return found;
  return absl::NotFoundError(absl::StrCat("there is no command ", id));
}

absl::Status InspectCommands(const std::string& folder, std::FILE* out) {
  absl::Status all;
  ASSIGN_OR_RETURN(const StoragePtr storage, CopyOf(folder, all));
  const absl::Status shown = Show(storage->database(), all, out);
  if (shown.ok()) return shown;
  return {shown.code(), absl::StrCat(folder, ": ", shown.message())};
}

absl::Status InspectCommands(JournalStorage& journal, std::FILE* out) {
  ASSIGN_OR_RETURN(const StoragePtr storage, SqliteJournalStorage::OpenTemporary());
  const absl::Status all =
      CopyJournal(journal, *storage, [](int64_t, int64_t) { return absl::OkStatus(); }).status();
  return Show(storage->database(), all, out);
}

}  // namespace callslip::tracker
