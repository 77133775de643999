#pragma once

#include <algorithm>
#include <cstddef>

#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_map.h"

namespace callslip::tracker {

// Keeps a map from growing forever, by dropping unused entries whenever it has doubled: a target,
// client or worker that returns each second need not be created again, and the cost for each added
// entry is constant. Guarded like the map.
class Pruning {
 public:
  // Call before an entry is added. `unused` returns whether an entry with this value can be dropped
  // without loss.
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
