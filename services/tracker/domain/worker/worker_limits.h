#pragma once

#include <cstddef>

#include "absl/time/time.h"

namespace callslip::tracker {

// Limits of what is stored about workers, with their reasons.

// A worker that was seen within this time counts as connected: twice the longest hold of an
// extension's poll.
inline constexpr absl::Duration kConnectedWithin = absl::Seconds(10);
// How long a worker's name stays reserved after the worker was last seen: longer than the longest
// poll, of 30 s.
inline constexpr absl::Duration kNameKeptFor = absl::Seconds(45);
// Long enough to see in the morning which browser was closed; short enough that names that change
// with each start of a browser don't pile up.
inline constexpr absl::Duration kForgetWorkerAfter = absl::Hours(1);
// More than any installation has.
inline constexpr size_t kMaxWorkers = 1000;
// Targets in one answer: more than a person reads.
inline constexpr int kMaxListedTargets = 1000;
// Name, version and browser: 64 characters, a line on a screen, of up to four bytes each.
inline constexpr size_t kMaxWorkerTextBytes = 256;
// 200 tabs with long titles and URLs.
inline constexpr size_t kMaxTabsBytes = size_t{256} << 10;
// Bytes of reports or log entries in one answer: well below the limit of a gRPC message.
inline constexpr size_t kMaxListedBytes = size_t{4} << 20;

// Capacity of a worker log. A struct, so that tests can set smaller limits. Together they allow 160
// MiB of entries and 16 MiB of claims.
struct WorkerLogLimits {
  // A page that logs endlessly evicts only its own entries.
  size_t entries_of_kind = 500;
  size_t bytes_of_kind = size_t{1} << 20;
  // Extensions in the field send seven.
  size_t kinds_of_worker = 10;
  // The last ones that sent entries.
  size_t workers = 16;
  // Claims of places by commands: for each worker as many as a person has tabs open, and for as
  // many workers as are known. The oldest are evicted; new entries at their places belong to the
  // sender again.
  size_t claims_of_worker = 64;
  size_t claiming_workers = kMaxWorkers;
};
// Entries of one call, and bytes of one entry, such as the body of a response.
inline constexpr size_t kMaxAppendedEntries = 1000;
inline constexpr size_t kMaxLogEntryBytes = size_t{256} << 10;

}  // namespace callslip::tracker
