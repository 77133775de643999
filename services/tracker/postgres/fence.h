#ifndef CALLSLIP_TRACKER_POSTGRES_FENCE_H_
#define CALLSLIP_TRACKER_POSTGRES_FENCE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tracker/postgres/connection.h"

// What a statement that changes sessions begins with: it has $1 as the epoch, does nothing unless
// `fence` has a row, and its first column says whether it had.
#define CALLSLIP_FENCE                                                                  \
  "WITH fence AS (SELECT 1 FROM callslip_cell WHERE part = 'fence' AND epoch = $1 FOR " \
  "SHARE) "
#define CALLSLIP_IF_FENCED "EXISTS (SELECT FROM fence)"

namespace callslip::tracker {

// StorageFailed, with what the database has said.
absl::Status DatabaseFailed(const absl::Status& error);
// Of such a statement: StorageFailed where it has failed, or the cell is another one's.
absl::Status CheckFence(const absl::StatusOr<PostgresResult>& result, int64_t epoch);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_POSTGRES_FENCE_H_
