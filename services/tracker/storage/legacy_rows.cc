#include "tracker/storage/legacy_rows.h"

#include <sqlite3.h>
#include <zlib.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/status_macros.h"
#include "tracker/storage/command_encoding.h"
#include "tracker/storage/sqlite_entry_rows.h"

namespace callslip::tracker {
namespace {

constexpr const char* kTables[] = {"commands", "states",           "results",        "tombstones",
                                   "drawings", "drawing_receipts", "drawing_answers"};

// The rows of a table, one after the other. Columns by name: one that is missing is NULL, as a
// table that is missing has no rows.
class LegacyTable {
 public:
  static absl::StatusOr<LegacyTable> Open(SqliteDatabase& database, const std::string& name,
                                          const char* key = "sequence") {
    LegacyTable table;
    table.name_ = name;
    ASSIGN_OR_RETURN(table.is_there_,
                     database.Number(absl::StrCat("SELECT count(*) FROM sqlite_schema WHERE name "
                                                  "= '",
                                                  name, "' AND type = 'table'")));
    if (table.is_there_ == 0) return table;
    ASSIGN_OR_RETURN(table.row_,
                     SqliteStatement::Prepare(
                         database, absl::StrCat("SELECT * FROM ", name, " ORDER BY ", key)));
    for (int i = 0; i < table.row_.columns(); ++i) table.columns_.push_back(table.row_.Name(i));
    return table;
  }

  absl::Status Next() {
    if (is_there_ == 0) return absl::OkStatus();
    ASSIGN_OR_RETURN(found_, row_.Step());
    const int checksum = Column("checksum");
    if (found_ && checksum >= 0 && row_.Int(checksum) != ChecksumBefore(checksum)) {
      return DamagedRow(name_, row_.Int(0));
    }
    return absl::OkStatus();
  }

  // There is a row,
  bool found() const { return found_; }
  // and it is that of the sequence.
  bool IsAt(int64_t sequence) const { return found_ && this->sequence() == sequence; }
  int64_t sequence() const { return row_.Int(0); }
  absl::Status Nonsense() const { return NonsensicalRow(name_, row_.Int(0)); }

  bool IsNull(absl::string_view name) const {
    const int column = Column(name);
    return column < 0 || row_.IsNull(column);
  }
  int64_t Int(absl::string_view name) const { return IsNull(name) ? 0 : row_.Int(Column(name)); }
  double Real(absl::string_view name) const { return IsNull(name) ? 0 : row_.Real(Column(name)); }
  std::string Text(absl::string_view name) const {
    return IsNull(name) ? "" : row_.Text(Column(name));
  }
  Payload Bytes(absl::string_view name) const {
    if (IsNull(name)) return nullptr;
    return std::make_shared<const std::string>(row_.Text(Column(name)));
  }

 private:
  int Column(absl::string_view name) const {
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i] == name) return static_cast<int>(i);
    }
    return -1;
  }

  // CRC-32 over the values of the columns before it, each with its type and size.
  int64_t ChecksumBefore(int column) const {
    uLong crc = 0;
    const auto add = [&](const void* bytes, size_t size) {
      crc = crc32_z(crc, static_cast<const Bytef*>(bytes), size);
    };
    for (int i = 0; i < column; ++i) {
      sqlite3_value* const value = sqlite3_column_value(row_.get(), i);
      const int type = sqlite3_value_type(value);
      const int64_t number = sqlite3_value_int64(value);
      const double real = sqlite3_value_double(value);
      const bool is_number = type == SQLITE_INTEGER || type == SQLITE_FLOAT;
      const absl::string_view bytes = is_number || type == SQLITE_NULL ? "" : row_.Bytes(i);
      const uint32_t head[] = {static_cast<uint32_t>(type),
                               static_cast<uint32_t>(is_number ? 8 : bytes.size())};
      add(head, sizeof(head));
      if (type == SQLITE_INTEGER) add(&number, sizeof(number));
      if (type == SQLITE_FLOAT) add(&real, sizeof(real));
      // A null pointer would begin the checksum anew.
      if (!bytes.empty()) add(bytes.data(), bytes.size());
    }
    return static_cast<int64_t>(crc);
  }

  std::string name_;
  int64_t is_there_ = 0;
  SqliteStatement row_;
  std::vector<std::string> columns_;
  bool found_ = false;
};

std::vector<std::string> IdsIn(const std::string& text) {
  return absl::StrSplit(text, ' ', absl::SkipEmpty());
}

