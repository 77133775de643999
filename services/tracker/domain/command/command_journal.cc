#include "tracker/domain/command/command_journal.h"

#include <utility>

namespace callslip::tracker {

void Supersede(JournalEntry& entry, JournalEntry newer) {
  if (!std::holds_alternative<CommandReceipt>(newer.change)) {
    newer.is_first = newer.is_first || entry.is_first;
    entry = std::move(newer);
  } else if (const auto* record = std::get_if<CommandRecord>(&entry.change)) {
    record->command->spec->MarkRead();
  }
}

void CommandJournal::Append(JournalEntry entry) {
  bool first = false;
  {
    MutexLock lock(&mutex_);
    first = waiting_.empty();
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

CommandJournal::Batch CommandJournal::Take() {
  Batch batch;
  MutexLock lock(&mutex_);
  batch.entries.reserve(waiting_.size());
  batch.entries.swap(waiting_);
  places_.clear();
  batch.appended = appended_.load(std::memory_order_relaxed);
  return batch;
}

void CommandJournal::PutBack(Batch batch) {
  MutexLock lock(&mutex_);
  for (JournalEntry& entry : batch.entries) {
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

void MarkResultRead(const CommandSnapshot& command, CommandJournal* journal) {
  if (!command.spec->MarkRead() || journal == nullptr) return;
  if (command.state == CommandState::kCompleted) {
    journal->Append({command.spec->sequence, CommandReceipt()});
  }
}

}  // namespace callslip::tracker
