#include "tracker/postgres/cell.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/status_macros.h"

namespace callslip::tracker {
namespace {

// If several trackers start together, one of them creates the tables.
constexpr char kLockTables[] = "SELECT pg_advisory_xact_lock(4851273)";

// callslip_cell has a separate row for each part that checks the epoch, so that none waits for the
// commits of another: `fence` for sessions, which lock it shared, `journal` to count the appends,
// and `beat` to count the beats.
constexpr char kTables[] = R"sql(
  CREATE TABLE IF NOT EXISTS callslip_cell (
    part text PRIMARY KEY, format bigint NOT NULL, epoch bigint NOT NULL, count bigint NOT NULL,
    owner text NOT NULL, released boolean NOT NULL,
    last_sequence bigint NOT NULL, latest bigint NOT NULL)
    WITH (fillfactor = 10, autovacuum_vacuum_threshold = 100, autovacuum_vacuum_scale_factor = 0);
  INSERT INTO callslip_cell
    SELECT part, 1, 0, 0, '', true, 0, 0 FROM unnest(ARRAY['fence', 'journal', 'beat']) AS part
    ON CONFLICT DO NOTHING;
  CREATE TABLE IF NOT EXISTS callslip_entries (
    key bigint PRIMARY KEY, until bigint, number bigint,
    kind text, id text, client text, target text, type text, registered bigint,
    state text, worker text, error_code text,
    crc bigint NOT NULL, record bytea NOT NULL)
    WITH (fillfactor = 70, autovacuum_vacuum_threshold = 1000,
          autovacuum_vacuum_scale_factor = 0.02);
  CREATE INDEX IF NOT EXISTS callslip_entries_living ON callslip_entries (key)
    WHERE until IS NULL;
  CREATE INDEX IF NOT EXISTS callslip_entries_until ON callslip_entries (until, number)
    WHERE until IS NOT NULL;
  CREATE TABLE IF NOT EXISTS callslip_sessions (
    id text PRIMARY KEY, metadata text NOT NULL, queue text, max_seq bigint NOT NULL,
    events bigint NOT NULL, bytes bigint NOT NULL, writes bigint NOT NULL DEFAULT 0)
    WITH (fillfactor = 50);
  CREATE TABLE IF NOT EXISTS callslip_events (
    session text NOT NULL, seq bigint NOT NULL, type text NOT NULL, line bytea NOT NULL,
    PRIMARY KEY (session, seq));
  CREATE INDEX IF NOT EXISTS callslip_events_type ON callslip_events (session, type, seq);
  CREATE TABLE IF NOT EXISTS callslip_images (
    session text NOT NULL, id text NOT NULL, name text NOT NULL, data bytea NOT NULL,
    PRIMARY KEY (session, id));
)sql";

absl::StatusOr<std::string> Setting(PostgresConnection& connection, absl::string_view name) {
  ASSIGN_OR_RETURN(
      const PostgresResult result,
      connection.Query("SELECT current_setting($1::text)", PostgresParameters().AddText(name)));
  return result.Text(0, 0);
}

absl::Status Refuse(absl::string_view why) { return absl::FailedPreconditionError(why); }

// The settings of a reliable database.
absl::Status CheckSettings(PostgresConnection& connection, const PostgresDemands& demands) {
  ASSIGN_OR_RETURN(const std::string version, Setting(connection, "server_version_num"));
  int number = 0;
  if (!absl::SimpleAtoi(version, &number) || number < 130000) {
    return Refuse("the server of --storage is older than PostgreSQL 13: use a newer one");
  }
  for (const char* name : {"fsync", "full_page_writes"}) {
    ASSIGN_OR_RETURN(const std::string value, Setting(connection, name));
    if (value != "on") {
      return Refuse(absl::StrCat("the server of --storage has ", name, " = ", value,
                                 ", so that a power cut may lose what was stored: set it to on"));
    }
  }
  if (!demands.standby) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string standbys, Setting(connection, "synchronous_standby_names"));
  if (standbys.empty()) {
    return Refuse(
        "the server of --storage has no synchronous standby, so that its machine may take commands "
        "with it: name one in synchronous_standby_names, or say --storage-without-standby");
  }
  return absl::OkStatus();
}

// Checks the schema of the tables.
absl::Status CheckSchema(PostgresConnection& connection) {
  ASSIGN_OR_RETURN(const PostgresResult result,
                   connection.Query("SELECT coalesce(current_schema()::text, ''), "
                                    "current_setting('search_path')"));
  if (!result.Text(0, 0).empty()) return absl::OkStatus();
  return Refuse(absl::StrCat(
      "the role of --storage may use no schema of its search_path (", result.Text(0, 1),
      "): create it and GRANT USAGE, CREATE on it, or name another one, as in "
      "options=-csearch_path%3DNAME"));
}

