#include "tracker/storage/entry_rows.h"

#include <zlib.h>

#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "tracker/storage/command_encoding.h"

namespace callslip::tracker {
namespace {

// Of the record; one that was larger gives its memory back.
constexpr size_t kKeptBytes = size_t{1} << 20;

enum Part : uint64_t { kFirst = 0, kNewest = 1, kReceipt = 2, kParts = 4 };

int64_t KeyOf(uint64_t sequence, Part part) {
  return static_cast<int64_t>(sequence * kParts + part);
}

int64_t Checksum(int64_t key, absl::string_view record) {
  char head[sizeof(key)];
  std::memcpy(head, &key, sizeof(key));
  const uLong of_key = crc32_z(0, reinterpret_cast<const Bytef*>(head), sizeof(head));
  return static_cast<int64_t>(
      crc32_z(of_key, reinterpret_cast<const Bytef*>(record.data()), record.size()));
}

// What a row has besides its record. What is empty or absent is NULL.
struct Columns {
  Part part = kFirst;
  std::optional<int64_t> until;
  std::optional<int64_t> number;
  absl::string_view kind;
  std::string id;
  absl::string_view client, target, type;
  std::optional<int64_t> registered;
  absl::string_view state, worker, error_code;
};

struct ColumnsOf {
  bool is_first;

  Columns operator()(const CommandRecord& record) const {
    const CommandSnapshot& command = *record.command;
    Columns columns{.part = kNewest, .kind = "state", .state = CommandStateName(command.state)};
    columns.worker = record.worker;
    if (command.error != nullptr) columns.error_code = command.error->code;
    if (!is_first) return columns;
    const CommandSpec& spec = *command.spec;
    columns.part = kFirst;
    columns.kind = "command";
    columns.id = spec.id.ToString();
    columns.client = spec.client_id();
    columns.target = spec.target();
    columns.type = spec.type();
    columns.registered = absl::ToUnixNanos(spec.register_time);
    return columns;
  }
  Columns operator()(const CommandReceipt&) const { return {.part = kReceipt, .kind = "receipt"}; }
  Columns operator()(const CommandRemoval& removal) const {
    return {.until = removal.until_nanos,
            .number = static_cast<int64_t>(removal.number),
            .kind = "tombstone",
            .id = removal.id.ToString(),
            .client = removal.client_id,
            .state = CommandStateName(removal.ended_as)};
  }
  Columns operator()(const DrawingRecord& record) const {
    if (!is_first) return {.part = kNewest, .kind = "receipts"};
    return {.kind = "drawing", .id = record.drawing_id, .target = record.drawing->target};
  }
  Columns operator()(const DrawingAnswer& answer) const {
    return {.kind = "answer", .id = answer.drawing_id, .target = answer.target};
  }
  // These have no row.
  Columns operator()(const DrawingRemoval&) const { return {}; }
  Columns operator()(const Restart&) const { return {}; }
};

void BindOptional(SqliteStatement& row, int parameter, std::optional<int64_t> value) {
  if (!value.has_value()) return row.BindNull(parameter);
  row.Bind(parameter, *value);
}

}  // namespace

absl::Status NonsensicalRow(absl::string_view table, int64_t key) {
  return absl::DataLossError(
      absl::StrCat("row ", key, " of its table \"", table, "\" makes no sense"));
}

absl::Status DamagedRow(absl::string_view table, int64_t key) {
  return absl::DataLossError(
      absl::StrCat("row ", key, " of its table \"", table, "\" is not as it was written"));
}

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
  if (std::holds_alternative<Restart>(entry.change)) return absl::OkStatus();
  if (std::holds_alternative<DrawingRemoval>(entry.change)) return Remove(entry.sequence);
  // Where nothing of the command was written before, there is only its tombstone.
  if (std::holds_alternative<CommandRemoval>(entry.change) && !entry.is_first) {
    RETURN_IF_ERROR(Remove(entry.sequence));
  }
  return Put(entry);
}

absl::Status EntryRowWriter::Put(const JournalEntry& entry) {
  const Columns columns = std::visit(ColumnsOf{entry.is_first}, entry.change);
  const int64_t key = KeyOf(entry.sequence, columns.part);
  record_.clear();
  if (!encoder_.EncodeEntry(entry, record_)) {
    return absl::UnavailableError("an entry is larger than a row can be");
  }
  int next = 0;
  put_.Bind(next++, key);
  BindOptional(put_, next++, columns.until);
  BindOptional(put_, next++, columns.number);
  put_.BindText(next++, columns.kind);
  put_.BindText(next++, columns.id);
  put_.BindText(next++, columns.client);
  put_.BindText(next++, columns.target);
  put_.BindText(next++, columns.type);
  BindOptional(put_, next++, columns.registered);
  put_.BindText(next++, columns.state);
  put_.BindText(next++, columns.worker);
  put_.BindText(next++, columns.error_code);
  put_.Bind(next++, Checksum(key, record_));
  put_.BindBytes(next++, record_);
  RETURN_IF_ERROR(put_.Run());
  if (record_.capacity() > kKeptBytes) std::string().swap(record_);
  return absl::OkStatus();
}

