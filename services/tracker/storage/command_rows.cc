#include "tracker/storage/command_rows.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/status_macros.h"
#include "tracker/storage/command_encoding.h"

namespace callslip::tracker {
namespace {

// Results up to this size lie beside their states, where a page holds several.
constexpr size_t kMaxResultBesideState = 1024;

const Payload& ResultOf(const CommandSnapshot& command) {
  return command.result != nullptr ? command.result : command.late_result;
}

bool IsLarge(const Payload& payload) {
  return payload != nullptr && payload->size() > kMaxResultBesideState;
}

void BindPayload(SqliteStatement& statement, int parameter, const Payload& payload) {
  if (payload == nullptr) return statement.BindNull(parameter);
  statement.BindBytes(parameter, *payload);
}

Payload PayloadIn(const SqliteStatement& row, int column) {
  if (row.IsNull(column)) return nullptr;
  return std::make_shared<const std::string>(row.Text(column));
}

// Nothing has happened to it since its registration.
bool IsAsRegistered(const CommandSnapshot& command) {
  return command.state == CommandState::kQueued && command.revision == 1;
}

}  // namespace

absl::Status NonsensicalRow(absl::string_view table, int64_t sequence) {
  return absl::DataLossError(
      absl::StrCat("row ", sequence, " of its table \"", table, "\" makes no sense"));
}

absl::Status DamagedRow(absl::string_view table, int64_t sequence) {
  return absl::DataLossError(
      absl::StrCat("row ", sequence, " of its table \"", table, "\" is not as it was written"));
}

absl::StatusOr<CommandRowWriter> CommandRowWriter::Prepare(SqliteDatabase& database) {
  CommandRowWriter writer;
  writer.database_ = &database;
  for (const auto& [statement, sql] :
       std::initializer_list<std::pair<SqliteStatement*, const char*>>{
           {&writer.insert_command_,
            "INSERT INTO commands VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"},
           {&writer.replace_state_,
            "INSERT OR REPLACE INTO states VALUES "
            "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"},
           {&writer.replace_result_, "INSERT OR REPLACE INTO results VALUES (?,?,?)"},
           {&writer.mark_read_, "UPDATE states SET is_read = 1 WHERE sequence = ?"},
           {&writer.delete_command_, "DELETE FROM commands WHERE sequence = ?"},
           {&writer.delete_state_, "DELETE FROM states WHERE sequence = ?"},
           {&writer.delete_result_, "DELETE FROM results WHERE sequence = ?"},
           {&writer.insert_tombstone_, "INSERT OR REPLACE INTO tombstones VALUES (?,?,?,?,?,?)"},
           {&writer.drop_tombstones_, "DELETE FROM tombstones WHERE until <= ?"},
           {&writer.drop_oldest_tombstones_,
            "DELETE FROM tombstones WHERE (until, number) IN (SELECT until, number FROM tombstones "
            "ORDER BY until, number LIMIT ?)"}}) {
    ASSIGN_OR_RETURN(*statement, SqliteStatement::Prepare(database, sql));
  }
  return writer;
}

absl::Status CommandRowWriter::Write(const CommandRecord& record, bool is_new) {
  if (is_new) RETURN_IF_ERROR(WriteSpec(*record.command->spec));
  if (IsAsRegistered(*record.command)) return absl::OkStatus();
  return WriteState(record);
}

absl::Status CommandRowWriter::WriteSpec(const CommandSpec& spec) {
  SqliteStatement& row = insert_command_;
  const std::string id = spec.id.ToString();
  const std::string deadlines = EncodeOverrides(spec.deadlines->overrides);
  const std::string traceparent = spec.trace.empty() ? "" : spec.trace.ToString();
  int next = 0;
  row.Bind(next++, static_cast<int64_t>(spec.sequence));
  for (const absl::string_view name :
       {absl::string_view(id), spec.client_id(), spec.target(), spec.type(), spec.request_id(),
        spec.label(), spec.ordering_key(), spec.replay_of()}) {
    row.BindText(next++, name);
  }
  row.Bind(next++, int64_t{spec.command_class == CommandClass::kHuman});
  row.Bind(next++, int64_t{spec.idempotent});
  row.Bind(next++, int64_t{spec.priority});
  row.Bind(next++, absl::ToUnixNanos(spec.register_time));
  if (spec.not_before == absl::InfinitePast()) {
    row.BindNull(next++);
  } else {
    row.Bind(next++, absl::ToUnixNanos(spec.not_before));
  }
  if (deadlines.empty()) {
    row.BindNull(next++);
  } else {
    row.BindBytes(next++, deadlines);
  }
  row.BindText(next++, traceparent);
  row.BindText(next++, spec.subject());
  BindPayload(row, next++, spec.params);
  row.BindChecksum(next++);
  return row.Run();
}

absl::Status CommandRowWriter::WriteState(const CommandRecord& record) {
  const CommandSnapshot& command = *record.command;
  const auto sequence = static_cast<int64_t>(command.spec->sequence);
  const Payload& result = ResultOf(command);
  const bool is_large = IsLarge(result);
  if (is_large) {
    replace_result_.Bind(0, sequence);
    replace_result_.BindBytes(1, *result);
    replace_result_.BindChecksum(2);
    RETURN_IF_ERROR(replace_result_.Run());
  } else if (command.state == CommandState::kExpired) {
    // Its result may have been there, and was forgotten.
    delete_result_.Bind(0, sequence);
    RETURN_IF_ERROR(delete_result_.Run());
  }

  SqliteStatement& row = replace_state_;
  std::string trace;
  EncodeTrace(command, trace);
  std::string leases;
  for (const LeaseToken& lease : record.leases) {
    absl::StrAppend(&leases, leases.empty() ? "" : " ", lease.ToString());
  }
  int next = 0;
  row.Bind(next++, sequence);
  row.BindText(next++, CommandStateName(command.state));
  row.Bind(next++, int64_t{command.attempt});
  row.Bind(next++, command.revision);
  row.BindBytes(next++, trace);
  if (command.error != nullptr) {
    row.BindText(next++, command.error->code);
    row.BindText(next++, command.error->message);
    row.BindText(next++, command.error->hint);
    row.Bind(next++, int64_t{command.error->may_have_executed});
  } else {
    for (int i = 0; i < 4; ++i) row.BindNull(next++);
  }
  if (command.progress != nullptr) {
    row.Bind(next++, command.progress->fraction);
    row.BindText(next++, command.progress->message);
  } else {
    for (int i = 0; i < 2; ++i) row.BindNull(next++);
  }
  BindPayload(row, next++, command.context);
  BindPayload(row, next++, is_large ? nullptr : command.result);
  BindPayload(row, next++, is_large ? nullptr : command.late_result);
  row.BindText(next++, leases);
  row.BindText(next++, record.worker);
  row.BindText(next++, record.worker_before);
  row.Bind(next++, int64_t{record.heartbeats});
  row.Bind(next++, int64_t{record.untold});
  row.Bind(next++, static_cast<int64_t>(record.end_number));
  row.BindChecksum(next++);
  row.Bind(next++, int64_t{command.spec->is_read()});
  return row.Run();
}

absl::Status CommandRowWriter::MarkRead(uint64_t sequence) {
  mark_read_.Bind(0, static_cast<int64_t>(sequence));
  return mark_read_.Run();
}

absl::Status CommandRowWriter::Remove(uint64_t sequence, const CommandRemoval& removal,
                                      bool is_first) {
  if (!is_first) {
    for (SqliteStatement* row : {&delete_command_, &delete_state_, &delete_result_}) {
      row->Bind(0, static_cast<int64_t>(sequence));
      RETURN_IF_ERROR(row->Run());
    }
  }
  const std::string id = removal.id.ToString();
  insert_tombstone_.Bind(0, removal.until_nanos);
  insert_tombstone_.Bind(1, static_cast<int64_t>(removal.number));
  insert_tombstone_.BindText(2, id);
  insert_tombstone_.BindText(3, removal.client_id);
  insert_tombstone_.BindText(4, CommandStateName(removal.ended_as));
  insert_tombstone_.BindChecksum(5);
  return insert_tombstone_.Run();
}

absl::StatusOr<int64_t> CommandRowWriter::DropTombstones(int64_t now_nanos) {
  drop_tombstones_.Bind(0, now_nanos);
  RETURN_IF_ERROR(drop_tombstones_.Run());
  return database_->changes();
}

absl::Status CommandRowWriter::DropOldestTombstones(int64_t count) {
  drop_oldest_tombstones_.Bind(0, count);
  return drop_oldest_tombstones_.Run();
}

namespace {

// The three tables of commands, read side by side in the order of their keys.
class CommandRowReader {
 public:
  CommandRowReader(SqliteDatabase& database, const JournalStorage::ClocksOf& clocks)
      : database_(database), clocks_(clocks) {}

