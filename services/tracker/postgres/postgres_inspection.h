#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tracker/storage/session_inspection.h"

namespace callslip::tracker {

// Like InspectSessions(), for the sessions in the tables of a cell. Errors are those of a
// connection.
absl::StatusOr<std::vector<SessionInspection>> InspectPostgresSessions(const std::string& url);

// Whether an import into the tables was not finished.
absl::StatusOr<bool> IsHalfImported(const std::string& url);

}  // namespace callslip::tracker
