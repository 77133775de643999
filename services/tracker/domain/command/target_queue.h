#ifndef CALLSLIP_TRACKER_DOMAIN_COMMAND_TARGET_QUEUE_H_
#define CALLSLIP_TRACKER_DOMAIN_COMMAND_TARGET_QUEUE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tracker/domain/command/command_entry.h"

namespace callslip::tracker {

using LeaseCallback = std::function<void(std::vector<CommandLease>)>;

// A worker's call that is held until there is work for it.
struct HeldPoll : Timed {
  HeldPoll() : Timed(Kind::kHeldPoll) {}

  uint64_t number = 0;
  std::string target;
  std::string worker_id;
  int max_commands = 0;
  LeaseCallback callback;
};

// The queue of one target: commands that wait for a worker, workers that wait for a command, and
// how many unfinished commands each worker holds. Guarded by its partition's mutex; owns the held
// polls, not the commands. It pairs them up but changes no command.
class TargetQueue {
 public:
  // New commands go to the back, returned ones to the front: they have waited longest.
  void PushBack(CommandEntry* entry) { queued_.push_back(entry); }
  void PushFront(CommandEntry* entry) { queued_.push_front(entry); }
  CommandEntry* Front() { return queued_.front(); }
  void Remove(CommandEntry* entry);
  bool has_commands() const { return !queued_.empty(); }
  size_t depth() const { return queued_.size(); }

  // How many more commands the worker may hold.
  int RoomOf(const std::string& worker_id) const;
  void OccupyPlace(const std::string& worker_id) { ++unfinished_[worker_id]; }
  void FreePlace(const std::string& worker_id);

  HeldPoll* Hold(std::unique_ptr<HeldPoll> poll);
  // The poll that has been held longest among those whose worker has room, or nullptr.
  HeldPoll* FirstReadyPoll();
  // Nullptr where it is no longer held.
  HeldPoll* FindPoll(uint64_t number);
  std::unique_ptr<HeldPoll> Release(HeldPoll* poll);
  HeldPoll* AnyPoll() { return polls_.empty() ? nullptr : polls_.front().get(); }

  // True where nothing would be lost by forgetting this queue.
  bool IsUnused() const { return queued_.empty() && polls_.empty() && unfinished_.empty(); }

 private:
  std::deque<CommandEntry*> queued_;
  std::list<std::unique_ptr<HeldPoll>> polls_;
  absl::flat_hash_map<std::string, int> unfinished_;  // By worker; no zeros.
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_COMMAND_TARGET_QUEUE_H_
