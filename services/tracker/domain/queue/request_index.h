#ifndef CALLSLIP_TRACKER_DOMAIN_QUEUE_REQUEST_INDEX_H_
#define CALLSLIP_TRACKER_DOMAIN_QUEUE_REQUEST_INDEX_H_

#include <array>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "common/mutex.h"
#include "tracker/domain/command/command_id.h"
#include "tracker/domain/queue/request_key.h"

namespace callslip::tracker {

// Which command each request_id of each client has made, whatever its partition, for as long as the
// command or its tombstone is there. Thread-safe. Its
// locks are taken before those of partitions: a registration holds one from its look-up until its
// command is there, so that the same request sent twice at once makes one command.
class RequestIndex {
 private:
  struct Shard {
    Mutex mutex;
    absl::flat_hash_map<RequestKey, CommandId> ids ABSL_GUARDED_BY(mutex);
  };

 public:
  // A request_id, locked for as long as this lives. Which shard's mutex that is is known at run
  // time only, so that clang's analysis has to be left out.
  class Locked {
   public:
    Locked(RequestIndex& index, const RequestKey& key);
    ~Locked();

    // The command it has made; that may have been removed since.
    std::optional<CommandId> Find() const;
    void Set(CommandId id);

   private:
    const RequestKey key_;
    Shard& shard_;
  };

  // Forgets that the request made the command `id`, of which nothing is left.
  void Forget(const RequestKey& key, CommandId id);

 private:
  static constexpr size_t kShards = 16;

  Shard& ShardOf(const RequestKey& key) { return shards_[absl::HashOf(key) % kShards]; }

  std::array<Shard, kShards> shards_;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_QUEUE_REQUEST_INDEX_H_
