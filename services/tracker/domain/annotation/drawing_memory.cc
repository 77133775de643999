#include "tracker/domain/annotation/drawing_memory.h"

#include "absl/algorithm/container.h"
#include "tracker/domain/annotation/annotation_limits.h"

namespace callslip::tracker {

AppendedDrawing DrawingMemory::Once(const std::string& target, const std::string& drawing_id,
                                    absl::Time now, absl::FunctionRef<AppendedDrawing()> append) {
  const auto entry = std::make_shared<Entry>(
      Entry{.target = target, .drawing_id = drawing_id, .append_time = now, .answer = {}});
  {
    MutexLock lock(&mutex_);
    while (!entries_.empty() && entries_.front()->append_time + kDrawingMemoryRetention <= now) {
      entries_.pop_front();
    }
    const auto known = absl::c_find_if(entries_, [&](const std::shared_ptr<Entry>& each) {
      return each->drawing_id == drawing_id && each->target == target;
    });
    if (known != entries_.end()) {
      const std::shared_ptr<Entry> first = *known;  // It may be dropped meanwhile.
      while (!first->answer.has_value()) answered_.Wait(&mutex_);
      return *first->answer;
    }
    if (entries_.size() >= capacity_) entries_.pop_front();
    entries_.push_back(entry);
  }
  AppendedDrawing answer = append();
  MutexLock lock(&mutex_);
  entry->answer = answer;
  answered_.NotifyAll();
  return answer;
}

}  // namespace callslip::tracker
