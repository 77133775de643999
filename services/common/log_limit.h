#ifndef CALLSLIP_COMMON_LOG_LIMIT_H_
#define CALLSLIP_COMMON_LOG_LIMIT_H_

#include <cstdint>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "common/mutex.h"

namespace callslip {

// Keeps lines of one kind, which others can cause at will, from filling the log: `lines` in each
// second, of which the first one begins with its first line. Thread-safe.
class LogLimit {
 public:
  LogLimit(Clock* clock, int lines) : clock_(clock), lines_(lines) {}

  // Whether to write a line now, and how many were left out since the last one that was written.
  std::optional<int64_t> Admit();

 private:
  Clock* const clock_;
  const int lines_;
  Mutex mutex_;
  absl::Time second_end_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  int written_ ABSL_GUARDED_BY(mutex_) = 0;  // In this second.
  int64_t left_out_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace callslip

#endif  // CALLSLIP_COMMON_LOG_LIMIT_H_