  absl::Status Read(const std::function<void(JournalEntry)>& each) {
    ASSIGN_OR_RETURN(commands_, Query("commands"));
    ASSIGN_OR_RETURN(states_, Query("states"));
    ASSIGN_OR_RETURN(results_, Query("results"));
    RETURN_IF_ERROR(states_.Next());
    RETURN_IF_ERROR(results_.Next());
    while (true) {
      RETURN_IF_ERROR(commands_.Next());
      if (!commands_.found) break;
      CommandRecord record;
      ASSIGN_OR_RETURN(auto snapshot, ReadCommand());
      const int64_t sequence = commands_.sequence;
      if (states_.found && states_.sequence < sequence)
        return NonsensicalRow("states", states_.sequence);
      if (states_.found && states_.sequence == sequence) {
        RETURN_IF_ERROR(ReadState(*snapshot, record));
        RETURN_IF_ERROR(states_.Next());
      } else {
        snapshot->trace.push_back({absl::ToUnixNanos(snapshot->spec->register_time),
                                   TraceEntry::Stage::kQueued, TraceEntry::Source::kClient});
      }
      if (results_.found && results_.sequence == sequence) {
        (snapshot->state == CommandState::kCompleted ? snapshot->result : snapshot->late_result) =
            PayloadIn(results_.statement, 1);
        if (!results_.statement.HasChecksum(2)) return DamagedRow("results", sequence);
        RETURN_IF_ERROR(results_.Next());
      }
      record.command = std::move(snapshot);
      each({static_cast<uint64_t>(sequence), std::move(record)});
    }
    if (states_.found) return NonsensicalRow("states", states_.sequence);
    if (results_.found) return NonsensicalRow("results", results_.sequence);
    return absl::OkStatus();
  }

