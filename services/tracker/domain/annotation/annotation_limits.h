#ifndef CALLSLIP_TRACKER_DOMAIN_ANNOTATION_ANNOTATION_LIMITS_H_
#define CALLSLIP_TRACKER_DOMAIN_ANNOTATION_ANNOTATION_LIMITS_H_

#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"
#include "tracker/domain/command/command_deadlines.h"
#include "tracker/domain/command/command_limits.h"

namespace callslip::tracker {

// Every bound of the annotation store, with its reason.

// So that a list of one, with its brackets, is a result that the command table takes.
inline constexpr size_t kMaxDrawingBytes = kMaxResultBytes - 2;
// As long as any browser makes them; they are cut, not refused.
inline constexpr size_t kMaxUrlBytes = size_t{8} << 10;
inline constexpr size_t kMaxTitleBytes = size_t{1} << 10;
// Commands that one drawing may name: as many as one client may have waiting.
inline constexpr size_t kMaxNamedCommands = 100;
// Rows and bytes in one answer of ListAnnotations.
inline constexpr size_t kMaxDrawingsOfPage = 100;
inline constexpr int64_t kMaxBytesOfPage = int64_t{8} << 20;

// As long as a request waits for a person: whoever began to wait when the drawing was made would
// give up then.
inline constexpr absl::Duration kTabDrawingRetention = absl::Minutes(10);
// A day's work, and the longest that a command may last.
inline constexpr absl::Duration kSessionDrawingRetention = kMaxScheduleToClose;
// A browser repeats a drawing until it is answered, for as long as it runs.
inline constexpr absl::Duration kDrawingMemoryRetention = absl::Hours(24);
// The longest that there is: a person's work is not done again because its client was busy.
inline constexpr absl::Duration kAnnotationResultRetention = kMaxResultRetention;

// How much a store holds. A struct, so that a test can reach each of them.
struct AnnotationLimits {
  // A page or two of notes for each hour of a day; with screenshots, some 0.6 MiB each.
  size_t drawings_of_session = 100;
  int64_t bytes_of_session = int64_t{64} << 20;
  // Few enough to be looked through for each call, since people make them and ask for them.
  size_t drawings = 10'000;
  int64_t bytes = int64_t{512} << 20;
  // Of those that browsers of one client have made; those of browsers that serve all count as one.
  size_t drawings_of_client = 5'000;
  int64_t bytes_of_client = int64_t{256} << 20;
  // Requests that wait for a person.
  int64_t waiters_of_client = 100;
  int64_t waiters = 10'000;
  // Who has been given a drawing; beyond that, whoever was first may be given it once more.
  size_t receipts_of_drawing = 1000;
  // Answers that are remembered for drawings that come again: more than people make while one waits
  // to be repeated, and few enough to be looked through.
  size_t remembered = 1000;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_ANNOTATION_ANNOTATION_LIMITS_H_
