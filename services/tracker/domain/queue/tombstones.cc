#include "tracker/domain/queue/tombstones.h"

#include "tracker/domain/queue/deadline_wheel.h"

namespace callslip::tracker {

bool Tombstones::Tombstone::IsOf(const ClientScope& clients) const {
  return clients.is_all() || request.client == RequestKey::OfHash(clients.client_id(), 0).client;
}

void Tombstones::Add(CommandId id, const Tombstone& tombstone, int64_t until_nanos, size_t capacity,
                     std::vector<Dropped>& dropped) {
  if (!by_id_.emplace(id, tombstone).second) return;
  const auto client = of_clients_.try_emplace(tombstone.request.client).first;
  if (client->second.empty()) next_.emplace(until_nanos, client->first);
  by_count_.erase({client->second.size(), client->first});
  client->second.push_back({until_nanos, id});
  by_count_.emplace(client->second.size(), client->first);
  if (by_id_.size() > capacity) DropOldestOf(WhoMakesRoom(), dropped);
}

Tombstones::OfClients::iterator Tombstones::WhoMakesRoom() {
  const auto [count, client] = *by_count_.rbegin();
  return of_clients_.find(2 * count > by_id_.size() ? client : next_.begin()->second);
}

const Tombstones::Tombstone* Tombstones::Find(CommandId id) const {
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : &it->second;
}

void Tombstones::Drop(int64_t now_nanos, std::vector<Dropped>& dropped) {
  while (NextDrop() <= now_nanos && !next_.empty()) {
    DropOldestOf(of_clients_.find(next_.begin()->second), dropped);
  }
}

int64_t Tombstones::NextDrop() const { return next_.empty() ? kNoDeadline : next_.begin()->first; }

void Tombstones::DropOldestOf(OfClients::iterator client, std::vector<Dropped>& dropped) {
  std::deque<Age>& ages = client->second;
  next_.erase({ages.front().until_nanos, client->first});
  const auto oldest = by_id_.find(ages.front().id);
  if (oldest->second.request.request != 0)
    dropped.push_back({oldest->first, oldest->second.request});
  by_id_.erase(oldest);
  by_count_.erase({ages.size(), client->first});
  ages.pop_front();
  if (ages.empty()) {
    of_clients_.erase(client);
  } else {
    next_.emplace(ages.front().until_nanos, client->first);
    by_count_.emplace(ages.size(), client->first);
  }
}

}  // namespace callslip::tracker
