#include "tracker/domain/command/command_journal.h"

#include <utility>

namespace callslip::tracker {

void CommandJournal::Append(uint64_t sequence, decltype(JournalEntry::change) change) {
  bool first = false;
  {
    MutexLock lock(&mutex_);
    first = waiting_.empty();
    const auto [place, added] = places_.try_emplace(sequence, waiting_.size());
    if (added) {
      waiting_.push_back({sequence, std::move(change)});
    } else if (!std::holds_alternative<CommandReceipt>(change)) {
      waiting_[place->second].change = std::move(change);
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
    } else if (std::holds_alternative<CommandReceipt>(waiting_[place->second].change)) {
      waiting_[place->second].change = std::move(entry.change);
    }
  }
}

void MarkResultRead(const CommandSnapshot& command, CommandJournal* journal) {
  if (!command.spec->MarkRead() || journal == nullptr) return;
  if (command.state == CommandState::kCompleted) {
    journal->Append(command.spec->sequence, CommandReceipt());
  }
}

}  // namespace callslip::tracker