// Everything that is done later, applied to no row.
constexpr char kUses[] = R"sql(
  SELECT part, format, epoch, count, owner, released, last_sequence, latest
    FROM callslip_cell LIMIT 0;
  SELECT key, until, number, kind, id, client, target, type, registered, state, worker,
    error_code, crc, record FROM callslip_entries LIMIT 0;
  SELECT id, metadata, queue, max_seq, events, bytes FROM callslip_sessions LIMIT 0;
  SELECT session, seq, type, line FROM callslip_events LIMIT 0;
  SELECT session, id, name, data FROM callslip_images LIMIT 0;
  UPDATE callslip_cell SET epoch = epoch WHERE false;
  UPDATE callslip_entries SET key = key WHERE false;
  UPDATE callslip_sessions SET id = id WHERE false;
  UPDATE callslip_images SET id = id WHERE false;
  DELETE FROM callslip_entries WHERE false;
  DELETE FROM callslip_sessions WHERE false;
  DELETE FROM callslip_events WHERE false;
  DELETE FROM callslip_images WHERE false;
  INSERT INTO callslip_entries SELECT * FROM callslip_entries WHERE false;
  INSERT INTO callslip_sessions SELECT * FROM callslip_sessions WHERE false;
  INSERT INTO callslip_events SELECT * FROM callslip_events WHERE false;
  INSERT INTO callslip_images SELECT * FROM callslip_images WHERE false
)sql";

// Checks the rights to the tables, their columns, and the rows that must always exist.
absl::Status CheckTables(PostgresConnection& connection) {
  constexpr char kRemedy[] = "restore all callslip_ tables from one backup, or use another schema";
  const absl::Status used = connection.Run(kUses);
  if (absl::IsFailedPrecondition(used) && absl::StrContains(used.message(), "does not exist")) {
    return Refuse(absl::StrCat("the tables in --storage are not as a tracker makes them: ",
                               used.message(), "; ", kRemedy));
  }
  RETURN_IF_ERROR(used);
  ASSIGN_OR_RETURN(const PostgresResult rows,
                   connection.Query("SELECT count(*), count(DISTINCT epoch) FROM callslip_cell "
                                    "WHERE part IN ('fence', 'journal', 'beat')"));
  if (rows.Int(0, 0) != 3) {
    return Refuse(absl::StrCat("the table callslip_cell has lost its rows: ", kRemedy));
  }
  if (rows.Int(0, 1) == 1) return absl::OkStatus();
  return Refuse(absl::StrCat("the rows of callslip_cell are of more than one epoch: ", kRemedy));
}

// Beats and leases depend on durations, but tombstones and retention on the wall clock, and one
// tracker continues with the entries of another.
absl::Status CheckClock(PostgresConnection& connection) {
  const absl::Time before = WallTime();
  ASSIGN_OR_RETURN(
      const PostgresResult result,
      connection.Query("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"));
  const absl::Duration off = absl::AbsDuration(absl::FromUnixMicros(result.Int(0, 0)) - before);
  if (off <= absl::Seconds(10)) return absl::OkStatus();
  return Refuse(absl::StrCat("the clock of this machine and that of the server of --storage are ",
                             absl::FormatDuration(off), " apart: set both, by NTP for instance"));
}

absl::Status CheckFormat(PostgresConnection& connection, const PostgresDemands& demands) {
  ASSIGN_OR_RETURN(const PostgresResult format,
                   connection.Query("SELECT max(format) FROM callslip_cell"));
  if (format.Int(0, 0) == kPostgresHalfImported) {
    if (!demands.whole) return absl::OkStatus();
    return Refuse(
        "the tables in --storage are half imported: do `callslip-tracker import` again, which "
        "begins anew, or drop the tables whose names begin with callslip_");
  }
  if (format.Int(0, 0) <= kPostgresFormat) return absl::OkStatus();
  return Refuse(absl::StrCat("the tables in --storage are of a newer version (format ",
                             format.Int(0, 0), ", this tracker knows ", kPostgresFormat,
                             "): use a newer tracker, or another schema"));
}

absl::Status MakeTables(PostgresConnection& connection, const PostgresDemands& demands) {
  RETURN_IF_ERROR(CheckSchema(connection));
  // Creates nothing if everything exists: this role may not be allowed to.
  ASSIGN_OR_RETURN(const PostgresResult there,
                   connection.Query("SELECT coalesce(to_regclass(format('%I.callslip_images', "
                                    "current_schema()))::text, '')"));
  if (there.Text(0, 0).empty()) {
    RETURN_IF_ERROR(connection.Run(absl::StrCat("BEGIN;", kLockTables, ";", kTables, "COMMIT")));
  }
  RETURN_IF_ERROR(CheckFormat(connection, demands));
  return CheckTables(connection);
}

}  // namespace

absl::Status CellIsTaken(uint64_t epoch) {
  return absl::FailedPreconditionError(
      absl::StrCat("another tracker has taken over after epoch ", epoch));
}

absl::Status CheckEpoch(PostgresConnection& connection, uint64_t epoch) {
  ASSIGN_OR_RETURN(
      const PostgresResult row,
      connection.Query("SELECT 1 FROM callslip_cell WHERE part = 'fence' AND epoch = $1",
                       PostgresParameters().Add(static_cast<int64_t>(epoch))));
  return row.rows() == 1 ? absl::OkStatus() : CellIsTaken(epoch);
}