 private:
  struct Rows {
    SqliteStatement statement;
    bool found = false;
    int64_t sequence = 0;

    absl::Status Next() {
      ASSIGN_OR_RETURN(found, statement.Step());
      if (found) sequence = statement.Int(0);
      return absl::OkStatus();
    }
  };

  absl::StatusOr<Rows> Query(const char* table) {
    Rows rows;
    ASSIGN_OR_RETURN(rows.statement,
                     SqliteStatement::Prepare(
                         database_, absl::StrCat("SELECT * FROM ", table, " ORDER BY sequence")));
    return rows;
  }

  // The command as it was registered, but for its trace.
  absl::StatusOr<std::shared_ptr<CommandSnapshot>> ReadCommand() {
    const SqliteStatement& row = commands_.statement;
    int next = 1;
    const std::optional<CommandId> id = CommandId::Parse(row.Bytes(next++));
    CommandRequest request;
    for (std::string* name :
         {&request.client_id, &request.target, &request.type, &request.request_id, &request.label,
          &request.ordering_key, &request.replay_of}) {
      *name = row.Text(next++);
    }
    request.command_class = row.Int(next++) != 0 ? CommandClass::kHuman : CommandClass::kStandard;
    request.idempotent = row.Int(next++) != 0;
    request.priority = static_cast<int>(row.Int(next++));
    const absl::Time registered = absl::FromUnixNanos(row.Int(next++));
    if (!row.IsNull(next)) request.not_before = absl::FromUnixNanos(row.Int(next));
    const bool has_clocks = DecodeOverrides(row.Bytes(++next), request.deadlines);
    request.trace = TraceContext::Parse(row.Bytes(++next)).value_or(TraceContext());
    request.subject = row.Text(++next);
    request.params = PayloadIn(row, ++next);
    if (!row.HasChecksum(++next)) return DamagedRow("commands", commands_.sequence);
    if (!id.has_value() || !has_clocks || request.params == nullptr) {
      return NonsensicalRow("commands", commands_.sequence);
    }
    auto snapshot = std::make_shared<CommandSnapshot>();
    snapshot->spec = std::make_shared<const CommandSpec>(
        *id, request, registered, static_cast<uint64_t>(commands_.sequence),
        clocks_(request.deadlines, request.command_class));
    return snapshot;
  }

