#include "gateway/memory_budget.h"

#include <algorithm>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gateway/http/byte_budget.h"

namespace callslip::gateway {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
// A held wait with its connection; or a WebSocket with the unread and unsent messages, and the
// updates, that it may have before they count.
constexpr int64_t kConnectionBytes = 2000 + 3 * static_cast<int64_t>(ByteBudget::kFreeBytes);
// The program, its threads, and the parse tree of the body being read.
constexpr int64_t kProcessBytes = 64 * kMiB;

int64_t FixedBytes(const HttpLimits& http) {
  return http.connections * kConnectionBytes + kProcessBytes +
         kCopiesOfBodies * static_cast<int64_t>(http.strangers_bodies_bytes);
}

std::string InMiB(int64_t bytes) { return absl::StrCat((bytes + kMiB - 1) / kMiB, "MiB"); }

}  // namespace

std::vector<MemoryBudget::Share> MemoryBudget::Shares() const {
  return {
      {"bodies",
       kCopiesOfBodies * static_cast<int64_t>(http.all_bodies_bytes + http.strangers_bodies_bytes)},
      {"files", files_bytes},
      {"updates", static_cast<int64_t>(updates_bytes)},
      {"unsent", kCopiesOfAnswers * static_cast<int64_t>(http.all_unsent_bytes)},
      {"connections", http.connections * kConnectionBytes},
      {"process", kProcessBytes},
  };
}

absl::StatusOr<MemoryBudget> MemoryBudget::Of(int64_t bytes) {
  MemoryBudget budget{.bytes = bytes};
  const int64_t fixed = FixedBytes(budget.http);
  const double scale = std::clamp(
      static_cast<double>(bytes - fixed) / static_cast<double>(kDefault - fixed), 0.0, 1.0);
  for (uint64_t* limit : {&budget.http.all_bodies_bytes, &budget.http.bodies_of_caller_bytes,
                          &budget.http.all_unsent_bytes, &budget.http.unsent_of_caller_bytes,
                          &budget.updates_bytes, &budget.updates_of_client_bytes}) {
    *limit = static_cast<uint64_t>(static_cast<double>(*limit) * scale);
  }
  budget.files_bytes = static_cast<int64_t>(static_cast<double>(budget.files_bytes) * scale);
  // Otherwise no client could send a body of the largest allowed size.
  if (budget.http.bodies_of_caller_bytes >= kLargestBodyBytes) return budget;
  const int64_t least = fixed +
                        (kDefault - fixed) * static_cast<int64_t>(kLargestBodyBytes) /
                            static_cast<int64_t>(HttpLimits().bodies_of_caller_bytes) +
                        1;
  return absl::InvalidArgumentError(absl::StrCat(
      "--memory ", InMiB(bytes), " is too little for one body of the maximum size plus ",
      budget.http.connections, " connections. Set at least ", InMiB(least)));
}

}  // namespace callslip::gateway
