#include "tracker/domain/queue/command_feed.h"

#include <algorithm>

#include "tracker/domain/journal/journal.h"

namespace callslip::tracker {

std::vector<CommandUpdate> CommandFeed::Take(size_t max) {
  std::vector<CommandUpdate> taken;
  MutexLock lock(&mutex_);
  taken.reserve(std::min(max, updates_.size()));
  while (!updates_.empty() && taken.size() < max) {
    taken.push_back(std::move(updates_.front()));
    updates_.pop_front();
    ++taken_;
    const CommandUpdate& update = taken.back();
    if (update.command == nullptr) continue;
    waiting_.erase({update.watch_id, update.command->spec->id});
    // The end, with the result.
    if (update.last && !update.peek) MarkResultRead(*update.command, journal_);
  }
  return taken;
}

void CommandFeed::Fail(int64_t watch_id, absl::Status error) {
  if (Push({watch_id, nullptr, std::move(error), true})) OnReady();
}

bool CommandFeed::Push(CommandUpdate update) {
  MutexLock lock(&mutex_);
  if (update.command != nullptr) {
    const Key key(update.watch_id, update.command->spec->id);
    const auto [it, added] = waiting_.try_emplace(key, taken_ + updates_.size());
    if (!added) {
      updates_[it->second - taken_] = std::move(update);
      return false;
    }
  }
  updates_.push_back(std::move(update));
  return updates_.size() == 1;
}

size_t CommandFeed::waiting() {
  MutexLock lock(&mutex_);
  return updates_.size();
}

}  // namespace callslip::tracker
