#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "gateway/files/file_store.h"
#include "gateway/http/http_limits.h"

namespace callslip::gateway {

// How a gateway's memory is divided, and the limits that follow.
struct MemoryBudget {
  // With this value every limit has its declared default.
  static constexpr int64_t kDefault = int64_t{512} << 20;

  int64_t bytes = kDefault;
  HttpLimits http;
  // For files that wait for a browser.
  int64_t files_bytes = FileStore::kAllBytes;
  // For updates of sessions and commands that wait for observers that read slowly or not at all;
  // and the part of it for one client.
  uint64_t updates_bytes = 32 << 20;
  uint64_t updates_of_client_bytes = 16 << 20;

  struct Share {
    const char* table;
    int64_t bytes;
  };
  // The complete list of shares. Their sum is at most `bytes`.
  std::vector<Share> Shares() const;

  // The budget for `bytes`. INVALID_ARGUMENT, with the required size, if the shares do not fit.
  static absl::StatusOr<MemoryBudget> Of(int64_t bytes);
};

// Copies of each body in memory: as received, or what is parsed from it; as a message; and as
// gRPC's bytes.
inline constexpr int64_t kCopiesOfBodies = 3;
// Copies of each response that waits for its reader: the response, and the data for its next piece.
inline constexpr int64_t kCopiesOfAnswers = 2;

}  // namespace callslip::gateway
