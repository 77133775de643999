#include "tracker/storage/entry_row.h"

#include <zlib.h>

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "tracker/storage/command_encoding.h"

namespace callslip::tracker {
namespace {

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

// Returns which row of its sequence an entry is, and fills in the columns next to its record.
struct PlaceOf {
  const JournalEntry& entry;
  EntryRow& row;

  Part operator()(const CommandRecord& record) const {
    const CommandSnapshot& command = *record.command;
    row.kind = "state";
    row.state = CommandStateName(command.state);
    row.worker = record.worker;
    if (command.error != nullptr) row.error_code = command.error->code;
    if (!entry.is_first) return kNewest;
    const CommandSpec& spec = *command.spec;
    row.kind = "command";
    row.id = spec.id.ToString();
    row.client = spec.client_id();
    row.target = spec.target();
    row.type = spec.type();
    row.registered = absl::ToUnixNanos(spec.register_time);
    return kFirst;
  }
  Part operator()(const CommandReceipt&) const {
    row.kind = "receipt";
    return kReceipt;
  }
  Part operator()(const CommandRemoval& removal) const {
    row.until = removal.until_nanos;
    row.number = static_cast<int64_t>(removal.number);
    row.kind = "tombstone";
    row.id = removal.id.ToString();
    row.client = removal.client_id;
    row.state = CommandStateName(removal.ended_as);
    return kFirst;
  }
  Part operator()(const DrawingRecord& record) const {
    row.kind = entry.is_first ? "drawing" : "receipts";
    if (!entry.is_first) return kNewest;
    row.id = record.drawing_id;
    row.target = record.drawing->target;
    return kFirst;
  }
  Part operator()(const DrawingAnswer& answer) const {
    row.kind = "answer";
    row.id = answer.drawing_id;
    row.target = answer.target;
    return kFirst;
  }
  // These have no row.
  Part operator()(const DrawingRemoval&) const { return kFirst; }
  Part operator()(const Restart&) const { return kFirst; }
};

bool HasRow(const JournalEntry& entry) {
  return !std::holds_alternative<DrawingRemoval>(entry.change) &&
         !std::holds_alternative<Restart>(entry.change);
}

// Whether a record is in the row of its kind. `before`: the sequence without this record.
bool IsInPlace(Part part, const JournalEntry& entry, const JournalEntry* before) {
  EntryRow row;
  if (!HasRow(entry) || std::visit(PlaceOf{entry, row}, entry.change) != part) return false;
  return part != kNewest || before->change.index() == entry.change.index();
}

// For a row whose contents no tracker has written.
absl::Status NonsensicalRow(int64_t key) {
  return absl::DataLossError(absl::StrCat("row ", key, " of its table \"entries\" makes no sense"));
}

}  // namespace

absl::Status EntryRowEncoder::Encode(const JournalEntry& entry, EntryRowChange& change) {
  change = EntryRowChange();
  // A command of which nothing was written before has only its tombstone.
  if (std::holds_alternative<DrawingRemoval>(entry.change) ||
      (std::holds_alternative<CommandRemoval>(entry.change) && !entry.is_first)) {
    change.remove_from = KeyOf(entry.sequence, kFirst);
    change.remove_to = KeyOf(entry.sequence, kReceipt);
  }
  if (!HasRow(entry)) return absl::OkStatus();
  EntryRow& row = change.row;
  row.key = KeyOf(entry.sequence, std::visit(PlaceOf{entry, row}, entry.change));
  if (!encoder_.EncodeEntry(entry, row.record)) {
    return absl::UnavailableError("an entry is larger than a row can be");
  }
  row.crc = Checksum(row.key, row.record);
  change.puts = true;
  return absl::OkStatus();
}

absl::Status EntryRowDecoder::Take(int64_t key, absl::string_view record, int64_t crc) {
  if (Checksum(key, record) != crc) {
    return absl::DataLossError(
        absl::StrCat("row ", key, " of its table \"entries\" is not as it was written"));
  }
  const auto part = static_cast<Part>(key & (kParts - 1));
  if (part == kFirst) RETURN_IF_ERROR(Finish());
  const JournalEntry* before = entry_.has_value() ? &*entry_ : nullptr;
  if ((before == nullptr) != (part == kFirst)) return NonsensicalRow(key);
  JournalEntry read;
  if (!DecodeEntry(
          record, [&](uint64_t) { return before; }, clocks_, read) ||
      KeyOf(read.sequence, part) != key || !IsInPlace(part, read, before) ||
      (before != nullptr && before->sequence != read.sequence)) {
    return NonsensicalRow(key);
  }
  if (before == nullptr) {
    entry_ = std::move(read);
  } else {
    Supersede(*entry_, std::move(read));
  }
  return absl::OkStatus();
}

absl::Status EntryRowDecoder::Finish() {
  if (!entry_.has_value()) return absl::OkStatus();
  const auto* record = std::get_if<CommandRecord>(&entry_->change);
  if (record != nullptr && !IsSensible(*record->command, *record)) {
    return NonsensicalRow(KeyOf(entry_->sequence, kFirst));
  }
  entry_->is_first = false;
  return each_(*std::exchange(entry_, std::nullopt));
}

absl::Status EntryOrder::Take(JournalEntry entry) {
  if (std::holds_alternative<CommandRecord>(entry.change)) {
    each_(std::move(entry));
  } else if (std::holds_alternative<DrawingRecord>(entry.change)) {
    drawings_.push_back(std::move(entry));
  } else if (std::holds_alternative<DrawingAnswer>(entry.change)) {
    answers_.push_back(std::move(entry));
  } else {
    return NonsensicalRow(KeyOf(entry.sequence, kFirst));
  }
  return absl::OkStatus();
}

absl::Status EntryOrder::TakeTombstone(JournalEntry entry) {
  if (!std::holds_alternative<CommandRemoval>(entry.change)) {
    return NonsensicalRow(KeyOf(entry.sequence, kFirst));
  }
  each_(std::move(entry));
  return absl::OkStatus();
}

void EntryOrder::Finish() {
  for (auto* kind : {&drawings_, &answers_}) {
    for (JournalEntry& entry : *kind) each_(std::move(entry));
  }
}

}  // namespace callslip::tracker
