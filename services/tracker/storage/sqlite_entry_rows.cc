#include "tracker/storage/sqlite_entry_rows.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace callslip::tracker {
namespace {

void BindOptional(SqliteStatement& row, int parameter, std::optional<int64_t> value) {
  if (!value.has_value()) return row.BindNull(parameter);
  row.Bind(parameter, *value);
}

// Passes the rows that are `selected` to the decoder.
absl::Status ReadRows(SqliteDatabase& database, absl::string_view selected,
                      EntryRowDecoder decoder) {
  ASSIGN_OR_RETURN(
      SqliteStatement row,
      SqliteStatement::Prepare(
          database, absl::StrCat("SELECT key, record, crc FROM entries WHERE ", selected)));
  while (true) {
    ASSIGN_OR_RETURN(const bool found, row.Step());
    if (!found) return decoder.Finish();
    RETURN_IF_ERROR(decoder.Take(row.Int(0), row.Bytes(1), row.Int(2)));
  }
}

}  // namespace

absl::StatusOr<EntryRowWriter> EntryRowWriter::Prepare(SqliteDatabase& database) {
  EntryRowWriter writer;
  writer.database_ = &database;
  for (const auto& [statement, sql] :
       std::initializer_list<std::pair<SqliteStatement*, const char*>>{
           {&writer.put_,
            "INSERT OR REPLACE INTO entries (key, until, number, kind, id, client, target, type, "
            "registered, state, worker, error_code, crc, record) VALUES "
            "(?,?,?,?,?,?,?,?,?,?,?,?,?,?)"},
           {&writer.remove_, "DELETE FROM entries WHERE key BETWEEN ? AND ?"},
           {&writer.drop_tombstones_, "DELETE FROM entries WHERE until <= ?"},
           {&writer.drop_oldest_tombstones_,
            "DELETE FROM entries WHERE key IN (SELECT key FROM entries WHERE until IS NOT NULL "
            "ORDER BY until, number LIMIT ?)"}}) {
    ASSIGN_OR_RETURN(*statement, SqliteStatement::Prepare(database, sql));
  }
  return writer;
}

absl::Status EntryRowWriter::Write(const JournalEntry& entry) {
  EntryRowChange change;
  RETURN_IF_ERROR(encoder_.Encode(entry, change));
  if (change.remove_from <= change.remove_to) {
    remove_.Bind(0, change.remove_from);
    remove_.Bind(1, change.remove_to);
    RETURN_IF_ERROR(remove_.Run());
  }
  return change.puts ? Put(change.row) : absl::OkStatus();
}

absl::Status EntryRowWriter::Put(const EntryRow& row) {
  int next = 0;
  put_.Bind(next++, row.key);
  BindOptional(put_, next++, row.until);
  BindOptional(put_, next++, row.number);
  put_.BindText(next++, row.kind);
  put_.BindText(next++, row.id);
  put_.BindText(next++, row.client);
  put_.BindText(next++, row.target);
  put_.BindText(next++, row.type);
  BindOptional(put_, next++, row.registered);
  put_.BindText(next++, row.state);
  put_.BindText(next++, row.worker);
  put_.BindText(next++, row.error_code);
  put_.Bind(next++, row.crc);
  put_.BindBytes(next++, row.record);
  return put_.Run();
}

absl::StatusOr<int64_t> EntryRowWriter::DropTombstones(int64_t now_nanos) {
  drop_tombstones_.Bind(0, now_nanos);
  RETURN_IF_ERROR(drop_tombstones_.Run());
  return database_->changes();
}

absl::Status EntryRowWriter::DropOldestTombstones(int64_t count) {
  drop_oldest_tombstones_.Bind(0, count);
  return drop_oldest_tombstones_.Run();
}

absl::Status ReadEntryRows(SqliteDatabase& database, const JournalStorage::ClocksOf& clocks,
                           const std::function<void(JournalEntry)>& each) {
  EntryOrder order(each);
  RETURN_IF_ERROR(ReadRows(
      database, "until IS NULL ORDER BY key",
      EntryRowDecoder(clocks, [&](JournalEntry entry) { return order.Take(std::move(entry)); })));
  RETURN_IF_ERROR(ReadRows(database, "until IS NOT NULL ORDER BY until, number",
                           EntryRowDecoder(clocks, [&](JournalEntry entry) {
                             return order.TakeTombstone(std::move(entry));
                           })));
  order.Finish();
  return absl::OkStatus();
}

}  // namespace callslip::tracker
