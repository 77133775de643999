#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "absl/time/time.h"
#include "boost/intrusive/list.hpp"

namespace callslip::tracker {

// An object that has one deadline at a time. Stores its place in the wheel, and must be removed
// from it before it is destroyed.
class Timed : public boost::intrusive::list_base_hook<> {
 public:
  enum class Kind : uint8_t { kCommand, kHeldCall, kWatch, kTombstones };

  explicit Timed(Kind timed_kind) : kind(timed_kind) {}
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

  const Kind kind;

  // The deadline that was last set, rounded up to a millisecond; in nanoseconds since 1970.
  int64_t due_nanos() const { return tick_ * 1'000'000; }

 private:
  friend class DeadlineWheel;

  int8_t level_ = kNowhere;
  uint8_t slot_ = 0;
  int64_t tick_ = 0;

  static constexpr int8_t kNowhere = -1;
  static constexpr int8_t kDue = -2;
};

// A deadline that never comes.
inline constexpr int64_t kNoDeadline = std::numeric_limits<int64_t>::max();

// InfiniteFuture becomes kNoDeadline.
inline int64_t NanosOf(absl::Time time) { return absl::ToUnixNanos(time); }

// The deadlines of one partition in the order in which they come, to the millisecond: each fires in
// the first millisecond that is not before it. A hierarchical timing wheel (Varghese and Lauck,
// 1987): adding and removing take the same few steps for ten deadlines or a million. Deadlines of
// the same millisecond come in the order in which they were added.
//
// Owns nothing. Guarded by its partition's mutex.
class DeadlineWheel {
 public:
  // Moves `timed` to `due`, in nanoseconds since 1970; kNoDeadline removes it.
  void Set(Timed* timed, int64_t due_nanos);
  void Set(Timed* timed, absl::Time due) { Set(timed, NanosOf(due)); }
  void Remove(Timed* timed);

  // Advances to `now`. PopDue() then returns the entries that have come due.
  void Advance(absl::Time now);
  // Removes and returns the first entry that is due, or returns nullptr.
  Timed* PopDue();

  // When to call Advance() next: not after the earliest deadline, possibly some time before it.
  // InfiniteFuture if there is none.
  absl::Time NextAdvance() const;

  // The earliest deadline that was set since the last call, or InfiniteFuture.
  absl::Time TakeEarliestSet();

 private:
  using List = boost::intrusive::list<Timed, boost::intrusive::constant_time_size<false>>;

  // A level has 64 slots, each as long as the whole level below. Eight levels hold 48 bits of
  // milliseconds since 1970.
  static constexpr int kSlotBits = 6;
  static constexpr int kSlots = 1 << kSlotBits;
  static constexpr int kLevels = 8;
  static constexpr int64_t kNever = int64_t{1} << (kSlotBits * kLevels);

  struct Level {
    uint64_t occupied = 0;  // A bit for each slot that is not empty.
    std::array<List, kSlots> slots;
  };

  // Position of the earliest entries. All slots in use lie after the present one of their level,
  // and a lower level's come before a higher one's.
  struct Position {
    int level = kLevels;  // kLevels: there are none.
    int slot = 0;
    int64_t begin = kNever;  // Its first tick.
  };
  Position Earliest() const;

  void File(Timed* timed);

  int64_t now_ = 0;
  int64_t earliest_set_ = kNever;
  std::array<Level, kLevels> levels_;
  List due_;
};

}  // namespace callslip::tracker
