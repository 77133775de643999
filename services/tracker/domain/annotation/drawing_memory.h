#ifndef CALLSLIP_TRACKER_DOMAIN_ANNOTATION_DRAWING_MEMORY_H_
#define CALLSLIP_TRACKER_DOMAIN_ANNOTATION_DRAWING_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/mutex.h"
#include "tracker/domain/journal/drawing.h"
#include "tracker/domain/journal/journal.h"
#include "tracker/domain/queue/command_table.h"

namespace callslip::tracker {

// Tells those apart who choose the ids of drawings. Names have no line breaks.
inline std::string WhoseOf(const Drawing& drawing) {
  if (drawing.clients.is_all()) return drawing.target;
  return absl::StrCat(drawing.target, "\n", drawing.clients.client_id());
}

// What was answered to the drawings that came with an id, so that one that is handed in again is
// not taken for another. Remembers the latest, for kDrawingMemoryRetention. Thread-safe.
class DrawingMemory {
 public:
  // With a journal, answers are kept in it, in one order with `commands`. Both must outlive this.
  DrawingMemory(size_t capacity, CommandTable* commands, Journal* journal)
      : capacity_(capacity), commands_(commands), journal_(journal) {}

  // Brings back what the journal has kept, oldest first. Before everything else.
  void Restore(uint64_t sequence, DrawingAnswer answer);

  // What `append` answers; for a drawing that is remembered, what it answered then. Where that call
  // is still under way, waits for its end, so `append` must not hand in the same drawing itself.
  // `whose` as above.
  AppendedDrawing Once(const std::string& whose, const std::string& drawing_id, absl::Time now,
                       absl::FunctionRef<AppendedDrawing()> append);

 private:
  struct Entry {
    std::string whose;
    std::string drawing_id;
    absl::Time append_time;
    std::optional<AppendedDrawing> answer = std::nullopt;  // Absent while the call is under way.
    uint64_t sequence = 0;                                 // In the journal; 0: not there.
    bool is_forgotten = false;
  };

  void ForgetOldestLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t capacity_;
  CommandTable* const commands_;
  Journal* const journal_;

  Mutex mutex_;
  CondVar answered_;
  // Oldest first. What they point at is guarded as well.
  std::deque<std::shared_ptr<Entry>> entries_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_ANNOTATION_DRAWING_MEMORY_H_
