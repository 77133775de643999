#include "tracker/domain/journal/journal.h"

#include <iterator>
#include <utility>

namespace callslip::tracker {
namespace {

// Bytes of its parts that can be large.
int64_t BytesOf(const JournalEntry& entry) {
  if (const auto* record = std::get_if<CommandRecord>(&entry.change)) {
    return record->command->payload_bytes();
  }
  if (const auto* drawing = std::get_if<DrawingRecord>(&entry.change)) {
    return drawing->drawing->bytes();
  }
  return 0;
}

}  // namespace

void Supersede(JournalEntry& entry, JournalEntry newer) {
  if (!std::holds_alternative<CommandReceipt>(newer.change)) {
    newer.is_first = newer.is_first || entry.is_first;
    entry = std::move(newer);
  } else if (const auto* record = std::get_if<CommandRecord>(&entry.change)) {
    record->command->spec->MarkRead();
  }
}

void Journal::Append(JournalEntry entry) {
  bool first = false;
  {
    MutexLock lock(&mutex_);
    first = waiting_.empty();
    waiting_bytes_ += BytesOf(entry);
    const auto [place, added] = places_.try_emplace(entry.sequence, waiting_.size());
    if (added) {
      waiting_.push_back(std::move(entry));
    } else {
      Supersede(waiting_[place->second], std::move(entry));
    }
    appended_.fetch_add(1, std::memory_order_release);
  }
  if (first && listener_ != nullptr) listener_();
}

Journal::Batch Journal::Take(int64_t max_bytes) {
  Batch batch;
  MutexLock lock(&mutex_);
  if (waiting_bytes_ <= max_bytes) {
    batch.entries.reserve(waiting_.size());
    batch.entries.swap(waiting_);
    places_.clear();
    waiting_bytes_ = 0;
    batch.appended = appended_.load(std::memory_order_relaxed);
    return batch;
  }
  auto end = waiting_.begin();
  for (int64_t bytes = 0; end != waiting_.end() && bytes <= max_bytes; ++end) {
    bytes += BytesOf(*end);
  }
  batch.entries.assign(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end));
  waiting_.erase(waiting_.begin(), end);
  places_.clear();
  waiting_bytes_ = 0;
  for (size_t i = 0; i < waiting_.size(); ++i) {
    places_[waiting_[i].sequence] = i;
    waiting_bytes_ += BytesOf(waiting_[i]);
  }
  if (waiting_.empty()) batch.appended = appended_.load(std::memory_order_relaxed);
  return batch;
}

void Journal::PutBack(Batch batch) {
  MutexLock lock(&mutex_);
  for (JournalEntry& entry : batch.entries) {
    waiting_bytes_ += BytesOf(entry);
    const auto [place, added] = places_.try_emplace(entry.sequence, waiting_.size());
    if (added) {
      waiting_.push_back(std::move(entry));
    } else {
      JournalEntry& newer = waiting_[place->second];
      Supersede(entry, std::move(newer));
      newer = std::move(entry);
    }
  }
}

void MarkResultRead(const CommandSnapshot& command, Journal* journal) {
  if (!command.spec->MarkRead() || journal == nullptr) return;
  if (command.state == CommandState::kCompleted) {
    journal->Append({command.spec->sequence, CommandReceipt()});
  }
}

}  // namespace callslip::tracker
