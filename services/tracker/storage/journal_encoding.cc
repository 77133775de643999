#include "tracker/storage/journal_encoding.h"

#include <optional>
#include <utility>

#include "storage/journal.pb.h"
#include "tracker/storage/command_encoding.h"

namespace callslip::tracker {
namespace {

// Of the message; the memory of a larger one is released.
constexpr size_t kKeptBytes = size_t{1} << 20;

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

void Assign(std::string* to, absl::string_view from) { to->assign(from.data(), from.size()); }

Payload ToPayload(const std::string& bytes) { return std::make_shared<const std::string>(bytes); }

void Encode(const CommandSpec& spec, storage::CommandSpec& to) {
  to.set_id(spec.id.ToString());
  Assign(to.mutable_client_id(), spec.client_id());
  Assign(to.mutable_target(), spec.target());
  Assign(to.mutable_type(), spec.type());
  Assign(to.mutable_request_id(), spec.request_id());
  Assign(to.mutable_label(), spec.label());
  Assign(to.mutable_ordering_key(), spec.ordering_key());
  Assign(to.mutable_replay_of(), spec.replay_of());
  Assign(to.mutable_subject(), spec.subject());
  to.set_is_human(spec.command_class == CommandClass::kHuman);
  to.set_idempotent(spec.idempotent);
  to.set_priority(spec.priority);
  to.set_register_nanos(absl::ToUnixNanos(spec.register_time));
  if (spec.not_before != absl::InfinitePast()) {
    to.set_not_before_nanos(absl::ToUnixNanos(spec.not_before));
  }
  *to.mutable_deadlines() = EncodeOverrides(spec.deadlines->overrides);
  if (!spec.trace.empty()) *to.mutable_traceparent() = spec.trace.ToString();
  // Left alone if empty, because touching it would allocate it.
  if (!spec.tracestate().empty()) Assign(to.mutable_tracestate(), spec.tracestate());
  if (!spec.baggage().empty()) Assign(to.mutable_baggage(), spec.baggage());
  to.set_params(*spec.params);
}

void Encode(const CommandRecord& record, bool is_first, storage::Command& to) {
  const CommandSnapshot& command = *record.command;
  if (is_first) Encode(*command.spec, *to.mutable_spec());
  Assign(to.mutable_state(), CommandStateName(command.state));
  to.set_attempt(command.attempt);
  to.set_revision(command.revision);
  EncodeTrace(command, *to.mutable_trace());
  if (command.error != nullptr) {
    storage::CommandError& error = *to.mutable_error();
    error.set_code(command.error->code);
    error.set_message(command.error->message);
    error.set_hint(command.error->hint);
    error.set_may_have_executed(command.error->may_have_executed);
  }
  if (command.progress != nullptr) {
    to.mutable_progress()->set_fraction(command.progress->fraction);
    to.mutable_progress()->set_message(command.progress->message);
  }
  if (command.context != nullptr) to.set_context(*command.context);
  if (command.result != nullptr) to.set_result(*command.result);
  if (command.late_result != nullptr) to.set_late_result(*command.late_result);
  for (const LeaseToken& lease : record.leases) *to.add_leases() = lease.ToString();
  to.set_worker(record.worker);
  to.set_worker_before(record.worker_before);
  to.set_heartbeats(record.heartbeats);
  to.set_end_unreported(record.end_unreported);
  to.set_end_number(record.end_number);
  to.set_is_read(command.spec->is_read());
  for (const auto& worker : command.workers) to.add_deliveries(*worker);
  to.set_work_micros(command.work.micros);
  to.set_work_age_micros(command.work.age_micros);
}

void Encode(const CommandRemoval& removal, storage::CommandRemoval& to) {
  to.set_id(removal.id.ToString());
  to.set_client_id(removal.client_id);
  Assign(to.mutable_ended_as(), CommandStateName(removal.ended_as));
  to.set_remove_nanos(removal.remove_nanos);
  to.set_until_nanos(removal.until_nanos);
  to.set_number(removal.number);
  to.set_request_hash(removal.request_hash);
}

void Encode(const DrawingRecord& record, bool is_first, storage::Drawing& to) {
  if (is_first) {
    storage::DrawingSpec& spec = *to.mutable_spec();
    spec.set_target(record.drawing->target);
    spec.set_tab_id(record.drawing->tab_id);
    spec.set_url(record.drawing->url);
    spec.set_title(record.drawing->title);
    spec.set_session(record.drawing->session);
    spec.set_content(*record.drawing->content);
    spec.set_append_nanos(absl::ToUnixNanos(record.drawing->append_time));
    spec.set_drawing_id(record.drawing_id);
    spec.set_client_id(record.drawing->clients.client_id());
  }
  for (const DrawingReceipt& receipt : record.receipts) {
    storage::DrawingReceipt& receipt_to = *to.add_receipts();
    receipt_to.set_client_id(receipt.client_id);
    if (receipt.command.has_value()) receipt_to.set_command_id(receipt.command->ToString());
  }
  for (const std::string& id : record.to_complete) to.add_to_complete(id);
}

void Encode(const DrawingAnswer& answer, storage::DrawingAnswer& to) {
  to.set_target(answer.target);
  to.set_drawing_id(answer.drawing_id);
  to.set_append_nanos(absl::ToUnixNanos(answer.append_time));
  for (const std::string& id : answer.answer.completed) to.add_completed(id);
  to.set_stored(answer.answer.stored);
}

void Encode(const JournalEntry& entry, storage::Entry& to) {
  to.set_sequence(entry.sequence);
  to.set_is_first(entry.is_first);
  std::visit(
      Overloaded{
          [&](const CommandRecord& record) {
            Encode(record, entry.is_first, *to.mutable_command());
          },
          [&](const CommandReceipt&) { to.set_command_receipt(true); },
          [&](const CommandRemoval& removal) { Encode(removal, *to.mutable_command_removal()); },
          [&](const DrawingRecord& record) {
            Encode(record, entry.is_first, *to.mutable_drawing());
          },
          [&](const DrawingAnswer& answer) { Encode(answer, *to.mutable_drawing_answer()); },
          [&](const DrawingRemoval&) { to.set_drawing_removal(true); },
          [&](const Restart& restart) { to.set_restart_nanos(absl::ToUnixNanos(restart.time)); },
      },
      entry.change);
}

using ClocksOf = JournalStorage::ClocksOf;

std::shared_ptr<const CommandSpec> Decode(uint64_t sequence, const storage::CommandSpec& from,
                                          const ClocksOf& clocks) {
  const std::optional<CommandId> id = CommandId::Parse(from.id());
  CommandRequest request;
  request.client_id = from.client_id();
  request.target = from.target();
  request.type = from.type();
  request.request_id = from.request_id();
  request.label = from.label();
  request.ordering_key = from.ordering_key();
  request.replay_of = from.replay_of();
  request.subject = from.subject();
  request.command_class = from.is_human() ? CommandClass::kHuman : CommandClass::kStandard;
  request.idempotent = from.idempotent();
  request.priority = from.priority();
  if (from.has_not_before_nanos()) {
    request.not_before = absl::FromUnixNanos(from.not_before_nanos());
  }
  request.trace = TraceContext::Parse(from.traceparent()).value_or(TraceContext());
  request.tracestate = from.tracestate();
  request.baggage = from.baggage();
  request.params = ToPayload(from.params());
  if (!id.has_value() || !DecodeOverrides(from.deadlines(), request.deadlines)) return nullptr;
  return std::make_shared<const CommandSpec>(*id, request,
                                             absl::FromUnixNanos(from.register_nanos()), sequence,
                                             clocks(request.deadlines, request.command_class));
}

// For a command that was registered before this log begins.
std::shared_ptr<const CommandSpec> SpecOfSequence(uint64_t sequence) {
  return std::make_shared<const CommandSpec>(CommandId(), CommandRequest(), absl::UnixEpoch(),
                                             sequence, nullptr);
}

template <typename Record>
const Record* RecordIn(const JournalEntry* entry) {
  return entry == nullptr ? nullptr : std::get_if<Record>(&entry->change);
}

std::optional<CommandRecord> Decode(uint64_t sequence, const storage::Command& from,
                                    const JournalEntry* earlier, const ClocksOf& clocks) {
  CommandRecord record;
  auto command = std::make_shared<CommandSnapshot>();
  if (from.has_spec()) {
    command->spec = Decode(sequence, from.spec(), clocks);
  } else if (const auto* before = RecordIn<CommandRecord>(earlier)) {
    command->spec = before->command->spec;
  } else {
    command->spec = SpecOfSequence(sequence);
  }
  const std::optional<CommandState> state = StateFrom(from.state());
  if (command->spec == nullptr || !state.has_value() || !DecodeTrace(from.trace(), *command)) {
    return std::nullopt;
  }
  command->state = *state;
  command->attempt = static_cast<int16_t>(from.attempt());
  command->revision = from.revision();
  if (from.has_error()) {
    command->error = std::make_shared<const CommandError>(
        CommandError{from.error().code(), from.error().message(), from.error().hint(),
                     from.error().may_have_executed()});
  }
  if (from.has_progress()) {
    command->progress = std::make_shared<const CommandProgress>(
        CommandProgress{from.progress().fraction(), from.progress().message()});
  }
  if (from.has_context()) command->context = ToPayload(from.context());
  if (from.has_result()) command->result = ToPayload(from.result());
  if (from.has_late_result()) command->late_result = ToPayload(from.late_result());
  if (from.is_read()) command->spec->MarkRead();
  for (const std::string& worker : from.deliveries()) {
    command->workers.push_back(std::make_shared<const std::string>(worker));
  }
  command->work = {.micros = from.work_micros(), .age_micros = from.work_age_micros()};
  record.command = std::move(command);
  for (const std::string& text : from.leases()) {
    const std::optional<LeaseToken> lease = LeaseToken::Parse(text);
    if (!lease.has_value() || record.leases.size() == kMaxAttempts) return std::nullopt;
    record.leases.push_back(*lease);
  }
  record.worker = from.worker();
  record.worker_before = from.worker_before();
  record.heartbeats = from.heartbeats();
  record.end_unreported = from.end_unreported();
  record.end_number = from.end_number();
  return record;
}

std::optional<CommandRemoval> Decode(const storage::CommandRemoval& from) {
  const std::optional<CommandId> id = CommandId::Parse(from.id());
  const std::optional<CommandState> ended_as = StateFrom(from.ended_as());
  if (!id.has_value() || !ended_as.has_value()) return std::nullopt;
  return CommandRemoval{.id = *id,
                        .client_id = from.client_id(),
                        .ended_as = *ended_as,
                        .request_hash = from.request_hash(),
                        .remove_nanos = from.remove_nanos(),
                        .until_nanos = from.until_nanos(),
                        .number = from.number()};
}

std::optional<DrawingRecord> Decode(uint64_t sequence, const storage::Drawing& from,
                                    const JournalEntry* earlier) {
  DrawingRecord record;
  if (from.has_spec()) {
    const storage::DrawingSpec& spec = from.spec();
    record.drawing = std::make_shared<const Drawing>(Drawing{
        .target = spec.target(),
        .tab_id = spec.tab_id(),
        .url = spec.url(),
        .title = spec.title(),
        .session = spec.session(),
        .content = ToPayload(spec.content()),
        .clients = spec.client_id().empty() ? ClientScope::All() : ClientScope(spec.client_id()),
        .sequence = sequence,
        .append_time = absl::FromUnixNanos(spec.append_nanos())});
    record.drawing_id = spec.drawing_id();
  } else if (const auto* before = RecordIn<DrawingRecord>(earlier)) {
    record.drawing = before->drawing;
    record.drawing_id = before->drawing_id;
  } else {
    record.drawing = std::make_shared<const Drawing>(Drawing{.sequence = sequence});
  }
  for (const storage::DrawingReceipt& receipt : from.receipts()) {
    DrawingReceipt& receipt_to = record.receipts.emplace_back();
    receipt_to.client_id = receipt.client_id();
    if (receipt.command_id().empty()) continue;
    receipt_to.command = CommandId::Parse(receipt.command_id());
    if (!receipt_to.command.has_value()) return std::nullopt;
  }
  record.to_complete = {from.to_complete().begin(), from.to_complete().end()};
  return record;
}

DrawingAnswer Decode(const storage::DrawingAnswer& from) {
  return {.target = from.target(),
          .drawing_id = from.drawing_id(),
          .append_time = absl::FromUnixNanos(from.append_nanos()),
          .answer = {.completed = {from.completed().begin(), from.completed().end()},
                     .stored = from.stored()}};
}

// Moves a decoded change into the entry, if decoding succeeded.
template <typename Change>
bool Put(std::optional<Change> change, JournalEntry& entry) {
  if (!change.has_value()) return false;
  entry.change = std::move(*change);
  return true;
}

bool Decode(const storage::Entry& from, const EarlierEntry& earlier, const ClocksOf& clocks,
            JournalEntry& entry) {
  entry.sequence = from.sequence();
  entry.is_first = from.is_first();
  if (from.has_command() && from.command().has_spec() != entry.is_first) return false;
  if (from.has_drawing() && from.drawing().has_spec() != entry.is_first) return false;
  switch (from.change_case()) {
    case storage::Entry::kCommand:
      return Put(Decode(entry.sequence, from.command(), earlier(entry.sequence), clocks), entry);
    case storage::Entry::kCommandReceipt: return Put<CommandReceipt>(CommandReceipt(), entry);
    case storage::Entry::kCommandRemoval: return Put(Decode(from.command_removal()), entry);
    case storage::Entry::kDrawing:
      return Put(Decode(entry.sequence, from.drawing(), earlier(entry.sequence)), entry);
    case storage::Entry::kDrawingAnswer:
      return Put<DrawingAnswer>(Decode(from.drawing_answer()), entry);
    case storage::Entry::kDrawingRemoval: return Put<DrawingRemoval>(DrawingRemoval(), entry);
    case storage::Entry::kRestartNanos:
      return Put<Restart>(Restart{absl::FromUnixNanos(from.restart_nanos())}, entry);
    case storage::Entry::CHANGE_NOT_SET: return false;
  }
  return false;
}

}  // namespace

JournalEncoder::JournalEncoder() : batch_(std::make_unique<storage::Batch>()) {}

JournalEncoder::~JournalEncoder() = default;
JournalEncoder::JournalEncoder(JournalEncoder&&) noexcept = default;
JournalEncoder& JournalEncoder::operator=(JournalEncoder&&) noexcept = default;

bool JournalEncoder::Encode(absl::Span<const JournalEntry> entries, std::string& bytes) {
  for (const JournalEntry& entry : entries) tracker::Encode(entry, *batch_->add_entries());
  return Finish(batch_->AppendToString(&bytes), bytes.size());
}

bool JournalEncoder::EncodeEntry(const JournalEntry& entry, std::string& bytes) {
  storage::Entry& message = *batch_->add_entries();
  tracker::Encode(entry, message);
  return Finish(message.AppendToString(&bytes), bytes.size());
}

bool JournalEncoder::Finish(bool encoded, size_t size) {
  if (size <= kKeptBytes) {
    batch_->Clear();
  } else {
    batch_ = std::make_unique<storage::Batch>();
  }
  return encoded;
}

std::shared_ptr<const CommandDeadlines> ClocksAsBrought(const DeadlineOverrides& overrides,
                                                        CommandClass) {
  auto clocks = std::make_shared<CommandDeadlines>();
  clocks->overrides = overrides;
  return clocks;
}

bool DecodeJournal(absl::string_view bytes, const EarlierEntry& earlier,
                   const std::function<void(JournalEntry)>& each) {
  storage::Batch batch;
  if (!batch.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return false;
  for (const storage::Entry& from : batch.entries()) {
    JournalEntry entry;
    if (!Decode(from, earlier, ClocksAsBrought, entry)) return false;
    each(std::move(entry));
  }
  return true;
}

bool DecodeEntry(absl::string_view bytes, const EarlierEntry& earlier, const ClocksOf& clocks,
                 JournalEntry& entry) {
  storage::Entry from;
  return from.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) &&
         Decode(from, earlier, clocks, entry);
}

}  // namespace callslip::tracker
