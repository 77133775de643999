#pragma once

#include <cstdint>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "common/mutex.h"

namespace callslip {

// Keeps lines of one kind, which peers can cause at will, from flooding the log: admits `lines` per
// second. A second begins with its first line. Thread-safe.
class LogLimit {
 public:
  LogLimit(Clock* clock, int lines) : clock_(clock), lines_(lines) {}

  // Nullopt if the line must be omitted; otherwise the number of lines omitted since the last
  // written one.
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