  absl::Status ReadState(CommandSnapshot& command, CommandRecord& record) {
    const SqliteStatement& row = states_.statement;
    int next = 1;
    const std::optional<CommandState> state = StateFrom(row.Bytes(next++));
    if (!state.has_value()) return NonsensicalRow("states", states_.sequence);
    command.state = *state;
    command.attempt = static_cast<int16_t>(row.Int(next++));
    command.revision = row.Int(next++);
    if (!DecodeTrace(row.Bytes(next++), command)) return NonsensicalRow("states", states_.sequence);
    if (!row.IsNull(next + 3)) {
      command.error = std::make_shared<const CommandError>(CommandError{
          row.Text(next), row.Text(next + 1), row.Text(next + 2), row.Int(next + 3) != 0});
    }
    next += 4;
    if (!row.IsNull(next)) {
      command.progress = std::make_shared<const CommandProgress>(
          CommandProgress{row.Real(next), row.Text(next + 1)});
    }
    next += 2;
    command.context = PayloadIn(row, next++);
    command.result = PayloadIn(row, next++);
    command.late_result = PayloadIn(row, next++);
    for (const absl::string_view text : absl::StrSplit(row.Bytes(next++), ' ', absl::SkipEmpty())) {
      const std::optional<LeaseToken> lease = LeaseToken::Parse(text);
      if (!lease.has_value() || record.leases.size() == kMaxAttempts) {
        return NonsensicalRow("states", states_.sequence);
      }
      record.leases.push_back(*lease);
    }
    record.worker = row.Text(next++);
    record.worker_before = row.Text(next++);
    record.heartbeats = row.Int(next++) != 0;
    record.untold = row.Int(next++) != 0;
    record.end_number = static_cast<uint64_t>(row.Int(next++));
    if (!row.HasChecksum(next++)) return DamagedRow("states", states_.sequence);
    if (row.Int(next++) != 0) command.spec->MarkRead();
    if (!IsSensible(command, record)) return NonsensicalRow("states", states_.sequence);
    return absl::OkStatus();
  }

  SqliteDatabase& database_;
  const JournalStorage::ClocksOf& clocks_;
  Rows commands_;
  Rows states_;
  Rows results_;
};

}  // namespace

absl::Status ReadCommandRows(SqliteDatabase& database, const JournalStorage::ClocksOf& clocks,
                             const std::function<void(JournalEntry)>& each) {
  RETURN_IF_ERROR(CommandRowReader(database, clocks).Read(each));
  ASSIGN_OR_RETURN(
      SqliteStatement row,
      SqliteStatement::Prepare(database, "SELECT * FROM tombstones ORDER BY until, number"));
  while (true) {
    ASSIGN_OR_RETURN(const bool found, row.Step());
    if (!found) return absl::OkStatus();
    const std::optional<CommandId> id = CommandId::Parse(row.Bytes(2));
    const std::optional<CommandState> ended_as = StateFrom(row.Bytes(4));
    if (!row.HasChecksum(5)) return DamagedRow("tombstones", row.Int(1));
    if (!id.has_value() || !ended_as.has_value()) return NonsensicalRow("tombstones", row.Int(1));
    each({0, CommandRemoval{.id = *id,
                            .client_id = row.Text(3),
                            .ended_as = *ended_as,
                            .until_nanos = row.Int(0),
                            .number = static_cast<uint64_t>(row.Int(1))}});
  }
}

}  // namespace callslip::tracker