// The command as it was registered, but for its trace; null where it makes no sense.
std::shared_ptr<CommandSnapshot> CommandIn(const LegacyTable& row) {
  const std::optional<CommandId> id = CommandId::Parse(row.Text("id"));
  CommandRequest request{.client_id = row.Text("client"),
                         .target = row.Text("target"),
                         .type = row.Text("type"),
                         .params = row.Bytes("params"),
                         .request_id = row.Text("request_id"),
                         .label = row.Text("label"),
                         .ordering_key = row.Text("ordering_key"),
                         .replay_of = row.Text("replay_of"),
                         .subject = row.Text("subject")};
  request.command_class = row.Int("human") != 0 ? CommandClass::kHuman : CommandClass::kStandard;
  request.idempotent = row.Int("idempotent") != 0;
  request.priority = static_cast<int>(row.Int("priority"));
  if (!row.IsNull("not_before")) request.not_before = absl::FromUnixNanos(row.Int("not_before"));
  request.trace = TraceContext::Parse(row.Text("traceparent")).value_or(TraceContext());
  auto clocks = std::make_shared<CommandDeadlines>();
  if (!id.has_value() || !DecodeOverrides(row.Text("deadlines"), clocks->overrides) ||
      request.params == nullptr) {
    return nullptr;
  }
  auto command = std::make_shared<CommandSnapshot>();
  command->spec =
      std::make_shared<const CommandSpec>(*id, request, absl::FromUnixNanos(row.Int("registered")),
                                          static_cast<uint64_t>(row.sequence()), std::move(clocks));
  return command;
}

bool ReadState(const LegacyTable& row, CommandSnapshot& command, CommandRecord& record) {
  const std::optional<CommandState> state = StateFrom(row.Text("state"));
  if (!state.has_value() || !DecodeTrace(row.Text("trace"), command)) return false;
  command.state = *state;
  command.attempt = static_cast<int16_t>(row.Int("attempt"));
  command.revision = row.Int("revision");
  if (!row.IsNull("may_have_executed")) {
    command.error = std::make_shared<const CommandError>(
        CommandError{row.Text("error_code"), row.Text("error_message"), row.Text("error_hint"),
                     row.Int("may_have_executed") != 0});
  }
  if (!row.IsNull("progress")) {
    command.progress = std::make_shared<const CommandProgress>(
        CommandProgress{row.Real("progress"), row.Text("progress_message")});
  }
  command.context = row.Bytes("context");
  command.result = row.Bytes("result");
  command.late_result = row.Bytes("late_result");
  for (const std::string& text : IdsIn(row.Text("leases"))) {
    const std::optional<LeaseToken> lease = LeaseToken::Parse(text);
    if (!lease.has_value() || record.leases.size() == kMaxAttempts) return false;
    record.leases.push_back(*lease);
  }
  record.worker = row.Text("worker");
  record.worker_before = row.Text("worker_before");
  record.heartbeats = row.Int("heartbeats") != 0;
  record.untold = row.Int("untold") != 0;
  record.end_number = static_cast<uint64_t>(row.Int("end_number"));
  if (row.Int("is_read") != 0) command.spec->MarkRead();
  return IsSensible(command, record);
}

using Visitor = std::function<absl::Status(JournalEntry)>;

// Three tables, read side by side. One to which nothing has happened has no state; results that
// were large have a row of their own.
absl::Status ReadCommands(SqliteDatabase& database, const Visitor& each) {
  ASSIGN_OR_RETURN(LegacyTable commands, LegacyTable::Open(database, "commands"));
  ASSIGN_OR_RETURN(LegacyTable states, LegacyTable::Open(database, "states"));
  ASSIGN_OR_RETURN(LegacyTable results, LegacyTable::Open(database, "results"));
  RETURN_IF_ERROR(states.Next());
  RETURN_IF_ERROR(results.Next());
  RETURN_IF_ERROR(commands.Next());
  while (commands.found()) {
    const int64_t sequence = commands.sequence();
    CommandRecord record;
    const auto command = CommandIn(commands);
    if (command == nullptr) return commands.Nonsense();
    if (states.IsAt(sequence)) {
      if (!ReadState(states, *command, record)) return states.Nonsense();
      RETURN_IF_ERROR(states.Next());
    } else {
      command->trace.push_back({absl::ToUnixNanos(command->spec->register_time),
                                TraceEntry::Stage::kQueued, TraceEntry::Source::kClient});
    }
    if (results.IsAt(sequence)) {
      const bool in_time = command->state == CommandState::kCompleted;
      (in_time ? command->result : command->late_result) = results.Bytes("result");
      RETURN_IF_ERROR(results.Next());
    }
    record.command = command;
    RETURN_IF_ERROR(each({static_cast<uint64_t>(sequence), std::move(record), /*is_first=*/true}));
    RETURN_IF_ERROR(commands.Next());
  }
  // Of no command.
  if (states.found()) return states.Nonsense();
  if (results.found()) return results.Nonsense();
  return absl::OkStatus();
}

