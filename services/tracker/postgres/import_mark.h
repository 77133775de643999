#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "tracker/postgres/connection.h"

// From the beginning to the end of an import, the tables have the format kPostgresHalfImported,
// which no tracker serves.
namespace callslip::tracker {

// Empties the tables and marks them as half imported, for the owner of `epoch`.
// FAILED_PRECONDITION, with what to do, if they contain data that no import has left, or another
// tracker owns the cell.
absl::Status BeginImport(PostgresConnection& connection, uint64_t epoch);
// Marks the tables as complete, so that they can be served. FAILED_PRECONDITION as above.
absl::Status EndImport(PostgresConnection& connection, uint64_t epoch);

}  // namespace callslip::tracker
