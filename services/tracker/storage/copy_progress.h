#pragma once

#include <cstdint>
#include <functional>

#include "absl/status/status.h"

namespace callslip::tracker {

// Called repeatedly with the progress of a copy; an error aborts the copy and becomes its result.
using CopyProgress = std::function<absl::Status(int64_t done, int64_t all)>;

}  // namespace callslip::tracker
