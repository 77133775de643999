#include "tracker/domain/annotation/drawing_memory.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "tracker/domain/annotation/annotation_limits.h"

namespace callslip::tracker {

void DrawingMemory::Restore(uint64_t sequence, DrawingAnswer answer) {
  MutexLock lock(&mutex_);
  if (entries_.size() >= capacity_) ForgetOldestLocked();
  entries_.push_back(std::make_shared<Entry>(Entry{.whose = std::move(answer.target),
                                                   .drawing_id = std::move(answer.drawing_id),
                                                   .append_time = answer.append_time,
                                                   .answer = std::move(answer.answer),
                                                   .sequence = sequence}));
}

AppendedDrawing DrawingMemory::Once(const std::string& whose, const std::string& drawing_id,
                                    absl::Time now, absl::FunctionRef<AppendedDrawing()> append) {
  const auto entry =
      std::make_shared<Entry>(Entry{.whose = whose, .drawing_id = drawing_id, .append_time = now});
  {
    MutexLock lock(&mutex_);
    while (!entries_.empty() && entries_.front()->append_time + kDrawingMemoryRetention <= now) {
      ForgetOldestLocked();
    }
    const auto known = absl::c_find_if(entries_, [&](const std::shared_ptr<Entry>& each) {
      return each->drawing_id == drawing_id && each->whose == whose;
    });
    if (known != entries_.end()) {
      const std::shared_ptr<Entry> first = *known;  // It may be dropped meanwhile.
      while (!first->answer.has_value()) answered_.Wait(&mutex_);
      return *first->answer;
    }
    if (entries_.size() >= capacity_) ForgetOldestLocked();
    entries_.push_back(entry);
  }
  AppendedDrawing answer = append();
  MutexLock lock(&mutex_);
  entry->answer = answer;
  if (journal_ != nullptr && !entry->is_forgotten) {
    entry->sequence = commands_->NewSequence();
    journal_->Append({entry->sequence, DrawingAnswer{whose, drawing_id, now, answer}});
  }
  answered_.NotifyAll();
  return answer;
}

void DrawingMemory::ForgetOldestLocked() {
  Entry& oldest = *entries_.front();
  oldest.is_forgotten = true;
  if (oldest.sequence != 0) journal_->Append({oldest.sequence, DrawingRemoval()});
  entries_.pop_front();
}

}  // namespace callslip::tracker
