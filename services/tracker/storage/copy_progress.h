#ifndef CALLSLIP_TRACKER_STORAGE_COPY_PROGRESS_H_
#define CALLSLIP_TRACKER_STORAGE_COPY_PROGRESS_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"

namespace callslip::tracker {

// Called again and again with how much of a copy is done; an error ends the copy with it.
using CopyProgress = std::function<absl::Status(int64_t done, int64_t all)>;

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_STORAGE_COPY_PROGRESS_H_
