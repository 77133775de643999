#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "tracker/domain/client_scope.h"
#include "tracker/domain/command/command_id.h"
#include "tracker/domain/command/command_state.h"
#include "tracker/domain/queue/request_key.h"

namespace callslip::tracker {

// Tombstones of removed commands, so that "expired" and "never existed" differ, and repeated
// requests are recognized. Each stores how its command ended, visible only to its client. Limited
// by number and by time, which is in nanoseconds since 1970. Guarded by its partition's mutex.
class Tombstones {
 public:
  struct Tombstone {
    RequestKey request;
    CommandState ended_as = CommandState::kExpired;

    bool IsOf(const ClientScope& clients) const;
  };

  // A dropped tombstone of a command with a request_id, which can create a new command now.
  struct Dropped {
    CommandId id;
    RequestKey request;
  };

  // Keeps it until `until_nanos`, which must not be before that of its client's previous tombstone.
  // If there are more than `capacity`, drops the oldest one of the client that has more than half
  // of them, else the oldest of all.
  void Add(CommandId id, const Tombstone& tombstone, int64_t until_nanos, size_t capacity,
           std::vector<Dropped>& dropped);
  // Nullptr if there is none.
  const Tombstone* Find(CommandId id) const;
  // Drops those whose time has come.
  void Drop(int64_t now_nanos, std::vector<Dropped>& dropped);

  // When the oldest one must be dropped; kNoDeadline if there is none.
  int64_t NextDrop() const;

 private:
  struct Age {
    int64_t until_nanos;
    CommandId id;
  };
  using OfClients = absl::flat_hash_map<uint64_t, std::deque<Age>>;  // Oldest first; none is empty.

  OfClients::iterator WhoMakesRoom();
  void DropOldestOf(OfClients::iterator client, std::vector<Dropped>& dropped);

  absl::flat_hash_map<CommandId, Tombstone> by_id_;
  OfClients of_clients_;
  absl::btree_set<std::pair<int64_t, uint64_t>> next_;  // When each client's oldest one is dropped.
  absl::btree_set<std::pair<size_t, uint64_t>> by_count_;  // How many each client has.
};

}  // namespace callslip::tracker
