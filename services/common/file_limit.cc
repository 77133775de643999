#include "common/file_limit.h"

#include <sys/resource.h>

#include <algorithm>
#include <limits>

namespace callslip {

int64_t RaiseFileLimit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  if (limit.rlim_cur < limit.rlim_max) {
    const rlimit raised = {limit.rlim_max, limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  constexpr rlim_t kLargest = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::min(limit.rlim_cur, kLargest));
}

}  // namespace callslip
