#pragma once

#include "absl/algorithm/container.h"
#include "absl/base/thread_annotations.h"
#include "absl/container/inlined_vector.h"
#include "absl/time/time.h"
#include "tracker/domain/queue/command_partition.h"

namespace callslip::tracker {

// One call's work on a partition, whose mutex it holds while it exists. Collects what the call
// touches, and carries out the consequences once, at the end: held calls get commands, the journal
// gets each touched command, then watches get each change, and the caller gets the earliest
// deadline that was set. Only for the files of CommandPartition.
class ABSL_SCOPED_LOCKABLE CommandPartition::Step {
 public:
  Step(CommandPartition* partition, absl::Time at, CommandEffects& caused)
      ABSL_EXCLUSIVE_LOCK_FUNCTION(partition->mutex_);
  ~Step() ABSL_UNLOCK_FUNCTION();
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  // The command's state that a restart needs has changed.
  void Touch(CommandEntry& entry) {
    if (entry.touched || partition_->shared_->journal == nullptr) return;
    entry.touched = true;
    touched_.push_back(&entry);
  }
  // The command's visible state has changed; it was `before`, or null.
  void Changed(CommandEntry& entry, const CommandPtr& before) {
    Touch(entry);
    if (!partition_->IsWatched(entry)) return;
    for (Told& told : changes_) {
      if (told.entry == &entry && told.view == nullptr) told.view = before;
    }
    changes_.push_back({&entry, nullptr});
  }
  // The workers of `queue` may get commands. A step concerns one queue.
  void Dispatch(TargetQueue* queue) {
    if (queue->workers.has_calls()) queue_ = queue;
  }
  // The same, but after everything that is due at this moment: the order then depends on priority,
  // not on which deadline was handled first.
  void DispatchLater(TargetQueue* queue) {
    if (queue->workers.has_calls() && !absl::c_linear_search(later_, queue)) {
      later_.push_back(queue);
    }
  }
  // Whether anything noted so far has consequences.
  bool has_more() const { return queue_ != nullptr || !touched_.empty() || !changes_.empty(); }

  const absl::Time now;
  CommandEffects& effects;

 private:
  friend class CommandPartition;

  struct Told {
    CommandEntry* entry;
    CommandPtr view;  // Null: its state in the end.
  };

  CommandPartition* const partition_;
  TargetQueue* queue_ = nullptr;
  absl::InlinedVector<TargetQueue*, 4> later_;
  absl::InlinedVector<CommandEntry*, 4> touched_;
  absl::InlinedVector<Told, 4> changes_;
};

}  // namespace callslip::tracker
