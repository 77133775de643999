#pragma once

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

// Scope within which drawing ids are unique. Names have no line breaks.
inline std::string WhoseOf(const Drawing& drawing) {
  if (drawing.clients.is_all()) return drawing.target;
  return absl::StrCat(drawing.target, "\n", drawing.clients.client_id());
}

// Answers to drawings that have an id, so that a drawing that is submitted again is not stored
// twice. Remembers the latest, for kDrawingMemoryRetention. Thread-safe.
class DrawingMemory {
 public:
  // With a journal, answers are stored in it, in one order with `commands`. Both must outlive this.
  DrawingMemory(size_t capacity, CommandTable* commands, Journal* journal)
      : capacity_(capacity), commands_(commands), journal_(journal) {}

  // Restores an answer from the journal. Call before everything else, oldest first.
  void Restore(uint64_t sequence, DrawingAnswer answer);

  // Returns the answer of `append` or, for a remembered drawing, its first answer. If that call is
  // still in progress, waits for its end, so `append` must not submit the same drawing itself.
  // `whose`: see WhoseOf().
  AppendedDrawing Once(const std::string& whose, const std::string& drawing_id, absl::Time now,
                       absl::FunctionRef<AppendedDrawing()> append);

 private:
  struct Entry {
    std::string whose;
    std::string drawing_id;
    absl::Time append_time;
    std::optional<AppendedDrawing> answer = std::nullopt;  // Absent while the call is in progress.
    uint64_t sequence = 0;                                 // In the journal; 0: not there.
    bool is_forgotten = false;
  };

  void ForgetOldestLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t capacity_;
  CommandTable* const commands_;
  Journal* const journal_;

  Mutex mutex_;
  CondVar answered_;
  // Oldest first. The entries themselves are guarded as well.
  std::deque<std::shared_ptr<Entry>> entries_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace callslip::tracker
