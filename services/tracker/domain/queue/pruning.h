#ifndef CALLSLIP_TRACKER_DOMAIN_QUEUE_PRUNING_H_
#define CALLSLIP_TRACKER_DOMAIN_QUEUE_PRUNING_H_

#include <algorithm>
#include <cstddef>

#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_map.h"

namespace callslip::tracker {

// Keeps a map from growing for ever, by dropping the entries that nothing needs whenever it has
// doubled: a target, client or worker that comes back each second need not be made anew, and the
// cost for each entry that was added is constant. Guarded as the map is.
class Pruning {
 public:
  // To be called before an entry is added. `unused` says of an entry's value whether nothing would
  // be lost with it.
  template <typename Map, typename Unused>
  void BeforeAdding(Map& map, Unused unused) {
    if (map.size() < prune_at_) return;
    absl::erase_if(map, [&](const auto& entry) { return unused(entry.second); });
    prune_at_ = std::max(kKept, 2 * map.size());
  }

 private:
  static constexpr size_t kKept = 64;

  size_t prune_at_ = kKept;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_QUEUE_PRUNING_H_
