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

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_PROCESS_INSPECT_H_
