#ifndef CALLSLIP_TRACKER_POSTGRES_POSTGRES_INSPECTION_H_
#define CALLSLIP_TRACKER_POSTGRES_POSTGRES_INSPECTION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tracker/storage/session_inspection.h"

namespace callslip::tracker {

// As InspectSessions(), of the sessions in the tables of a cell. Errors as those of a connection.
absl::StatusOr<std::vector<SessionInspection>> InspectPostgresSessions(const std::string& url);

// Whether an import into the tables has not come to its end.
absl::StatusOr<bool> IsHalfImported(const std::string& url);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_POSTGRES_POSTGRES_INSPECTION_H_
