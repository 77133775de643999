// Restores an annotation store from its journal.
#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "tracker/domain/annotation/annotation_store.h"

namespace callslip::tracker {

void AnnotationStore::Restore(std::vector<JournalEntry> entries, absl::Time now) {
  for (JournalEntry& entry : entries) {
    if (auto* record = std::get_if<DrawingRecord>(&entry.change)) {
      RestoreDrawing(std::move(*record));
    } else if (auto* answer = std::get_if<DrawingAnswer>(&entry.change)) {
      memory_.Restore(entry.sequence, std::move(*answer));
    }
  }
  for (const CommandPtr& command : commands_->UnfinishedOfPeople()) {
    RestoreWaiter(command->spec, now);
  }
  std::vector<Kept> begun;
  {
    MutexLock lock(&mutex_);
    for (const auto& [sequence, kept] : drawings_) {
      if (!kept.to_complete.empty()) begun.push_back(kept);
    }
  }
  for (const Kept& kept : begun) FinishAppend(kept, now);
  MutexLock lock(&mutex_);
  DropOldLocked(now);
  JournalLocked();
}

void AnnotationStore::RestoreDrawing(DrawingRecord record) {
  const uint64_t sequence = record.drawing->sequence;
  MutexLock lock(&mutex_);
  bytes_ += record.drawing->bytes();
  Kept& kept = drawings_[sequence];
  kept.drawing = std::move(record.drawing);
  kept.drawing_id = std::move(record.drawing_id);
  kept.to_complete = std::move(record.to_complete);
  kept.is_journaled = true;
  for (DrawingReceipt& receipt : record.receipts) {
    Spec spec;  // Also null if the command was removed, as happens after it was read.
    if (receipt.command.has_value()) {
      const auto command =
          commands_->Get(receipt.client_id, receipt.command->ToString(), /*peek=*/true);
      if (command.ok()) {
        const CommandState state = (*command)->state;
        if (IsTerminal(state) && state != CommandState::kCompleted) {
          // Its client did not receive the drawing after all.
          changed_.insert(sequence);
          continue;
        }
        spec = (*command)->spec;
      }
    }
    kept.receipts.push_back({std::move(receipt.client_id), std::move(spec)});
  }
}

// Continues Request() after the registration of the command, where the process may have ended.
void AnnotationStore::RestoreWaiter(const Spec& command, absl::Time now) {
  const std::optional<AnnotationQuery> query = QueryOf(*command);
  if (!query.has_value()) return;
  const Payload result = TakeOrWait(*query, command, now + command->deadlines->restart_grace);
  if (result == nullptr) return;
  const auto completed =
      commands_->Complete(command->id.ToString(), {}, CommandResult{result}, nullptr, now);
  if (!completed.ok() || !completed->accepted) ForgetReceipts({command});
}

// Commands that match the drawing were completed by RestoreWaiter(), or before the process ended.
// The rest are those that the drawing named.
void AnnotationStore::FinishAppend(const Kept& begun, absl::Time now) {
  const Drawing& drawing = *begun.drawing;
  const auto finish = [&] {
    AppendedDrawing appended{.stored = true};
    for (const std::string& id : begun.to_complete) {
      const auto completed = commands_->Complete(id, {.clients = drawing.clients},
                                                 CommandResult{drawing.content}, nullptr, now);
      if (completed.ok() && completed->state == CommandState::kCompleted) {
        appended.completed.push_back(id);
      }
    }
    return appended;
  };
  if (begun.drawing_id.empty()) {
    finish();
  } else {
    memory_.Once(WhoseOf(drawing), begun.drawing_id, drawing.append_time, finish);
  }
  {
    MutexLock lock(&mutex_);
    std::erase_if(waiters_, [&](const Waiter& waiter) {
      return absl::c_linear_search(begun.to_complete, waiter.command->id.ToString());
    });
  }
  NoteCompleted(drawing.sequence);
}

}  // namespace callslip::tracker
