#include "tracker/domain/queue/command_feed.h"

#include <algorithm>

#include "tracker/domain/command/command_limits.h"
#include "tracker/domain/queue/command_table.h"

namespace callslip::tracker {
namespace {

// A waiting update, its place in the index, and the state of its command.
constexpr size_t kUpdateBytes = 500;

// Memory of an update that a filter is shown.
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
  for (const Waiting& update : updates_) CountLocked(update, -1);
}

void CommandFeed::CountLocked(const Waiting& update, int64_t times) {
  if (update.shown == nullptr) return;
  const int64_t bytes = times * ShownBytes(update.shown);
  shown_bytes_ += bytes;
  update.room->own += bytes;
  *update.room->all += bytes;
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
      CountLocked(next, -1);
      if (next.id == CommandId()) break;
      waiting_.erase({next.watch_id, next.id});
      command = next.shown != nullptr ? std::move(next.shown) : next.watched.lock();
    } while (command == nullptr && !next.last);
  }
  CommandUpdate update{next.watch_id, std::move(command), std::move(next.error),
                       next.last,     next.peek,          next.removed};
  if (next.id == CommandId() || update.command != nullptr) return update;
  // It was the last update of its watch, so nothing newer follows.
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
  return AddLocked({.watch_id = update.watch_id,
                    .id = id,
                    .watched = std::move(update.command),
                    .error = std::move(update.error),
                    .last = update.last,
                    .peek = update.peek,
                    .removed = update.removed});
}

bool CommandFeed::PushShown(CommandUpdate update, std::shared_ptr<Room> room) {
  const CommandId id = update.command->spec->id;
  MutexLock lock(&mutex_);
  return AddLocked({.watch_id = update.watch_id,
                    .id = id,
                    .shown = std::move(update.command),
                    .room = std::move(room),
                    .error = std::move(update.error),
                    .last = update.last,
                    .peek = update.peek,
                    .removed = update.removed});
}

bool CommandFeed::AddLocked(Waiting update) {
  CountLocked(update, 1);
  if (update.id != CommandId()) {
    const auto [it, added] =
        waiting_.try_emplace({update.watch_id, update.id}, taken_ + updates_.size());
    if (!added) {
      Waiting& before = updates_[it->second - taken_];
      CountLocked(before, -1);
      before = std::move(update);
      return false;
    }
  }
  updates_.push_back(std::move(update));
  return updates_.size() == 1;
}

bool CommandFeed::HasRoom(const Room& room, int64_t limit) {
  MutexLock lock(&mutex_);
  return updates_.size() < kMaxWaitingUpdates && shown_bytes_ < kMaxWaitingBytes &&
         room.own < limit - *room.all;
}

bool CommandFeed::GiveUp(int64_t watch_id, absl::Status error) {
  MutexLock lock(&mutex_);
  const bool was_empty = updates_.empty();
  DropLocked(watch_id);
  AddLocked({.watch_id = watch_id, .error = std::move(error), .last = true});
  return was_empty;
}

void CommandFeed::Drop(int64_t watch_id) {
  MutexLock lock(&mutex_);
  DropLocked(watch_id);
}

void CommandFeed::DropLocked(int64_t watch_id) {
  std::deque<Waiting> others;
  for (Waiting& update : updates_) {
    if (update.watch_id == watch_id) {
      CountLocked(update, -1);
      waiting_.erase({watch_id, update.id});
      continue;
    }
    if (update.id != CommandId()) {
      waiting_[{update.watch_id, update.id}] = taken_ + others.size();
    }
    others.push_back(std::move(update));
  }
  updates_ = std::move(others);
}

size_t CommandFeed::waiting() {
  MutexLock lock(&mutex_);
  return updates_.size();
}

}  // namespace callslip::tracker
