#ifndef CALLSLIP_TRACKER_DOMAIN_QUEUE_REQUEST_INDEX_H_
#define CALLSLIP_TRACKER_DOMAIN_QUEUE_REQUEST_INDEX_H_

#include <array>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "common/mutex.h"
#include "tracker/domain/command/command_id.h"

namespace callslip::tracker {

// Which command each request_id of each client has made, whatever its partition. Thread-safe. Its
// locks are taken before those of partitions: a registration holds one from its look-up until its
// command is there, so that the same request sent twice at once makes one command.
class RequestIndex {
 private:
  struct Shard {
    Mutex mutex;
    absl::flat_hash_map<std::string, CommandId> ids ABSL_GUARDED_BY(mutex);
  };

 public:
  // A request_id, locked for as long as this lives. Which shard's mutex that is is known at run
  // time only, so that clang's analysis has to be left out.
  class Locked {
   public:
    Locked(RequestIndex& index, absl::string_view client_id, absl::string_view request_id);
    ~Locked();

    // The command it has made; it may have been removed since.
    std::optional<CommandId> Find() const;
    void Set(CommandId id);

   private:
    const std::string key_;
    Shard& shard_;
  };

  // Forgets that the request made the command `id`, which was removed.
  void Forget(absl::string_view client_id, absl::string_view request_id, CommandId id);

 private:
  static constexpr size_t kShards = 16;

  Shard& ShardOf(absl::string_view key);

  std::array<Shard, kShards> shards_;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_QUEUE_REQUEST_INDEX_H_
