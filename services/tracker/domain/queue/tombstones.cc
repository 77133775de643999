#include "tracker/domain/queue/tombstones.h"

#include "tracker/domain/queue/deadline_wheel.h"

namespace callslip::tracker {

bool Tombstones::Tombstone::IsOf(const ClientScope& clients) const {
  return clients.is_all() || request.client == RequestKey::OfHash(clients.client_id(), 0).client;
}

void Tombstones::Add(CommandId id, const Tombstone& tombstone, int64_t until_nanos, size_t capacity,
                     std::vector<Dropped>& dropped) {
  by_id_.emplace(id, tombstone);
  by_age_.push_back({until_nanos, id});
  if (by_age_.size() > capacity) DropOldest(dropped);
}

const Tombstones::Tombstone* Tombstones::Find(CommandId id) const {
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : &it->second;
}

void Tombstones::Drop(int64_t now_nanos, std::vector<Dropped>& dropped) {
  while (!by_age_.empty() && NextDrop() <= now_nanos) DropOldest(dropped);
}

int64_t Tombstones::NextDrop() const {
  return by_age_.empty() ? kNoDeadline : by_age_.front().until_nanos;
}

void Tombstones::DropOldest(std::vector<Dropped>& dropped) {
  const CommandId id = by_age_.front().id;
  if (const auto it = by_id_.find(id); it != by_id_.end()) {
    if (it->second.request.request != 0) dropped.push_back({id, it->second.request});
    by_id_.erase(it);
  }
  by_age_.pop_front();
}

}  // namespace callslip::tracker
