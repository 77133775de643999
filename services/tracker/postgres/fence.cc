#include "tracker/postgres/fence.h"

#include "absl/strings/str_cat.h"
#include "tracker/domain/session/session_errors.h"
#include "tracker/postgres/cell.h"

namespace callslip::tracker {

absl::Status DatabaseFailed(const absl::Status& error) {
  return StorageFailed(absl::StrCat("the database (", error.message(), ")"));
}

absl::Status CheckFence(const absl::StatusOr<PostgresResult>& result, int64_t epoch) {
  if (!result.ok()) return DatabaseFailed(result.status());
  if (result->rows() == 1 && result->Int(0, 0) == 1) return absl::OkStatus();
  return DatabaseFailed(CellIsTaken(static_cast<uint64_t>(epoch)));
}

}  // namespace callslip::tracker
