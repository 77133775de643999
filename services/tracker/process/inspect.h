#ifndef CALLSLIP_TRACKER_PROCESS_INSPECT_H_
#define CALLSLIP_TRACKER_PROCESS_INSPECT_H_

#include <cstdio>
#include <string>

#include "absl/status/status.h"

namespace callslip::tracker {

// What `callslip-tracker inspect` does: writes to `out`, for people, what a data directory holds.
// Changes nothing, and may be called beside a running tracker. NOT_FOUND where there is no such
// directory; DATA_LOSS where its commands are damaged, after all that can be read.
absl::Status InspectDataDirectory(const std::string& path, std::FILE* out);
// The same of a database, as --storage names it; errors as those of a connection.
absl::Status InspectDatabase(const std::string& url, std::FILE* out);

// What `inspect --command ID` does: writes when what was done for that command, and by which ids a
// collector has it. NOT_FOUND where there is no such command.
absl::Status InspectCommand(const std::string& path, const std::string& id, std::FILE* out);
absl::Status InspectCommandInDatabase(const std::string& url, const std::string& id,
                                      std::FILE* out);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_PROCESS_INSPECT_H_