// Of which commands they were is not known any more: they get numbers below those of all others.
absl::Status ReadTombstones(SqliteDatabase& database, const Visitor& each) {
  ASSIGN_OR_RETURN(LegacyTable row, LegacyTable::Open(database, "tombstones", "until, 2"));
  int64_t sequence = 0;
  RETURN_IF_ERROR(row.Next());
  while (row.found()) {
    const std::optional<CommandId> id = CommandId::Parse(row.Text("id"));
    const std::optional<CommandState> ended_as = StateFrom(row.Text("ended_as"));
    if (!id.has_value() || !ended_as.has_value()) return row.Nonsense();
    RETURN_IF_ERROR(each({static_cast<uint64_t>(--sequence),
                          CommandRemoval{.id = *id,
                                         .client_id = row.Text("client"),
                                         .ended_as = *ended_as,
                                         .until_nanos = row.Int("until"),
                                         .number = static_cast<uint64_t>(row.Int("number"))},
                          /*is_first=*/true}));
    RETURN_IF_ERROR(row.Next());
  }
  return absl::OkStatus();
}

// A line for each client that was given the drawing, with a tab and the id of the command whose
// result it is, if any.
bool ReadReceipts(const LegacyTable& row, DrawingRecord& record) {
  for (const absl::string_view line :
       absl::StrSplit(row.Text("receipts"), '\n', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(line, '\t');
    DrawingReceipt& receipt = record.receipts.emplace_back();
    receipt.client_id = std::string(parts.first);
    if (parts.second.empty()) continue;
    receipt.command = CommandId::Parse(parts.second);
    if (!receipt.command.has_value()) return false;
  }
  record.to_complete = IdsIn(row.Text("to_complete"));
  return true;
}

absl::Status ReadDrawings(SqliteDatabase& database, const Visitor& each) {
  ASSIGN_OR_RETURN(LegacyTable row, LegacyTable::Open(database, "drawings"));
  ASSIGN_OR_RETURN(LegacyTable receipts, LegacyTable::Open(database, "drawing_receipts"));
  RETURN_IF_ERROR(receipts.Next());
  RETURN_IF_ERROR(row.Next());
  while (row.found()) {
    const auto sequence = static_cast<uint64_t>(row.sequence());
    if (row.IsNull("content")) return row.Nonsense();
    DrawingRecord record{.drawing = std::make_shared<const Drawing>(
                             Drawing{.target = row.Text("target"),
                                     .tab_id = row.Int("tab_id"),
                                     .url = row.Text("url"),
                                     .title = row.Text("title"),
                                     .session = row.Text("session"),
                                     .content = row.Bytes("content"),
                                     .sequence = sequence,
                                     .append_time = absl::FromUnixNanos(row.Int("appended"))}),
                         .drawing_id = row.Text("drawing_id")};
    if (receipts.IsAt(row.sequence())) {
      if (!ReadReceipts(receipts, record)) return receipts.Nonsense();
      RETURN_IF_ERROR(receipts.Next());
    }
    RETURN_IF_ERROR(each({sequence, std::move(record), /*is_first=*/true}));
    RETURN_IF_ERROR(row.Next());
  }
  return receipts.found() ? receipts.Nonsense() : absl::OkStatus();
}

absl::Status ReadAnswers(SqliteDatabase& database, const Visitor& each) {
  ASSIGN_OR_RETURN(LegacyTable row, LegacyTable::Open(database, "drawing_answers"));
  RETURN_IF_ERROR(row.Next());
  while (row.found()) {
    DrawingAnswer answer{
        .target = row.Text("target"),
        .drawing_id = row.Text("drawing_id"),
        .append_time = absl::FromUnixNanos(row.Int("appended")),
        .answer = {.completed = IdsIn(row.Text("completed")), .stored = row.Int("stored") != 0}};
    RETURN_IF_ERROR(each({static_cast<uint64_t>(row.sequence()), std::move(answer)}));
    RETURN_IF_ERROR(row.Next());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadLegacyRows(SqliteDatabase& database, const Visitor& each) {
  for (const auto& read : {&ReadCommands, &ReadTombstones, &ReadDrawings, &ReadAnswers}) {
    RETURN_IF_ERROR(read(database, each));
  }
  return absl::OkStatus();
}

absl::Status DropLegacyTables(SqliteDatabase& database) {
  for (const char* table : kTables) {
    RETURN_IF_ERROR(database.Run(absl::StrCat("DROP TABLE IF EXISTS ", table)));
  }
  return absl::OkStatus();
}

}  // namespace callslip::tracker
