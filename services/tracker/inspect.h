#ifndef CALLSLIP_TRACKER_INSPECT_H_
#define CALLSLIP_TRACKER_INSPECT_H_

#include <string>

#include "absl/status/statusor.h"

namespace callslip::tracker {

// What `callslip-tracker inspect` prints: what a data directory holds, for people. Changes nothing,
// and needs no tracker. NOT_FOUND where there is no such directory.
absl::StatusOr<std::string> InspectDataDirectory(const std::string& path);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_INSPECT_H_
