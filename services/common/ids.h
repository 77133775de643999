#ifndef CALLSLIP_COMMON_IDS_H_
#define CALLSLIP_COMMON_IDS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace callslip {

// The only source of randomness. All ids come from the kernel's CSPRNG, since whoever knows a
// correlation id can ask for its result. Every function here is thread-safe.

// `bytes` random bytes as lower-case hex, at most 64 bytes.
std::string RandomHex(size_t bytes);

// How many partitions an id can name.
inline constexpr int kMaxPartitions = 256;

// `corr-<unix_ms>-<32 hex>`. The first two hex digits are the partition, so that any process can
// route by the id alone; the remaining 120 bits are random.
std::string NewCorrelationId(absl::Time now, uint8_t partition);

// `ann_<unix_ms>_<32 hex>`, for commands that wait for a person's annotations; otherwise as above.
std::string NewAnnotationId(absl::Time now, uint8_t partition);

// The partition of an id made by one of the two functions above, or nullopt for any other text.
std::optional<uint8_t> PartitionOfId(absl::string_view id);

// `lease-<32 hex>`: names one delivery of a command to a worker, and proves it on each report.
std::string NewLeaseToken();

}  // namespace callslip

#endif  // CALLSLIP_COMMON_IDS_H_
