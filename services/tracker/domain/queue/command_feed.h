#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "common/mutex.h"
#include "tracker/domain/command/command.h"

namespace callslip::tracker {

class CommandTable;

// An update of a watch.
struct CommandUpdate {
  int64_t watch_id = 0;
  // Its present state. Null if the watch ended without a further change of its command.
  CommandPtr command;
  // Not OK if the watch failed.
  absl::Status error;
  // No further update of this watch follows.
  bool last = false;
  // Reading it does not collect the result, not even if it is the last.
  bool peek = false;
  // The command was removed.
  bool removed = false;
};

// Holds the updates of one reader's watches until the reader takes them. A newer state of a command
// replaces one that was not taken yet, so a slow or dead reader costs one place for each command
// and delays no other. Updates of one command come in the order of its changes.
//
// Waiting updates keep no payloads in memory. An update of a watched command refers to the table's
// own snapshot or, when that is gone, to the command's later state. Updates of filters are small,
// and their total is limited.
//
// Created by the reader; held by it, and by the table while a watch lasts. Thread-safe.
class CommandFeed {
 public:
  virtual ~CommandFeed();

  // Called when an update waits and none waited before, without any lock held, on the thread that
  // caused it. Must not block.
  virtual void OnReady() = 0;

  // The oldest update, or nullopt if none waits. Omits an outdated state of a watched command if
  // the watch ended without a newer one. If an end is no longer stored, returns what a reader would
  // find now: another end, or the error NOT_FOUND.
  std::optional<CommandUpdate> TakeOne();
  // As above, up to `max` of them.
  std::vector<CommandUpdate> Take(size_t max);

  // Call when `update` has reached its reader. This collects the result if the update is the end of
  // a command and not a peek. A result for which this is not called can be read again.
  void NoteReceived(const CommandUpdate& update);

  // Adds the failure of a watch that could not begin.
  void Fail(int64_t watch_id, absl::Status error);

  // Number of waiting updates.
  size_t waiting();

  // Bytes that wait for the readers of filters: of all clients, and of one.
  struct Room {
    explicit Room(std::shared_ptr<std::atomic<int64_t>> of_all) : all(std::move(of_all)) {}

    const std::shared_ptr<std::atomic<int64_t>> all;
    std::atomic<int64_t> own{0};
  };

 private:
  friend class CommandPartition;
  friend class ClientAccount;
  friend class CommandTable;

  // A waiting update.
  struct Waiting {
    int64_t watch_id = 0;
    CommandId id;  // Default if the update concerns no command.
    std::weak_ptr<const CommandSnapshot> watched;
    CommandPtr shown;            // Set for filters.
    std::shared_ptr<Room> room;  // Counts `shown`.
    absl::Status error;
    bool last = false;
    bool peek = false;
    bool removed = false;
  };

  // Adds an update of the watch of one command, or the end of any watch. Returns whether OnReady()
  // must be called for it. Called with the lock of the command's partition held, which keeps the
  // updates of one command in order.
  bool Push(CommandUpdate update);
  // As above for a filter. `command` has no large payloads; it is kept, and counts in `room`.
  bool PushShown(CommandUpdate update, std::shared_ptr<Room> room);
  // Whether a filter can add an update. The filters of a client can have as many bytes waiting as
  // are left of `limit` for all clients: however many do not read, some are left for the next
  // client.
  bool HasRoom(const Room& room, int64_t limit);
  // Ends the watch of a filter with an error, which replaces all of its waiting updates: its reader
  // must list the commands again. Returns whether OnReady() must be called.
  bool GiveUp(int64_t watch_id, absl::Status error);
  // Drops the waiting updates of a watch.
  void Drop(int64_t watch_id);
  void DropLocked(int64_t watch_id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  bool AddLocked(Waiting update) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Sets the table of the watched commands. Call before the first Push().
  void SetTable(CommandTable* table) { table_ = table; }
  // Counts the bytes of an update that is added (`times` 1) or removed (-1).
  void CountLocked(const Waiting& update, int64_t times) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  using Key = std::pair<int64_t, CommandId>;

  std::atomic<CommandTable*> table_{nullptr};
  Mutex mutex_;
  std::deque<Waiting> updates_ ABSL_GUARDED_BY(mutex_);
  int64_t shown_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  // Position in `updates_` of the update of a watch and a command, counted from the first update
  // ever.
  absl::flat_hash_map<Key, uint64_t> waiting_ ABSL_GUARDED_BY(mutex_);
  uint64_t taken_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace callslip::tracker
