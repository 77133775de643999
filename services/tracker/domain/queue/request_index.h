#pragma once

#include <array>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "common/mutex.h"
#include "tracker/domain/command/command_id.h"
#include "tracker/domain/queue/request_key.h"

namespace callslip::tracker {

// Maps each request_id of each client to the command that it created, in any partition, as long as
// the command or its tombstone exists. Thread-safe. Its locks are taken before those of partitions:
// a registration holds one from its look-up until its command exists, so that a request sent twice
// at once creates one command.
class RequestIndex {
 private:
  struct Shard {
    Mutex mutex;
    absl::flat_hash_map<RequestKey, CommandId> ids ABSL_GUARDED_BY(mutex);
  };

 public:
  // A request_id, locked while this exists. The shard, and so its mutex, is known only at run time,
  // so clang's analysis is disabled.
  class Locked {
   public:
    Locked(RequestIndex& index, const RequestKey& key);
    ~Locked();

    // The command that it created, which may have been removed since.
    std::optional<CommandId> Find() const;
    void Set(CommandId id);

   private:
    const RequestKey key_;
    Shard& shard_;
  };

  // Forgets that the request created the command `id`, of which nothing is left.
  void Forget(const RequestKey& key, CommandId id);

 private:
  static constexpr size_t kShards = 16;

  Shard& ShardOf(const RequestKey& key) { return shards_[absl::HashOf(key) % kShards]; }

  std::array<Shard, kShards> shards_;
};

}  // namespace callslip::tracker
