#ifndef CALLSLIP_GATEWAY_MEMORY_BUDGET_H_
#define CALLSLIP_GATEWAY_MEMORY_BUDGET_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "gateway/files/file_store.h"
#include "gateway/http/http_limits.h"

namespace callslip::gateway {

// What of a gateway's memory may be taken by what, and the limits that follow from it.
struct MemoryBudget {
  // With which every limit has the value that its declaration gives it.
  static constexpr int64_t kDefault = int64_t{512} << 20;

  int64_t bytes = kDefault;
  HttpLimits http;
  // Of the files that wait for a browser.
  int64_t files_bytes = FileStore::kAllBytes;
  // Of what has happened to sessions and commands, and waits for those who look on, who read slowly
  // or not at all; and of that, for one client.
  uint64_t updates_bytes = 32 << 20;
  uint64_t updates_of_client_bytes = 16 << 20;

  struct Share {
    const char* table;
    int64_t bytes;
  };
  // The one list of them. Their sum is at most `bytes`.
  std::vector<Share> Shares() const;

  // For so many bytes. INVALID_ARGUMENT, with what is needed, where the shares do not fit.
  static absl::StatusOr<MemoryBudget> Of(int64_t bytes);
};

// Of each byte of a body: it is there as it came, or what is made of it; as a message; and as bytes
// of gRPC's.
inline constexpr int64_t kCopiesOfBodies = 3;
// Of an answer that waits for its reader: beside it there is what the next piece is made of.
inline constexpr int64_t kCopiesOfAnswers = 2;

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_MEMORY_BUDGET_H_
