#include "tracker/cluster/ownership.h"

#include <algorithm>

#include "absl/status/statusor.h"

namespace callslip::tracker {

absl::Time Ownership::Step() {
  switch (state_) {
    case State::kWatching: Watch(); break;
    case State::kWaiting:
    case State::kOwner: Beat(); break;
    case State::kLost: return absl::InfiniteFuture();
  }
  const absl::Time now = clock_->Now();
  if (state_ == State::kWatching) return now + kWatchEvery;
  return state_ == State::kWaiting ? std::min(now + kBeatEvery, opens_at_) : now + kBeatEvery;
}

void Ownership::Watch() {
  const absl::StatusOr<CellState> read = store_->Read();
  const absl::Time now = clock_->Now();
  status_ = read.status();
  if (!read.ok()) {
    still_since_ = absl::InfiniteFuture();
    return;
  }
  // If checks are far apart, for example because this process was frozen, changes in between are
  // unknown.
  const bool is_next = now - looked_at_ < kDeadAfter / 2;
  const bool stands_still = *read == seen_ && is_next;
  if (!stands_still || still_since_ == absl::InfiniteFuture()) still_since_ = now;
  looked_at_ = now;
  seen_ = *read;
  // Our takeover succeeded, but the answer was lost.
  if (seen_.owner == name_ && !seen_.released) return Own(seen_.epoch, /*at_once=*/false);
  if (IsFree(now)) Take();
}

bool Ownership::IsFree(absl::Time now) {
  return seen_.released || now - still_since_ >= kDeadAfter;
}

void Ownership::Take() {
  const absl::StatusOr<uint64_t> taken = store_->Take(seen_, name_);
  if (taken.ok()) return Own(*taken, seen_.released);
  // Another process was faster, or the owner is alive: the next check shows which.
  if (!absl::IsFailedPrecondition(taken.status())) status_ = taken.status();
  still_since_ = absl::InfiniteFuture();
}

void Ownership::Own(uint64_t epoch, bool at_once) {
  epoch_ = epoch;
  state_ = State::kWaiting;
  opens_at_ = at_once ? clock_->Now() : clock_->Now() + kLease;
}

void Ownership::Beat() {
  const absl::Time begun = clock_->Now();
  status_ = store_->Beat(epoch_);
  if (absl::IsFailedPrecondition(status_)) {
    state_ = State::kLost;
    answers_until_ = absl::InfinitePast();
    return;
  }
  if (!status_.ok()) return;
  if (state_ == State::kWaiting && begun >= opens_at_) state_ = State::kOwner;
  if (state_ == State::kOwner) answers_until_ = begun + kLease;
}

absl::Status Ownership::Release() {
  if (state_ != State::kWaiting && state_ != State::kOwner) return absl::OkStatus();
  state_ = State::kLost;
  answers_until_ = absl::InfinitePast();
  return store_->Release(epoch_);
}

}  // namespace callslip::tracker
