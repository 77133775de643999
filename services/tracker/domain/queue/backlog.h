#ifndef CALLSLIP_TRACKER_DOMAIN_QUEUE_BACKLOG_H_
#define CALLSLIP_TRACKER_DOMAIN_QUEUE_BACKLOG_H_

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

// The commands of one target that wait for a worker, and whose turn it is.
//
// Clients take turns: each delivery goes to the client that has waited longest for one. A client's
// own commands go by priority, then by age. Of the commands with one ordering key only one is under
// way at a time; the others are passed over until it has ended, also while it waits to be delivered
// once more.
//
// Owns no command and changes none. Guarded by its partition's mutex. Finding the next command
// looks at those that are passed over, which the queue's capacity bounds.
class Backlog {
 public:
  // The commands of a client, none as yet where it is new. Lasts until the next call for another.
  BacklogTurn* TurnOf(absl::string_view client_id);
  // Counts one more command that waits, of the client of `turn`: to be called before Add(), maybe
  // long before where the command may not be delivered yet.
  void Admit(CommandEntry* entry, BacklogTurn* turn);
  void Dismiss(CommandEntry* entry);
  int64_t depth() const { return depth_; }
  // Counts what waits of `clients` in `load`, and finds the oldest that could be delivered. Looks
  // at each of them, which the queue's capacity bounds.
  void AddTo(const ClientScope& clients, TargetLoad& load) const;

  // Makes `entry` wait for its turn. One that comes back takes the place that its age gives it.
  void Add(CommandEntry* entry);
  // Takes it out, because it has ended. Harmless where it is not in.
  void Remove(CommandEntry* entry);

  // Whose turn it is among `clients`, or nullptr where none of theirs can be delivered now.
  CommandEntry* Next(const ClientScope& clients = ClientScope::All());
  // Takes it out, because it is delivered: its client has had its turn.
  void Take(CommandEntry* entry);

  // Whether the command is the one of its ordering key that is under way. Commands without a key
  // don't care.
  void SetHoldsKey(CommandEntry* entry, bool holds);

  bool IsUnused() const { return depth_ == 0 && busy_keys_.empty(); }

 private:
  CommandEntry* NextOf(BacklogTurn& turn);

  int64_t depth_ = 0;
  absl::node_hash_map<std::string, BacklogTurn> clients_;
  Pruning pruning_;
  // The one that has waited longest comes first.
  boost::intrusive::list<BacklogTurn, boost::intrusive::constant_time_size<false>> turns_;
  absl::flat_hash_set<std::string> busy_keys_;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_QUEUE_BACKLOG_H_