absl::Status EntryRowWriter::Remove(uint64_t sequence) {
  remove_.Bind(0, KeyOf(sequence, kFirst));
  remove_.Bind(1, KeyOf(sequence, kReceipt));
  return remove_.Run();
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

namespace {

// Whether a record stands in the row of its kind. `before`: what the sequence is without it.
bool IsInPlace(Part part, const JournalEntry& entry, const JournalEntry* before) {
  const bool has_row = !std::holds_alternative<DrawingRemoval>(entry.change) &&
                       !std::holds_alternative<Restart>(entry.change);
  if (!has_row || std::visit(ColumnsOf{entry.is_first}, entry.change).part != part) return false;
  return part != kNewest || before->change.index() == entry.change.index();
}

// Makes of `entry`, which is empty before the first record of a sequence, what it is with the one
// of that row.
absl::Status TakeRow(const SqliteStatement& row, const JournalStorage::ClocksOf& clocks,
                     std::optional<JournalEntry>& entry) {
  const int64_t key = row.Int(0);
  const absl::string_view record = row.Bytes(1);
  if (Checksum(key, record) != row.Int(2)) return DamagedRow("entries", key);
  const auto part = static_cast<Part>(key & (kParts - 1));
  const JournalEntry* before = entry.has_value() ? &*entry : nullptr;
  if ((before == nullptr) != (part == kFirst)) return NonsensicalRow("entries", key);
  JournalEntry read;
  if (!DecodeEntry(
          record, [&](uint64_t) { return before; }, clocks, read) ||
      KeyOf(read.sequence, part) != key || !IsInPlace(part, read, before) ||
      (before != nullptr && before->sequence != read.sequence)) {
    return NonsensicalRow("entries", key);
  }
  if (before == nullptr) {
    entry = std::move(read);
  } else {
    Supersede(*entry, std::move(read));
  }
  return absl::OkStatus();
}

// Calls `each` with what the rows that are `selected` stand for.
absl::Status ReadRows(SqliteDatabase& database, absl::string_view selected,
                      const JournalStorage::ClocksOf& clocks,
                      absl::FunctionRef<absl::Status(JournalEntry)> each) {
  ASSIGN_OR_RETURN(
      SqliteStatement row,
      SqliteStatement::Prepare(
          database, absl::StrCat("SELECT key, record, crc FROM entries WHERE ", selected)));
  std::optional<JournalEntry> entry;
  while (true) {
    ASSIGN_OR_RETURN(const bool found, row.Step());
    const bool is_whole = !found || (row.Int(0) & (kParts - 1)) == kFirst;
    if (is_whole && entry.has_value()) {
      const auto* record = std::get_if<CommandRecord>(&entry->change);
      if (record != nullptr && !IsSensible(*record->command, *record)) {
        return NonsensicalRow("entries", KeyOf(entry->sequence, kFirst));
      }
      entry->is_first = false;
      RETURN_IF_ERROR(each(*std::exchange(entry, std::nullopt)));
    }
    if (!found) return absl::OkStatus();
    RETURN_IF_ERROR(TakeRow(row, clocks, entry));
  }
}

}  // namespace

absl::Status ReadEntryRows(SqliteDatabase& database, const JournalStorage::ClocksOf& clocks,
                           const std::function<void(JournalEntry)>& each) {
  std::vector<JournalEntry> drawings;
  std::vector<JournalEntry> answers;
  RETURN_IF_ERROR(ReadRows(database, "until IS NULL ORDER BY key", clocks, [&](JournalEntry entry) {
    if (std::holds_alternative<CommandRecord>(entry.change)) {
      each(std::move(entry));
    } else if (std::holds_alternative<DrawingRecord>(entry.change)) {
      drawings.push_back(std::move(entry));
    } else if (std::holds_alternative<DrawingAnswer>(entry.change)) {
      answers.push_back(std::move(entry));
    } else {
      return NonsensicalRow("entries", KeyOf(entry.sequence, kFirst));
    }
    return absl::OkStatus();
  }));
  RETURN_IF_ERROR(ReadRows(database, "until IS NOT NULL ORDER BY until, number", clocks,
                           [&](JournalEntry entry) {
                             if (!std::holds_alternative<CommandRemoval>(entry.change)) {
                               return NonsensicalRow("entries", KeyOf(entry.sequence, kFirst));
                             }
                             each(std::move(entry));
                             return absl::OkStatus();
                           }));
  for (auto* kind : {&drawings, &answers}) {
    for (JournalEntry& entry : *kind) each(std::move(entry));
  }
  return absl::OkStatus();
}

}  // namespace callslip::tracker
