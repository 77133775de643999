#ifndef CALLSLIP_TRACKER_DOMAIN_QUEUE_TOMBSTONES_H_
#define CALLSLIP_TRACKER_DOMAIN_QUEUE_TOMBSTONES_H_

#include <cstdint>
#include <deque>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tracker/domain/client_scope.h"
#include "tracker/domain/command/command_id.h"
#include "tracker/domain/command/command_state.h"
#include "tracker/domain/queue/request_key.h"

namespace callslip::tracker {

// What is left of removed commands, so that "expired" and "never existed" differ, and that a
// request which comes again is known: how each ended, and for its client only. Bounded by number
// and by time, which is in nanoseconds since 1970. Guarded by its partition's mutex.
class Tombstones {
 public:
  struct Tombstone {
    RequestKey request;
    CommandState ended_as = CommandState::kExpired;

    bool IsOf(const ClientScope& clients) const;
  };

  // A tombstone that was dropped: what came with a request_id, which may make a new command now.
  struct Dropped {
    CommandId id;
    RequestKey request;
  };

  // Keeps it until `until_nanos`, which must not lie before that of the tombstone before. Drops the
  // oldest one where there are more than `capacity`.
  void Add(CommandId id, const Tombstone& tombstone, int64_t until_nanos, size_t capacity,
           std::vector<Dropped>& dropped);
  // Nullptr where there is none.
  const Tombstone* Find(CommandId id) const;
  // Drops those whose time has come.
  void Drop(int64_t now_nanos, std::vector<Dropped>& dropped);

  // When the oldest one is to be dropped; kNoDeadline where there is none.
  int64_t NextDrop() const;

 private:
  struct Age {
    int64_t until_nanos;
    CommandId id;
  };

  void DropOldest(std::vector<Dropped>& dropped);

  absl::flat_hash_map<CommandId, Tombstone> by_id_;
  std::deque<Age> by_age_;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_QUEUE_TOMBSTONES_H_
