#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"
#include "tracker/domain/command/command_deadlines.h"
#include "tracker/domain/command/command_limits.h"

namespace callslip::tracker {

// The limits of the annotation store, with their reasons.

// A list of one drawing, with its brackets, fits into a command's result.
inline constexpr size_t kMaxDrawingBytes = kMaxResultBytes - 2;
// As long as in any browser; longer ones are truncated, not refused.
inline constexpr size_t kMaxUrlBytes = size_t{8} << 10;
inline constexpr size_t kMaxTitleBytes = size_t{1} << 10;
// Commands that one drawing can name: as many as one client can have waiting.
inline constexpr size_t kMaxNamedCommands = 100;
// Rows and bytes in one answer of ListAnnotations.
inline constexpr size_t kMaxDrawingsOfPage = 100;
inline constexpr int64_t kMaxBytesOfPage = int64_t{8} << 20;

// As long as a request waits for a person: a request that began to wait when the drawing was made
// would give up then.
inline constexpr absl::Duration kTabDrawingRetention = absl::Minutes(10);
// A day's work, and the longest lifetime of a command.
inline constexpr absl::Duration kSessionDrawingRetention = kMaxScheduleToClose;
// A browser repeats a drawing until it is answered, for as long as the browser runs.
inline constexpr absl::Duration kDrawingMemoryRetention = absl::Hours(24);
// The maximum, so that a person's work is not repeated because its client was busy.
inline constexpr absl::Duration kAnnotationResultRetention = kMaxResultRetention;

// Capacity of a store. A struct, so that tests can set smaller limits.
struct AnnotationLimits {
  // A page or two of notes for each hour of a day; with screenshots, about 0.6 MiB each.
  size_t drawings_of_session = 100;
  int64_t bytes_of_session = int64_t{64} << 20;
  // Few enough to search for each call, because people make and request them.
  size_t drawings = 10'000;
  int64_t bytes = int64_t{512} << 20;
  // From browsers of one client; those from browsers that serve all clients count as one client's.
  size_t drawings_of_client = 5'000;
  int64_t bytes_of_client = int64_t{256} << 20;
  // Requests that wait for a person.
  int64_t waiters_of_client = 100;
  int64_t waiters = 10'000;
  // Clients that received a drawing; beyond that, the first of them can receive it again.
  size_t receipts_of_drawing = 1000;
  // Answers that are remembered for repeated drawings: more than people make while one waits to be
  // repeated, and few enough to search.
  size_t remembered = 1000;
};

}  // namespace callslip::tracker
