#include "common/log_limit.h"

#include <utility>

namespace callslip {

std::optional<int64_t> LogLimit::Admit() {
  const absl::Time now = clock_->Now();
  MutexLock lock(&mutex_);
  if (now >= second_end_) {
    second_end_ = now + absl::Seconds(1);
    written_ = 0;
  }
  if (written_ >= lines_) {
    ++left_out_;
    return std::nullopt;
  }
  ++written_;
  return std::exchange(left_out_, 0);
}

}  // namespace callslip
