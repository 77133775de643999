#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "tracker/cluster/cell_store.h"

namespace callslip::tracker {

// How one tracker becomes the owner of a cell, and notices that it no longer is.
//
// Writes are made safe by the store: each is made under an epoch, and none succeeds under an epoch
// that is over. Reads are not written and depend on time instead. An owner answers only within
// kLease after the start of its last beat, a commit that checked its epoch. A tracker that takes
// over a cell answers only when as much time has passed since its takeover was stored. Both are
// durations on one machine's clock, which runs during sleep; clocks are never compared with each
// other.
//
// Has no thread: Step(), which can block on the store, must be called repeatedly. Not thread-safe:
// use on one thread at a time.
class Ownership {
 public:
  // The interval of an owner's beats.
  static constexpr absl::Duration kBeatEvery = absl::Milliseconds(200);
  // The interval of the others' checks. After an owner has given up the cell, callers
  // wait up to this long for the next one to notice. A check reads one row.
  static constexpr absl::Duration kWatchEvery = absl::Milliseconds(50);
  // How long an owner can answer after the start of its last beat.
  static constexpr absl::Duration kLease = absl::Seconds(1);
  // An owner whose beat has not changed for this time, in successive successful checks, is
  // considered dead. A false alarm only costs a change of owner.
  static constexpr absl::Duration kDeadAfter = absl::Milliseconds(1500);

  enum class State {
    kWatching,  // Another process owns the cell, or none does yet.
    kWaiting,   // This process owns the cell, but the previous owner may still answer.
    kOwner,
    kLost,  // This process owned the cell. Final.
  };

  // `clock` and `store` must outlive this. `name` must be unique among all processes, past and
  // present.
  Ownership(Clock* clock, CellStore* store, std::string name)
      : clock_(clock), store_(store), name_(std::move(name)) {}

  // Does what is due now. Returns when the next step is due.
  absl::Time Step();
  // Gives up the cell if this process owns it. It answers no caller from then on.
  absl::Status Release();

  State state() const { return state_; }
  // In kWaiting, kOwner and kLost.
  uint64_t epoch() const { return epoch_; }
  // Until when this process can answer: in the past unless it is the owner.
  absl::Time answers_until() const { return answers_until_; }
  // As last seen.
  const CellState& seen() const { return seen_; }
  // Of the last step.
  const absl::Status& status() const { return status_; }

 private:
  void Watch();
  // Whether the cell, as just seen, can be taken over.
  bool IsFree(absl::Time now);
  void Take();
  void Own(uint64_t epoch, bool at_once);
  void Beat();

  Clock* const clock_;
  CellStore* const store_;
  const std::string name_;
  State state_ = State::kWatching;
  CellState seen_;
  // Since when the beat has not changed in successful checks, and the time of the last one.
  absl::Time still_since_ = absl::InfiniteFuture();
  absl::Time looked_at_ = absl::InfinitePast();
  uint64_t epoch_ = 0;
  absl::Time opens_at_ = absl::InfiniteFuture();
  absl::Time answers_until_ = absl::InfinitePast();
  absl::Status status_;
};

}  // namespace callslip::tracker
