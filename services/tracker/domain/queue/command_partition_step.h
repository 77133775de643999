#ifndef CALLSLIP_TRACKER_DOMAIN_QUEUE_COMMAND_PARTITION_STEP_H_
#define CALLSLIP_TRACKER_DOMAIN_QUEUE_COMMAND_PARTITION_STEP_H_

#include "absl/algorithm/container.h"
#include "absl/base/thread_annotations.h"
#include "absl/container/inlined_vector.h"
#include "absl/time/time.h"
#include "tracker/domain/queue/command_partition.h"

namespace callslip::tracker {

// One call's work on a partition, whose mutex it holds as long as it lives. What the call touches
// is noted here, and what follows from it is done once, at the end: who waits for work is given it,
// the journal hears of each command that was touched, then watches of each of its changes, and
// whoever fires deadlines of the earliest that was set. For the files of CommandPartition only.
class ABSL_SCOPED_LOCKABLE CommandPartition::Step {
 public:
  Step(CommandPartition* partition, absl::Time at, CommandEffects& caused)
      ABSL_EXCLUSIVE_LOCK_FUNCTION(partition->mutex_);
  ~Step() ABSL_UNLOCK_FUNCTION();
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  // What a restart must know of the command is another now.
  void Touch(CommandEntry& entry) {
    if (entry.touched || partition_->shared_->journal == nullptr) return;
    entry.touched = true;
    touched_.push_back(&entry);
  }
  // What everybody may see of it is; it was `before`, or null.
  void Changed(CommandEntry& entry, const CommandPtr& before) {
    Touch(entry);
    if (!partition_->IsWatched(entry)) return;
    for (Told& told : changes_) {
      if (told.entry == &entry && told.view == nullptr) told.view = before;
    }
    changes_.push_back({&entry, nullptr});
  }
  // There may be something for the workers of `queue`. A step is about one queue.
  void Dispatch(TargetQueue* queue) {
    if (queue->workers.has_calls()) queue_ = queue;
  }
  // The same, once all that is due at this moment is there: what goes first is then a matter of
  // priority, not of which deadline was looked at first.
  void DispatchLater(TargetQueue* queue) {
    if (queue->workers.has_calls() && !absl::c_linear_search(later_, queue)) {
      later_.push_back(queue);
    }
  }
  // Whether anything follows from what was noted so far.
  bool has_more() const { return queue_ != nullptr || !touched_.empty() || !changes_.empty(); }

  const absl::Time now;
  CommandEffects& effects;

 private:
  friend class CommandPartition;

  struct Told {
    CommandEntry* entry;
    CommandPtr view;  // Null: as it is in the end.
  };

  CommandPartition* const partition_;
  TargetQueue* queue_ = nullptr;
  absl::InlinedVector<TargetQueue*, 4> later_;
  absl::InlinedVector<CommandEntry*, 4> touched_;
  absl::InlinedVector<Told, 4> changes_;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_QUEUE_COMMAND_PARTITION_STEP_H_
