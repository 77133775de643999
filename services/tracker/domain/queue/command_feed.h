#ifndef CALLSLIP_TRACKER_DOMAIN_QUEUE_COMMAND_FEED_H_
#define CALLSLIP_TRACKER_DOMAIN_QUEUE_COMMAND_FEED_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "common/mutex.h"
#include "tracker/domain/command/command.h"

namespace callslip::tracker {

class Journal;

// What a watch has to tell.
struct CommandUpdate {
  int64_t watch_id = 0;
  // As it is now. Null where the watch is over without a further change of its command.
  CommandPtr command;
  // Not OK where the watch has failed.
  absl::Status error;
  // No further update of this watch follows.
  bool last = false;
  // Whoever takes it only looks, also where it is the last.
  bool peek = false;
};

// Where the updates of one reader's watches wait until it takes them. A newer state of a command
// replaces one that was not taken yet, so that a reader that is slow or dead costs a place for each
// command and delays nobody. Updates of one command come in the order of its changes.
//
// Made by the reader, held by it and by the table for as long as a watch goes on. Thread-safe.
class CommandFeed {
 public:
  virtual ~CommandFeed() = default;

  // There is something to take, where there was nothing when it was last taken from. Called without
  // any lock held, from whichever thread caused it. Must not block.
  virtual void OnReady() = 0;

  // Up to `max` updates, oldest first; empty where nothing waits. Who takes the last update of a
  // watch has read the result of its command, unless it only looks.
  std::vector<CommandUpdate> Take(size_t max);

  // Adds that a watch has failed; for whoever could not begin it.
  void Fail(int64_t watch_id, absl::Status error);

  // Updates that wait.
  size_t waiting();

 private:
  friend class CommandPartition;
  friend class ClientAccount;

  // Adds an update. Returns whether OnReady() is to be called for it. Called with the lock of the
  // command's partition held, which is what keeps the updates of one command in order.
  bool Push(CommandUpdate update);

  // Where read receipts go; null: nowhere. To be called before the first Push().
  void SetJournal(Journal* journal) { journal_ = journal; }

  using Key = std::pair<int64_t, CommandId>;

  std::atomic<Journal*> journal_{nullptr};
  Mutex mutex_;
  std::deque<CommandUpdate> updates_ ABSL_GUARDED_BY(mutex_);
  // Where the update of a watch and a command is in `updates_`, counted from the first one ever.
  absl::flat_hash_map<Key, uint64_t> waiting_ ABSL_GUARDED_BY(mutex_);
  uint64_t taken_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_QUEUE_COMMAND_FEED_H_
