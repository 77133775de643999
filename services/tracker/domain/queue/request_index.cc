#include "tracker/domain/queue/request_index.h"

namespace callslip::tracker {

RequestIndex::Locked::Locked(RequestIndex& index,
                             const RequestKey& key) ABSL_NO_THREAD_SAFETY_ANALYSIS
    : key_(key),
      shard_(index.ShardOf(key)) {
  shard_.mutex.Lock();
}

RequestIndex::Locked::~Locked() ABSL_NO_THREAD_SAFETY_ANALYSIS { shard_.mutex.Unlock(); }

std::optional<CommandId> RequestIndex::Locked::Find() const ABSL_NO_THREAD_SAFETY_ANALYSIS {
  const auto it = shard_.ids.find(key_);
  if (it == shard_.ids.end()) return std::nullopt;
  return it->second;
}

void RequestIndex::Locked::Set(CommandId id) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  shard_.ids[key_] = id;
}

void RequestIndex::Forget(const RequestKey& key, CommandId id) {
  Shard& shard = ShardOf(key);
  MutexLock lock(&shard.mutex);
  const auto it = shard.ids.find(key);
  if (it != shard.ids.end() && it->second == id) shard.ids.erase(it);
}

}  // namespace callslip::tracker
