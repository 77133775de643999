#ifndef CALLSLIP_TRACKER_DOMAIN_QUEUE_COMMAND_FEED_H_
#define CALLSLIP_TRACKER_DOMAIN_QUEUE_COMMAND_FEED_H_

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
  // The command is not there any more.
  bool removed = false;
};

// Where the updates of one reader's watches wait until it takes them. A newer state of a command
// replaces one that was not taken yet, so that a reader that is slow or dead costs a place for each
// command and delays nobody. Updates of one command come in the order of its changes.
//
// What waits keeps no payload in memory: of a watched command it is the table's own snapshot or,
// once that has gone, what has become of it; and filters are told little, of which there is a
// limit.
//
// Made by the reader, held by it and by the table for as long as a watch goes on. Thread-safe.
class CommandFeed {
 public:
  virtual ~CommandFeed();

  // There is something to take, where there was nothing when it was last taken from. Called without
  // any lock held, from whichever thread caused it. Must not block.
  virtual void OnReady() = 0;

  // The oldest update, or nullopt where nothing waits. A state that a watched command has left, and
  // nothing newer was told since the watch is over, is left out. In place of an end that has been
  // forgotten comes what a reader would find now: another end, or the error NOT_FOUND.
  std::optional<CommandUpdate> TakeOne();
  // As above, up to `max` of them.
  std::vector<CommandUpdate> Take(size_t max);

  // `update` has reached its reader, who has collected the result if it is the end of a command and
  // the reader does more than look. What nobody says so of can be read again.
  void NoteReceived(const CommandUpdate& update);

  // Adds that a watch has failed; for whoever could not begin it.
  void Fail(int64_t watch_id, absl::Status error);

  // Updates that wait.
  size_t waiting();

  // What waits for the readers of filters, in bytes: of all of them, and of those of one client.
  struct Room {
    explicit Room(std::shared_ptr<std::atomic<int64_t>> of_all) : all(std::move(of_all)) {}

    const std::shared_ptr<std::atomic<int64_t>> all;
    std::atomic<int64_t> own{0};
  };

 private:
  friend class CommandPartition;
  friend class ClientAccount;
  friend class CommandTable;

  // An update that waits.
  struct Waiting {
    int64_t watch_id = 0;
    CommandId id;  // No command's where the update is about none.
    std::weak_ptr<const CommandSnapshot> watched;
    CommandPtr shown;            // To a filter,
    std::shared_ptr<Room> room;  // in whose room it counts.
    absl::Status error;
    bool last = false;
    bool peek = false;
    bool removed = false;
  };

  // Adds an update of the watch of one command, or of the end of any watch. Returns whether
  // OnReady() is to be called for it. Called with the lock of the command's partition held, which
  // is what keeps the updates of one command in order.
  bool Push(CommandUpdate update);
  // As above of a filter's, whose `command` has no large payloads and is kept, and counts in
  // `room`.
  bool PushShown(CommandUpdate update, std::shared_ptr<Room> room);
  // Whether a filter may add one. The filters of a client may have as much waiting as is left of
  // `limit` for all: so however many do not read, some of it is left for the next client.
  bool HasRoom(const Room& room, int64_t limit);
  // Ends the watch of a filter with an error, in place of all that waits for it: its reader has to
  // list the commands anew.
  bool GiveUp(int64_t watch_id, absl::Status error);
  // Forgets what waits for a watch.
  void Drop(int64_t watch_id);
  void DropLocked(int64_t watch_id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  bool AddLocked(Waiting update) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Whose commands it tells of. To be called before the first Push().
  void SetTable(CommandTable* table) { table_ = table; }
  // Of an update that waits now, or does no longer.
  void CountLocked(const Waiting& update, int64_t times) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  using Key = std::pair<int64_t, CommandId>;

  std::atomic<CommandTable*> table_{nullptr};
  Mutex mutex_;
  std::deque<Waiting> updates_ ABSL_GUARDED_BY(mutex_);
  int64_t shown_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  // Where the update of a watch and a command is in `updates_`, counted from the first one ever.
  absl::flat_hash_map<Key, uint64_t> waiting_ ABSL_GUARDED_BY(mutex_);
  uint64_t taken_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_QUEUE_COMMAND_FEED_H_
