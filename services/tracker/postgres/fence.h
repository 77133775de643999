#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tracker/postgres/connection.h"

// The beginning of a statement that changes sessions. $1 is the epoch. The statement must do
// nothing unless `fence` has a row, and its first column must report whether it had one.
#define CALLSLIP_FENCE                                                                  \
  "WITH fence AS (SELECT 1 FROM callslip_cell WHERE part = 'fence' AND epoch = $1 FOR " \
  "SHARE) "
#define CALLSLIP_IF_FENCED "EXISTS (SELECT FROM fence)"

namespace callslip::tracker {

// StorageFailed, with the message of the database.
absl::Status DatabaseFailed(const absl::Status& error);
// Checks the result of such a statement: StorageFailed if it failed, or another tracker owns the
// cell.
absl::Status CheckFence(const absl::StatusOr<PostgresResult>& result, int64_t epoch);

}  // namespace callslip::tracker
