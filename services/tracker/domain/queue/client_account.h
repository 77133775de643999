#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/mutex.h"
#include "tracker/domain/client_scope.h"
#include "tracker/domain/command/command.h"
#include "tracker/domain/command/command_limits.h"
#include "tracker/domain/queue/command_feed.h"
#include "tracker/domain/queue/pruning.h"
#include "tracker/domain/queue/usage.h"

namespace callslip::tracker {

// Selects commands of a client; empty members select all.
struct CommandFilter {
  std::vector<CommandState> states;
  std::string target;
  std::string label;

  bool Matches(const CommandSnapshot& command) const;
};

// A watch of all matching commands, of one client or of all.
struct FilterWatch {
  ClientScope clients;
  CommandFilter filter;
  std::shared_ptr<CommandFeed> feed;
  int64_t watch_id = 0;
  bool only_end = false;
  // Omits the present states when it begins.
  bool only_changes = false;
  // Includes removals.
  bool removals = false;
  // The watcher, to whose limit it counts; empty means the client itself.
  std::string watcher;
  // Counts the bytes that wait for its reader, and their limit. Set by the table.
  std::shared_ptr<CommandFeed::Room> room;
  int64_t room_limit = 0;
};

// The data of one client that all partitions share: its usage, failed ring, and filters.
// Thread-safe; its locks are taken after those of a partition.
class ClientAccount {
 public:
  // `feed_bytes`: bytes that wait for the filters of all clients.
  ClientAccount(std::string client_id, std::shared_ptr<std::atomic<int64_t>> feed_bytes =
                                           std::make_shared<std::atomic<int64_t>>(0))
      : feed_room(std::make_shared<CommandFeed::Room>(std::move(feed_bytes))),
        client_id_(std::move(client_id)) {}

  const std::string& client_id() const { return client_id_; }

  Usage usage;
  std::atomic<int64_t> waits{0};
  // For its own filters. Those of other watchers count in ClientAccounts::OfAll().
  const std::shared_ptr<CommandFeed::Room> feed_room;

  // Adds a command to the failed ring or, if the client cancelled it, to a separate ring, so that
  // cancelled commands don't evict failed ones. Returns the command that it evicts.
  std::optional<CommandId> KeepEnded(CommandId id, bool cancelled, size_t capacity);

  // RESOURCE_EXHAUSTED if its watcher has the maximum number of filters, or if the watchers other
  // than the client together have theirs. The client's own filters are limited only by the first. A
  // filter with `only_changes` gets an update when it begins.
  absl::Status AddFilter(std::shared_ptr<const FilterWatch> watch, const CommandLimits& limits,
                         std::vector<std::shared_ptr<CommandFeed>>& ready);
  // Returns whether it existed: it may have been ended.
  bool RemoveFilter(const FilterWatch* watch);

  // Whether it has any filter. If one is added after this was false, its adder pushes the present
  // states to it.
  bool has_filters() const { return filter_count_ != 0; }
  // Pushes a change of a command, or its removal, to all matching filters, and adds the feeds that
  // must be notified to `ready`. Called with the lock of the command's partition held.
  void PushToFilters(const CommandPtr& command, std::vector<std::shared_ptr<CommandFeed>>& ready,
                     bool removed = false);
  // As above, to one filter only. False if its feed is full. Harmless if it was removed or ended.
  bool PushToFilter(const FilterWatch& watch, const CommandPtr& command,
                    std::vector<std::shared_ptr<CommandFeed>>& ready);
  // Ends all filters as if they were removed, and notifies their feeds.
  void EndFilters(std::vector<std::shared_ptr<CommandFeed>>& ready);

 private:
  // Pushes one update, as `shown`, which is created if null. False if the filter's feed is full.
  static bool Push(const FilterWatch& watch, const CommandPtr& command, bool removed,
                   CommandPtr& shown, std::vector<std::shared_ptr<CommandFeed>>& ready);

  const std::string client_id_;
  // Size of `filters_`: avoids the lock if there are none, which is nearly always.
  std::atomic<int> filter_count_{0};

  Mutex mutex_;
  // The rings: ids of commands that ended without a result, oldest first. A full ring evicts its
  // oldest command from the table. A command that is removed for the other reason, its age, stays
  // in its ring: its id is at the front, and evicting it again does no harm. So a ring is never
  // searched, and the commands that still exist are always its last ones.
  std::deque<CommandId> failed_ ABSL_GUARDED_BY(mutex_);
  std::deque<CommandId> cancelled_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<const FilterWatch>> filters_ ABSL_GUARDED_BY(mutex_);
};

// The accounts of all clients, by name. Thread-safe.
class ClientAccounts {
 public:
  // The client's account, created if it is new. It lasts as long as it is referenced.
  std::shared_ptr<ClientAccount> Of(absl::string_view client_id);
  // All accounts, including OfAll().
  std::vector<std::shared_ptr<ClientAccount>> All();
  // The account of no client, with the filters that watch all clients.
  const std::shared_ptr<ClientAccount>& OfAll() const { return of_all_; }
  // Bytes that wait for the readers of filters.
  int64_t feed_bytes() const { return *feed_bytes_; }

 private:
  const std::shared_ptr<std::atomic<int64_t>> feed_bytes_ =
      std::make_shared<std::atomic<int64_t>>(0);
  const std::shared_ptr<ClientAccount> of_all_ = std::make_shared<ClientAccount>("", feed_bytes_);
  Mutex mutex_;
  absl::flat_hash_map<std::string, std::shared_ptr<ClientAccount>> accounts_
      ABSL_GUARDED_BY(mutex_);
  Pruning pruning_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace callslip::tracker
