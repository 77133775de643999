#include "tracker/domain/command/target_queue.h"

#include <algorithm>
#include <utility>

#include "tracker/domain/command/command_limits.h"

namespace callslip::tracker {

void TargetQueue::Remove(CommandEntry* entry) {
  queued_.erase(std::find(queued_.begin(), queued_.end(), entry));
}

int TargetQueue::RoomOf(const std::string& worker_id) const {
  const auto it = unfinished_.find(worker_id);
  return it == unfinished_.end() ? kWorkerWindow : kWorkerWindow - it->second;
}

void TargetQueue::FreePlace(const std::string& worker_id) {
  const auto it = unfinished_.find(worker_id);
  if (--it->second == 0) unfinished_.erase(it);
}

HeldPoll* TargetQueue::Hold(std::unique_ptr<HeldPoll> poll) {
  polls_.push_back(std::move(poll));
  return polls_.back().get();
}

HeldPoll* TargetQueue::FirstReadyPoll() {
  for (const auto& poll : polls_) {
    if (RoomOf(poll->worker_id) > 0) return poll.get();
  }
  return nullptr;
}

HeldPoll* TargetQueue::FindPoll(uint64_t number) {
  for (const auto& poll : polls_) {
    if (poll->number == number) return poll.get();
  }
  return nullptr;
}

std::unique_ptr<HeldPoll> TargetQueue::Release(HeldPoll* poll) {
  const auto it = std::find_if(polls_.begin(), polls_.end(),
                               [poll](const auto& held) { return held.get() == poll; });
  std::unique_ptr<HeldPoll> released = std::move(*it);
  polls_.erase(it);
  return released;
}

}  // namespace callslip::tracker
