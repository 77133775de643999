#include "tracker/domain/queue/request_index.h"

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"

namespace callslip::tracker {
namespace {

// Names have no control characters, so that a line break can part them.
std::string KeyOf(absl::string_view client_id, absl::string_view request_id) {
  return absl::StrCat(client_id, "\n", request_id);
}

}  // namespace

RequestIndex::Locked::Locked(RequestIndex& index, absl::string_view client_id,
                             absl::string_view request_id) ABSL_NO_THREAD_SAFETY_ANALYSIS
    : key_(KeyOf(client_id, request_id)),
      shard_(index.ShardOf(key_)) {
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

void RequestIndex::Forget(absl::string_view client_id, absl::string_view request_id, CommandId id) {
  const std::string key = KeyOf(client_id, request_id);
  Shard& shard = ShardOf(key);
  MutexLock lock(&shard.mutex);
  const auto it = shard.ids.find(key);
  if (it != shard.ids.end() && it->second == id) shard.ids.erase(it);
}

RequestIndex::Shard& RequestIndex::ShardOf(absl::string_view key) {
  return shards_[absl::Hash<absl::string_view>()(key) % kShards];
}

}  // namespace callslip::tracker
