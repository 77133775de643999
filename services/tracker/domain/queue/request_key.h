#pragma once

#include <cstdint>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"

namespace callslip::tracker {

// Short form of a client and its request_id, to save memory. Two request_ids of one client
// practically never have the same key; those of two clients not even on purpose.
struct RequestKey {
  uint64_t client = 0;   // Differs between processes.
  uint64_t request = 0;  // HashOf() of the request_id; 0 if there is none.

  static RequestKey Of(absl::string_view client_id, absl::string_view request_id) {
    return OfHash(client_id, HashOf(request_id));
  }
  static RequestKey OfHash(absl::string_view client_id, uint64_t request) {
    return {absl::Hash<absl::string_view>()(client_id), request};
  }

  // 64-bit FNV-1a, the same after each restart. 0 only for an empty one.
  static uint64_t HashOf(absl::string_view request_id) {
    if (request_id.empty()) return 0;
    uint64_t hash = 14695981039346656037u;
    for (const char c : request_id) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    return hash == 0 ? 1 : hash;
  }

  friend bool operator==(const RequestKey&, const RequestKey&) = default;
  template <typename H>
  friend H AbslHashValue(H state, const RequestKey& key) {
    return H::combine(std::move(state), key.client, key.request);
  }
};

}  // namespace callslip::tracker
