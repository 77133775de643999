#include "tracker/domain/queue/deadline_wheel.h"

#include <algorithm>
#include <bit>

namespace callslip::tracker {
namespace {

// The first millisecond that is not before `nanos`.
int64_t TickAtOrAfter(int64_t nanos) {
  constexpr int64_t kNanosInTick = 1'000'000;
  return (nanos + kNanosInTick - 1) / kNanosInTick;
}

}  // namespace

void DeadlineWheel::Set(Timed* timed, int64_t due_nanos) {
  if (due_nanos == kNoDeadline) {
    Remove(timed);
    return;
  }
  const int64_t tick = std::min(TickAtOrAfter(due_nanos), kNever - 1);
  earliest_set_ = std::min(earliest_set_, tick);
  if (timed->level_ != Timed::kNowhere) {
    if (timed->tick_ == tick) return;
    Remove(timed);
  }
  timed->tick_ = tick;
  File(timed);
}

void DeadlineWheel::Remove(Timed* timed) {
  if (timed->level_ == Timed::kNowhere) return;
  if (timed->level_ == Timed::kDue) {
    due_.erase(due_.iterator_to(*timed));
  } else {
    Level& level = levels_[timed->level_];
    List& slot = level.slots[timed->slot_];
    slot.erase(slot.iterator_to(*timed));
    if (slot.empty()) level.occupied &= ~(uint64_t{1} << timed->slot_);
  }
  timed->level_ = Timed::kNowhere;
}

void DeadlineWheel::File(Timed* timed) {
  if (timed->tick_ <= now_) {
    timed->level_ = Timed::kDue;
    due_.push_back(*timed);
    return;
  }
  // The level is that of the highest bit in which the two differ.
  const auto difference = static_cast<uint64_t>(timed->tick_ ^ now_);
  const int level = (std::bit_width(difference) - 1) / kSlotBits;
  const int slot = static_cast<int>(timed->tick_ >> (level * kSlotBits)) & (kSlots - 1);
  timed->level_ = static_cast<int8_t>(level);
  timed->slot_ = static_cast<uint8_t>(slot);
  levels_[level].slots[slot].push_back(*timed);
  levels_[level].occupied |= uint64_t{1} << slot;
}

DeadlineWheel::Position DeadlineWheel::Earliest() const {
  for (int level = 0; level < kLevels; ++level) {
    if (levels_[level].occupied == 0) continue;
    const int slot = std::countr_zero(levels_[level].occupied);
    const int shift = level * kSlotBits;
    const int64_t above = now_ >> (shift + kSlotBits) << (shift + kSlotBits);
    return {level, slot, above + (int64_t{slot} << shift)};
  }
  return {};
}

void DeadlineWheel::Advance(absl::Time time) {
  // The present millisecond, rounded down.
  const int64_t now = absl::ToUnixMillis(time);
  for (Position next = Earliest(); next.begin <= now; next = Earliest()) {
    now_ = next.begin;
    Level& level = levels_[next.level];
    level.occupied &= ~(uint64_t{1} << next.slot);
    List entries;
    entries.swap(level.slots[next.slot]);
    while (!entries.empty()) {
      Timed& timed = entries.front();
      entries.pop_front();
      File(&timed);
    }
  }
  now_ = std::max(now_, now);
}

Timed* DeadlineWheel::PopDue() {
  if (due_.empty()) return nullptr;
  Timed* timed = &due_.front();
  Remove(timed);
  return timed;
}

absl::Time DeadlineWheel::NextAdvance() const {
  if (!due_.empty()) return absl::FromUnixMillis(now_);
  const Position next = Earliest();
  return next.level == kLevels ? absl::InfiniteFuture() : absl::FromUnixMillis(next.begin);
}

absl::Time DeadlineWheel::TakeEarliestSet() {
  const int64_t earliest = earliest_set_;
  earliest_set_ = kNever;
  return earliest == kNever ? absl::InfiniteFuture() : absl::FromUnixMillis(earliest);
}

}  // namespace callslip::tracker
