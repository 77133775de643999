#pragma once

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/container/node_hash_map.h"
#include "absl/strings/string_view.h"
#include "boost/intrusive/list.hpp"
#include "tracker/domain/client_scope.h"
#include "tracker/domain/queue/command_entry.h"
#include "tracker/domain/queue/pruning.h"
#include "tracker/domain/queue/target_load.h"

namespace callslip::tracker {

// The commands of one client in a backlog; in the list of turns while some can be delivered.
struct BacklogTurn : boost::intrusive::list_base_hook<> {
  boost::intrusive::list<
      CommandEntry,
      boost::intrusive::member_hook<CommandEntry, boost::intrusive::list_member_hook<>,
                                    &CommandEntry::queue_hook>,
      boost::intrusive::constant_time_size<false>>
      commands;
  int64_t depth = 0;
};

// The commands of one target that wait for a worker, and the turns of their clients.
//
// Clients take turns: each delivery goes to the client that has waited longest for one. A client's
// own commands are ordered by priority, then by age. Only one command of an ordering key is in
// progress at a time; the others are skipped until it has ended, also while it waits for
// redelivery.
//
// Owns no command and changes none. Guarded by its partition's mutex. Finding the next command
// visits the skipped ones; the queue's capacity limits their number.
class Backlog {
 public:
  // The commands of a client; created empty if it is new. Valid until the next call for another
  // client.
  BacklogTurn* TurnOf(absl::string_view client_id);
  // Counts one more waiting command, of the client of `turn`. Call before Add(), possibly long
  // before if the command must not be delivered yet.
  void Admit(CommandEntry* entry, BacklogTurn* turn);
  void Dismiss(CommandEntry* entry);
  int64_t depth() const { return depth_; }
  // Adds the waiting commands of `clients` to `load`, and the oldest one that could be delivered.
  // Visits each of them; the queue's capacity limits their number.
  void AddTo(const ClientScope& clients, TargetLoad& load) const;

  // Makes `entry` wait for its turn. A returned command gets the place that corresponds to its age.
  void Add(CommandEntry* entry);
  // Removes a command that has ended. Harmless if it is not in.
  void Remove(CommandEntry* entry);

  // The next command of `clients`, or nullptr if none can be delivered now.
  CommandEntry* Next(const ClientScope& clients = ClientScope::All());
  // Removes a command that is delivered: its client has had its turn.
  void Take(CommandEntry* entry);

  // Sets whether the command is the one in progress of its ordering key. Ignored without a key.
  void SetHoldsKey(CommandEntry* entry, bool holds);

  bool IsUnused() const { return depth_ == 0 && busy_keys_.empty(); }

 private:
  CommandEntry* NextOf(BacklogTurn& turn);

  int64_t depth_ = 0;
  absl::node_hash_map<std::string, BacklogTurn> clients_;
  Pruning pruning_;
  // Longest waiting first.
  boost::intrusive::list<BacklogTurn, boost::intrusive::constant_time_size<false>> turns_;
  absl::flat_hash_set<std::string> busy_keys_;
};

}  // namespace callslip::tracker
