#ifndef CALLSLIP_TRACKER_DOMAIN_QUEUE_CLIENT_ACCOUNT_H_
#define CALLSLIP_TRACKER_DOMAIN_QUEUE_CLIENT_ACCOUNT_H_

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

// Which commands of a client; empty members select all.
struct CommandFilter {
  std::vector<CommandState> states;
  std::string target;
  std::string label;

  bool Matches(const CommandSnapshot& command) const;
};

// A watch of all commands that match, of one client or of all.
struct FilterWatch {
  ClientScope clients;
  CommandFilter filter;
  std::shared_ptr<CommandFeed> feed;
  int64_t watch_id = 0;
  bool only_end = false;
  // Not how commands stand when it begins.
  bool only_changes = false;
  // Also which ones are removed.
  bool removals = false;
  // Who watches, and whose limit it counts to; empty is the client itself.
  std::string watcher;
  // Where it counts what waits for its reader, and what of that there may be. Set by the table.
  std::shared_ptr<CommandFeed::Room> room;
  int64_t room_limit = 0;
};

// What all partitions know of one client: how much it has, its failed ring, and its filters.
// Thread-safe; its locks are taken after those of a partition.
class ClientAccount {
 public:
  // `feed_bytes`: what waits for the filters of all clients.
  ClientAccount(std::string client_id, std::shared_ptr<std::atomic<int64_t>> feed_bytes =
                                           std::make_shared<std::atomic<int64_t>>(0))
      : feed_room(std::make_shared<CommandFeed::Room>(std::move(feed_bytes))),
        client_id_(std::move(client_id)) {}

  const std::string& client_id() const { return client_id_; }

  Usage usage;
  std::atomic<int64_t> waits{0};
  // Of its own filters; of those of others, see ClientAccounts::OfAll().
  const std::shared_ptr<CommandFeed::Room> feed_room;

  // Adds a command to the failed ring, or to one of its own for those that the client has
  // cancelled: they would push out what nobody wanted to fail. Returns the one that it pushes out.
  std::optional<CommandId> KeepEnded(CommandId id, bool cancelled, size_t capacity);

  // RESOURCE_EXHAUSTED where its watcher has as many of them as one may have, or where those of
  // others than the client are as many as all of them may be. The client's own find room always.
  // One of changes only is told that it has begun.
  absl::Status AddFilter(std::shared_ptr<const FilterWatch> watch, const CommandLimits& limits,
                         std::vector<std::shared_ptr<CommandFeed>>& ready);
  // Returns whether it was there: it may have been ended.
  bool RemoveFilter(const FilterWatch* watch);

  // Whether it has any filter. One that is added after this was false is told by whoever adds it
  // how things stand.
  bool has_filters() const { return filter_count_ != 0; }
  // Pushes a change, or that it was removed, to the filters that it matches, and adds to `ready`
  // the feeds that are to be told. Called with the lock of the command's partition held.
  void PushToFilters(const CommandPtr& command, std::vector<std::shared_ptr<CommandFeed>>& ready,
                     bool removed = false);
  // As above, to one filter only; false where its feed is full. Harmless where it was removed or
  // ended.
  bool PushToFilter(const FilterWatch& watch, const CommandPtr& command,
                    std::vector<std::shared_ptr<CommandFeed>>& ready);
  // Ends all filters as if they were removed, and says so.
  void EndFilters(std::vector<std::shared_ptr<CommandFeed>>& ready);

 private:
  // Pushes one, as `shown`, which is made where it is null; false where the filter's feed is full.
  static bool Push(const FilterWatch& watch, const CommandPtr& command, bool removed,
                   CommandPtr& shown, std::vector<std::shared_ptr<CommandFeed>>& ready);

  const std::string client_id_;
  // Of `filters_`: spares the lock where there are none, which is nearly always.
  std::atomic<int> filter_count_{0};

  Mutex mutex_;
  // The rings: the ids of commands that have ended without a result, oldest first. One that is full
  // pushes its oldest command out of the table. Nothing is taken out of a ring where its command is
  // removed for another reason, which is its age: such an id lies at the front, and being pushed
  // out once more does no harm. So a ring needs no search, and the commands that are there are
  // always its last ones.
  std::deque<CommandId> failed_ ABSL_GUARDED_BY(mutex_);
  std::deque<CommandId> cancelled_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<const FilterWatch>> filters_ ABSL_GUARDED_BY(mutex_);
};

// The accounts of all clients that have something, by name. Thread-safe.
class ClientAccounts {
 public:
  // The client's account, made where it is new. It lasts as long as somebody holds it.
  std::shared_ptr<ClientAccount> Of(absl::string_view client_id);
  // With that of no client in particular.
  std::vector<std::shared_ptr<ClientAccount>> All();
  // Nobody's own, with the filters of those who watch all clients.
  const std::shared_ptr<ClientAccount>& OfAll() const { return of_all_; }
  // What waits for the readers of filters, in bytes.
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

#endif  // CALLSLIP_TRACKER_DOMAIN_QUEUE_CLIENT_ACCOUNT_H_
