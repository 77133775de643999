#include "tracker/storage/command_inspection.h"

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "tracker/storage/sqlite.h"

namespace callslip::tracker {
namespace {

// One line for each row, its columns parted by blanks.
absl::Status Print(SqliteDatabase& database, const std::string& sql, std::FILE* out) {
  ASSIGN_OR_RETURN(SqliteStatement row, SqliteStatement::Prepare(database, sql));
  while (true) {
    ASSIGN_OR_RETURN(const bool found, row.Step());
    if (!found) return absl::OkStatus();
    std::string line;
    for (int column = 0; column < row.columns(); ++column) {
      absl::StrAppend(&line, column == 0 ? "" : "  ", row.IsNull(column) ? "-" : row.Text(column));
    }
    std::fprintf(out, "%s\n", line.c_str());
  }
}

}  // namespace

absl::Status InspectCommands(const std::string& path, std::FILE* out) {
  ASSIGN_OR_RETURN(SqliteDatabase database, SqliteDatabase::OpenToRead(path));
  absl::Status all;
  for (const char* sql :
       {"SELECT 'format', user_version FROM pragma_user_version",
        "SELECT 'check', integrity_check FROM pragma_integrity_check(10)",
        "SELECT 'appends', position, 'last sequence', last_sequence FROM journal",
        "SELECT state, count(*) FROM overview GROUP BY state",
        "SELECT 'removed of late', count(*) FROM tombstones",
        "SELECT id, state, client, target, type, registered_utc, worker, error_code FROM overview "
        "ORDER BY sequence"}) {
    all.Update(Print(database, sql, out));
  }
  RETURN_IF_ERROR(all);
  ASSIGN_OR_RETURN(const std::string whole,
                   database.Text("SELECT integrity_check FROM pragma_integrity_check(1)"));
  if (whole != "ok") return absl::DataLossError(absl::StrCat(path, " is damaged: ", whole));
  return absl::OkStatus();
}

}  // namespace callslip::tracker
