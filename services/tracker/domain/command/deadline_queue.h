#ifndef CALLSLIP_TRACKER_DOMAIN_COMMAND_DEADLINE_QUEUE_H_
#define CALLSLIP_TRACKER_DOMAIN_COMMAND_DEADLINE_QUEUE_H_

#include <utility>

#include "absl/container/btree_set.h"
#include "absl/time/time.h"

namespace callslip::tracker {

// Anything that has one deadline at a time. Remembers where the queue filed it.
struct Timed {
  enum class Kind { kCommand, kHeldPoll, kWait, kTombstone };

  explicit Timed(Kind timed_kind) : kind(timed_kind) {}

  const Kind kind;
  absl::Time due = absl::InfiniteFuture();
};

// The deadlines of one partition in the order in which they come. Each operation is logarithmic.
// Owns nothing; an entry must be removed before it is destroyed. Guarded by its partition's mutex.
class DeadlineQueue {
 public:
  // Moves `timed` to `due`; InfiniteFuture removes it.
  void Set(Timed* timed, absl::Time due) {
    if (timed->due == due) return;
    if (timed->due != absl::InfiniteFuture()) entries_.erase({timed->due, timed});
    timed->due = due;
    if (due != absl::InfiniteFuture()) entries_.insert({due, timed});
  }

  void Remove(Timed* timed) { Set(timed, absl::InfiniteFuture()); }

  // InfiniteFuture where there is none.
  absl::Time Earliest() const {
    return entries_.empty() ? absl::InfiniteFuture() : entries_.begin()->first;
  }

  // Takes out the first entry whose time has come, or returns nullptr.
  Timed* PopDue(absl::Time now) {
    if (entries_.empty() || entries_.begin()->first > now) return nullptr;
    Timed* timed = entries_.begin()->second;
    Remove(timed);
    return timed;
  }

 private:
  absl::btree_set<std::pair<absl::Time, Timed*>> entries_;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_COMMAND_DEADLINE_QUEUE_H_
