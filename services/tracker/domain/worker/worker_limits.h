#ifndef CALLSLIP_TRACKER_DOMAIN_WORKER_WORKER_LIMITS_H_
#define CALLSLIP_TRACKER_DOMAIN_WORKER_WORKER_LIMITS_H_

#include <cstddef>

#include "absl/time/time.h"

namespace callslip::tracker {

// Every bound of what is known about workers, with its reason.

// A worker that was heard of within this time counts as connected: twice the longest hold of an
// extension's poll.
inline constexpr absl::Duration kConnectedWithin = absl::Seconds(10);
// One of whose names nobody else may go by was heard of within this time: longer than the longest
// poll, of 30 s.
inline constexpr absl::Duration kNameKeptFor = absl::Seconds(45);
// Long enough to see in the morning's list which browser was closed; short enough that names which
// change with each start of a browser don't pile up.
inline constexpr absl::Duration kForgetWorkerAfter = absl::Hours(1);
// More than anybody has.
inline constexpr size_t kMaxWorkers = 1000;
// Targets in one answer: more than anybody reads.
inline constexpr int kMaxListedTargets = 1000;
// Name, version and browser: 64 characters, a line on a screen, of up to four bytes each.
inline constexpr size_t kMaxWorkerTextBytes = 256;
// 200 tabs with long titles and URLs.
inline constexpr size_t kMaxTabsBytes = size_t{256} << 10;
// Of reports or log entries in one answer: well below what a gRPC message may have.
inline constexpr size_t kMaxListedBytes = size_t{4} << 20;

// How much a worker log holds. A struct, so that a test can reach each of them. Together they
// allow for 160 MiB of entries, and 16 MiB of claims.
struct WorkerLogLimits {
  // A page that logs without end pushes out its own entries only.
  size_t entries_of_kind = 500;
  size_t bytes_of_kind = size_t{1} << 20;
  // Extensions in the field send seven.
  size_t kinds_of_worker = 10;
  // Those that were last to send any.
  size_t workers = 16;
  // Whose commands worked where: of as many places as a person has tabs open, and of as many
  // workers as are known. The oldest make room: what is seen there is the sender's again.
  size_t claims_of_worker = 64;
  size_t claiming_workers = kMaxWorkers;
};
// Of one call; and one entry, such as the body of a response.
inline constexpr size_t kMaxAppendedEntries = 1000;
inline constexpr size_t kMaxLogEntryBytes = size_t{256} << 10;

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_WORKER_WORKER_LIMITS_H_
