#include "tracker/postgres/import_mark.h"

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "tracker/postgres/cell.h"

namespace callslip::tracker {
namespace {

// Deleting the remains of an import of gigabytes takes long.
constexpr absl::Duration kMaxDeleteTime = absl::Hours(1);

constexpr char kContents[] = R"sql(
  SELECT (SELECT max(format) FROM callslip_cell),
    (EXISTS (SELECT FROM callslip_entries) OR EXISTS (SELECT FROM callslip_sessions)
     OR EXISTS (SELECT FROM callslip_events) OR EXISTS (SELECT FROM callslip_images))::int::bigint
)sql";

// Sequence numbers continue from the imported ones.
constexpr char kMark[] =
    "UPDATE callslip_cell SET format = $2, last_sequence = 0, latest = 0 WHERE epoch = $1 "
    "RETURNING 1";
constexpr char kUnmark[] = "UPDATE callslip_cell SET format = $2 WHERE epoch = $1 RETURNING 1";

constexpr char kClear[] = R"sql(
  WITH fence AS (SELECT 1 FROM callslip_cell WHERE part = 'fence' AND epoch = $1 FOR SHARE),
  a AS (DELETE FROM callslip_entries WHERE EXISTS (SELECT FROM fence)),
  b AS (DELETE FROM callslip_sessions WHERE EXISTS (SELECT FROM fence)),
  c AS (DELETE FROM callslip_events WHERE EXISTS (SELECT FROM fence)),
  d AS (DELETE FROM callslip_images WHERE EXISTS (SELECT FROM fence))
  SELECT count(*) FROM fence
)sql";

absl::Status SetFormat(PostgresConnection& connection, const char* sql, uint64_t epoch,
                       int64_t format) {
  ASSIGN_OR_RETURN(
      const PostgresResult set,
      connection.Query(sql, PostgresParameters().Add(static_cast<int64_t>(epoch)).Add(format)));
  return set.rows() == 3 ? absl::OkStatus() : CellIsTaken(epoch);
}

}  // namespace

absl::Status BeginImport(PostgresConnection& connection, uint64_t epoch) {
  ASSIGN_OR_RETURN(const PostgresResult contents, connection.Query(kContents));
  const bool is_empty = contents.Int(0, 1) == 0;
  if (!is_empty && contents.Int(0, 0) != kPostgresHalfImported) {
    return absl::FailedPreconditionError(
        "the tables in --storage are not empty, and what they hold would be mixed with what is "
        "imported: import into another schema or database (a schema is named by "
        "`?options=-csearch_path%3DNAME`), or, once `callslip-tracker inspect --storage` has shown "
        "that nobody wants what they hold, drop the tables whose names begin with callslip_");
  }
  RETURN_IF_ERROR(SetFormat(connection, kMark, epoch, kPostgresHalfImported));
  if (is_empty) return absl::OkStatus();
  ASSIGN_OR_RETURN(const PostgresResult cleared,
                   connection.Query(kClear, PostgresParameters().Add(static_cast<int64_t>(epoch)),
                                    kMaxDeleteTime));
  return cleared.Int(0, 0) == 1 ? absl::OkStatus() : CellIsTaken(epoch);
}

absl::Status EndImport(PostgresConnection& connection, uint64_t epoch) {
  const absl::Status ended = SetFormat(connection, kUnmark, epoch, kPostgresFormat);
  if (!absl::IsUnavailable(ended)) return ended;
  return absl::UnavailableError(
      absl::StrCat("whether the import has ended is not known (", ended.message(),
                   "): ask `callslip-tracker inspect --storage`, which says so, before you do it "
                   "again"));
}

}  // namespace callslip::tracker
