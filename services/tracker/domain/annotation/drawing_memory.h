#ifndef CALLSLIP_TRACKER_DOMAIN_ANNOTATION_DRAWING_MEMORY_H_
#define CALLSLIP_TRACKER_DOMAIN_ANNOTATION_DRAWING_MEMORY_H_

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "common/mutex.h"
#include "tracker/domain/annotation/drawing.h"

namespace callslip::tracker {

// What was answered to the drawings that came with an id, so that one that is handed in again is
// not taken for another. Remembers the latest, for kDrawingMemoryRetention. Thread-safe.
class DrawingMemory {
 public:
  explicit DrawingMemory(size_t capacity) : capacity_(capacity) {}

  // What `append` answers; for a drawing that is remembered, what it answered then. Where that call
  // is still under way, waits for its end, so `append` must not hand in the same drawing itself.
  AppendedDrawing Once(const std::string& target, const std::string& drawing_id, absl::Time now,
                       absl::FunctionRef<AppendedDrawing()> append);

 private:
  struct Entry {
    std::string target;
    std::string drawing_id;
    absl::Time append_time;
    std::optional<AppendedDrawing> answer;  // Absent while the call is under way.
  };

  const size_t capacity_;

  Mutex mutex_;
  CondVar answered_;
  // Oldest first. What they point at is guarded as well.
  std::deque<std::shared_ptr<Entry>> entries_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_ANNOTATION_DRAWING_MEMORY_H_
