#include "tracker/domain/queue/tombstones.h"

#include "absl/hash/hash.h"
#include "tracker/domain/queue/deadline_wheel.h"

namespace callslip::tracker {
namespace {

uint64_t HashOf(absl::string_view client_id) { return absl::Hash<absl::string_view>()(client_id); }

}  // namespace

bool Tombstones::Tombstone::IsOf(const ClientScope& clients) const {
  return clients.is_all() || client_hash == HashOf(clients.client_id());
}

void Tombstones::Add(CommandId id, absl::string_view client_id, CommandState ended_as,
                     int64_t until_nanos, size_t capacity) {
  if (capacity == 0) return;
  if (by_age_.size() >= capacity) DropOldest();
  by_id_.emplace(id, Tombstone{HashOf(client_id), ended_as});
  by_age_.push_back({until_nanos, id});
}

const Tombstones::Tombstone* Tombstones::Find(CommandId id) const {
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : &it->second;
}

void Tombstones::Drop(int64_t now_nanos) {
  while (!by_age_.empty() && NextDrop() <= now_nanos) DropOldest();
}

int64_t Tombstones::NextDrop() const {
  return by_age_.empty() ? kNoDeadline : by_age_.front().until_nanos;
}

void Tombstones::DropOldest() {
  by_id_.erase(by_age_.front().id);
  by_age_.pop_front();
}

}  // namespace callslip::tracker
