#ifndef CALLSLIP_TRACKER_CLUSTER_OWNERSHIP_H_
#define CALLSLIP_TRACKER_CLUSTER_OWNERSHIP_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "tracker/cluster/cell_store.h"

namespace callslip::tracker {

// How one tracker comes to own a cell, and notices that it does not any more.
//
// Safety is the store's: what is written is written under an epoch, and one that is over writes
// nothing. Reads are not written, so that they go by time: an owner answers only while its last
// beat, a commit that checked its epoch, was begun less than kLease ago; and who takes a cell over
// answers nobody before as much time has passed since that was stored. Both are durations of one
// machine's clock that runs while it sleeps; no clock is compared with another.
//
// Knows no thread: somebody has to call Step(), which may block on the store, again and again. Used
// by one thread at a time.
class Ownership {
 public:
  // How often an owner beats, and the others look.
  static constexpr absl::Duration kBeatEvery = absl::Milliseconds(200);
  // For so long an owner may answer after its last beat was begun.
  static constexpr absl::Duration kLease = absl::Seconds(1);
  // An owner whose beat has not moved for so long, in looks that succeeded and were not apart, is
  // taken for dead. Wrong alarms cost a move and nothing else.
  static constexpr absl::Duration kDeadAfter = absl::Milliseconds(1500);

  enum class State {
    kWatching,  // It is somebody else's, or nobody's so far.
    kWaiting,   // It is ours, and its owner of before may still answer.
    kOwner,
    kLost,  // It was ours. For ever.
  };

  // `clock` and `store` must outlive this. `name` is that of no other process, of before or now.
  Ownership(Clock* clock, CellStore* store, std::string name)
      : clock_(clock), store_(store), name_(std::move(name)) {}

  // Does what is to be done now. Returns when the next step is due.
  absl::Time Step();
  // Gives the cell up, if it is ours. Answers nobody from then on.
  absl::Status Release();

  State state() const { return state_; }
  // Of kWaiting, kOwner and kLost.
  uint64_t epoch() const { return epoch_; }
  // Until when this may answer: past, unless it is the owner.
  absl::Time answers_until() const { return answers_until_; }
  // As it was seen last.
  const CellState& seen() const { return seen_; }
  // Of the last step.
  const absl::Status& status() const { return status_; }

 private:
  void Watch();
  // Whether the cell, as it was just seen, may be taken over.
  bool IsFree(absl::Time now);
  void Take();
  void Own(uint64_t epoch, bool at_once);
  void Beat();

  Clock* const clock_;
  CellStore* const store_;
  const std::string name_;
  State state_ = State::kWatching;
  CellState seen_;
  // Since when the beat has stood still in looks that succeeded; and when the last of these was.
  absl::Time still_since_ = absl::InfiniteFuture();
  absl::Time looked_at_ = absl::InfinitePast();
  uint64_t epoch_ = 0;
  absl::Time opens_at_ = absl::InfiniteFuture();
  absl::Time answers_until_ = absl::InfinitePast();
  absl::Status status_;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_CLUSTER_OWNERSHIP_H_
