#include "tracker/domain/queue/command_feed.h"

#include <algorithm>

#include "tracker/domain/command/command_limits.h"
#include "tracker/domain/queue/command_table.h"

namespace callslip::tracker {
namespace {

// An update that waits, its place in the index, and the state of its command.
constexpr size_t kUpdateBytes = 500;

// What an update that a filter is shown takes.
int64_t ShownBytes(const CommandPtr& command) {
  if (command == nullptr) return 0;
  size_t bytes = kUpdateBytes + static_cast<size_t>(command->payload_bytes());
  if (command->error != nullptr) {
    bytes += command->error->message.size() + command->error->hint.size();
  }
  if (command->progress != nullptr) bytes += command->progress->message.size();
  return static_cast<int64_t>(bytes);
}

}  // namespace

CommandFeed::~CommandFeed() {
  MutexLock lock(&mutex_);
  CountLocked(-shown_bytes_);
}

void CommandFeed::SetBudget(const std::shared_ptr<std::atomic<int64_t>>& all_bytes, int64_t limit) {
  MutexLock lock(&mutex_);
  all_bytes_ = all_bytes;
  limit_ = limit;
}

void CommandFeed::CountLocked(int64_t more) {
  shown_bytes_ += more;
  if (all_bytes_ != nullptr) *all_bytes_ += more;
}

std::vector<CommandUpdate> CommandFeed::Take(size_t max) {
  std::vector<CommandUpdate> taken;
  while (taken.size() < max) {
    std::optional<CommandUpdate> next = TakeOne();
    if (!next.has_value()) break;
    taken.push_back(*std::move(next));
  }
  return taken;
}

std::optional<CommandUpdate> CommandFeed::TakeOne() {
  Waiting next;
  CommandPtr command;
  {
    MutexLock lock(&mutex_);
    do {
      if (updates_.empty()) return std::nullopt;
      next = std::move(updates_.front());
      updates_.pop_front();
      ++taken_;
      CountLocked(-ShownBytes(next.shown));
      if (next.id == CommandId()) break;
      waiting_.erase({next.watch_id, next.id});
      command = next.shown != nullptr ? std::move(next.shown) : next.watched.lock();
    } while (command == nullptr && !next.last);
  }
  CommandUpdate update{next.watch_id, std::move(command), std::move(next.error),
                       next.last,     next.peek,          next.removed};
  if (next.id == CommandId() || update.command != nullptr) return update;
  // It was the last one of its watch, so that nothing newer is on its way.
  absl::StatusOr<CommandPtr> now = table_.load()->Find(next.id);
  if (now.ok()) {
    update.command = *std::move(now);
  } else {
    update.error = now.status();
  }
  return update;
}

void CommandFeed::NoteReceived(const CommandUpdate& update) {
  if (update.command == nullptr || !update.last || update.peek) return;
  table_.load()->Collect(*update.command);
}

void CommandFeed::Fail(int64_t watch_id, absl::Status error) {
  if (Push({watch_id, nullptr, std::move(error), true})) OnReady();
}

bool CommandFeed::Push(CommandUpdate update) {
  const CommandId id = update.command == nullptr ? CommandId() : update.command->spec->id;
  MutexLock lock(&mutex_);
  return AddLocked({update.watch_id, id, std::move(update.command), nullptr,
                    std::move(update.error), update.last, update.peek, update.removed});
}

bool CommandFeed::PushShown(CommandUpdate update) {
  const CommandId id = update.command->spec->id;
  MutexLock lock(&mutex_);
  CountLocked(ShownBytes(update.command));
  return AddLocked({update.watch_id,
                    id,
                    {},
                    std::move(update.command),
                    std::move(update.error),
                    update.last,
                    update.peek,
                    update.removed});
}

bool CommandFeed::AddLocked(Waiting update) {
  if (update.id != CommandId()) {
    const auto [it, added] =
        waiting_.try_emplace({update.watch_id, update.id}, taken_ + updates_.size());
    if (!added) {
      Waiting& before = updates_[it->second - taken_];
      CountLocked(-ShownBytes(before.shown));
      before = std::move(update);
      return false;
    }
  }
  updates_.push_back(std::move(update));
  return updates_.size() == 1;
}

bool CommandFeed::HasRoom() {
  MutexLock lock(&mutex_);
  if (updates_.size() >= kMaxWaitingUpdates || shown_bytes_ >= kMaxWaitingBytes) return false;
  return all_bytes_ == nullptr || shown_bytes_ < limit_ - *all_bytes_;
}

size_t CommandFeed::waiting() {
  MutexLock lock(&mutex_);
  return updates_.size();
}

}  // namespace callslip::tracker