absl::Status PreparePostgres(PostgresConnection& connection, const PostgresDemands& demands) {
  RETURN_IF_ERROR(CheckSettings(connection, demands));
  RETURN_IF_ERROR(CheckClock(connection));
  const absl::Status made = MakeTables(connection, demands);
  if (!absl::IsFailedPrecondition(made) || !absl::StrContains(made.message(), "permission")) {
    return made;
  }
  return Refuse(absl::StrCat("the role of --storage lacks rights: ", made.message(),
                             ". It must be able to make tables in its schema, or, where they are "
                             "there, to read, insert, update and delete in all callslip_ tables"));
}

absl::StatusOr<PostgresResult> PostgresCell::Query(const char* sql,
                                                   const PostgresParameters& parameters) {
  absl::Status failed;
  if (connection_ == nullptr || !connection_->is_open()) {
    absl::StatusOr<std::unique_ptr<PostgresConnection>> opened =
        PostgresConnection::Open(url_, kMaxLockTime);
    if (opened.ok()) connection_ = *std::move(opened);
    failed = opened.status();
  }
  if (failed.ok()) {
    absl::StatusOr<PostgresResult> result = connection_->Query(sql, parameters, kMaxQueryTime);
    if (result.ok()) return result;
    failed = result.status();
  }
  // A rejected login, or a missing right, does not mean that another tracker owns the cell.
  if (!absl::IsFailedPrecondition(failed)) return failed;
  return absl::UnavailableError(failed.message());
}

absl::StatusOr<CellState> PostgresCell::Read() {
  ASSIGN_OR_RETURN(const PostgresResult row,
                   Query("SELECT epoch, count, owner, released::int::bigint FROM callslip_cell "
                         "WHERE part = 'beat'"));
  if (row.rows() != 1) return absl::DataLossError("the table callslip_cell has lost its rows");
  return CellState{.epoch = static_cast<uint64_t>(row.Int(0, 0)),
                   .beat = static_cast<uint64_t>(row.Int(0, 1)),
                   .owner = row.Text(0, 2),
                   .released = row.Int(0, 3) != 0};
}

absl::StatusOr<uint64_t> PostgresCell::Take(const CellState& seen, const std::string& owner) {
  // One statement, so that nothing stays locked if this process is frozen in the middle. A
  // committing append or beat holds its row, so this waits for it and then checks the condition
  // again. All three rows always have the same epoch. Tables of a newer format belong to another
  // tracker.
  ASSIGN_OR_RETURN(
      const PostgresResult taken,
      Query(
          "WITH beat AS (SELECT epoch FROM callslip_cell WHERE part = 'beat' AND epoch = $1 AND "
          "count = $2 AND format IN ($4, $5) FOR UPDATE) "
          "UPDATE callslip_cell SET epoch = callslip_cell.epoch + 1, owner = $3, released = false "
          "FROM beat WHERE callslip_cell.epoch = $1 RETURNING callslip_cell.epoch",
          PostgresParameters()
              .Add(static_cast<int64_t>(seen.epoch))
              .Add(static_cast<int64_t>(seen.beat))
              .AddText(owner)
              .Add(kPostgresFormat)
              .Add(for_import_ ? kPostgresHalfImported : kPostgresFormat)));
  return taken.rows() == 3 ? absl::StatusOr<uint64_t>(seen.epoch + 1) : CellIsTaken(seen.epoch);
}

absl::Status PostgresCell::Beat(uint64_t epoch) {
  ASSIGN_OR_RETURN(const PostgresResult row,
                   Query("UPDATE callslip_cell SET count = count + 1 WHERE "
                         "part = 'beat' AND epoch = $1 RETURNING "
                         "(current_setting('synchronous_standby_names') <> '')::int::bigint",
                         PostgresParameters().Add(static_cast<int64_t>(epoch))));
  if (row.rows() != 1) return CellIsTaken(epoch);
  NoteCopy(row.Int(0, 0) != 0);
  return absl::OkStatus();
}

// An operator who promotes a standby, or disables waiting for one, wants the tracker to continue:
// it does, and logs it.
void PostgresCell::NoteCopy(bool has_copy) {
  if (has_copy_.exchange(has_copy) == has_copy) return;
  if (has_copy) {
    Log(LogLevel::kInfo, "the database has a synchronous standby again");
  } else {
    Log(LogLevel::kError,
        "the database has no synchronous standby: what is stored from now on is on one machine");
  }
}

absl::Status PostgresCell::Release(uint64_t epoch) {
  ASSIGN_OR_RETURN(const PostgresResult row,
                   Query("UPDATE callslip_cell SET released = true WHERE "
                         "part = 'beat' AND epoch = $1 RETURNING epoch",
                         PostgresParameters().Add(static_cast<int64_t>(epoch))));
  return row.rows() == 1 ? absl::OkStatus() : CellIsTaken(epoch);
}

}  // namespace callslip::tracker
