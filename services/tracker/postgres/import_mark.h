#ifndef CALLSLIP_TRACKER_POSTGRES_IMPORT_MARK_H_
#define CALLSLIP_TRACKER_POSTGRES_IMPORT_MARK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "tracker/postgres/connection.h"

// From the beginning of an import to its end the tables are of the format kPostgresHalfImported,
// which no tracker serves.
namespace callslip::tracker {

// For the owner of `epoch`: the tables hold nothing after that, and are half imported.
// FAILED_PRECONDITION, with what to do, where they hold what no import has left behind, or the cell
// is another one's.
absl::Status BeginImport(PostgresConnection& connection, uint64_t epoch);
// They are whole, and may be served. FAILED_PRECONDITION as above.
absl::Status EndImport(PostgresConnection& connection, uint64_t epoch);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_POSTGRES_IMPORT_MARK_H_
