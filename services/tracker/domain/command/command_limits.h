#pragma once

#include <cstddef>
#include <cstdint>

#include "common/limits.h"

namespace callslip::tracker {

// The limits of the command table, with their reasons; those of params and results are in
// common/limits.h. "Seed" is the correlation-id specification
// that Callslip implements.

// Names that callers choose: long enough for a UUID with a prefix, short enough to log.
inline constexpr size_t kMaxNameBytes = 128;
inline constexpr size_t kMaxTypeBytes = 64;
inline constexpr size_t kMaxErrorCodeBytes = 64;
// Tab id and URL; browsers truncate URLs at 2 KiB to 8 KiB.
inline constexpr size_t kMaxContextBytes = size_t{8} << 10;
// Texts for people are truncated, not refused, because they come with an outcome that must not be
// lost.
inline constexpr size_t kMaxErrorMessageBytes = size_t{4} << 10;
inline constexpr size_t kMaxHintBytes = size_t{1} << 10;
inline constexpr size_t kMaxProgressBytes = 256;
// Enough for any intended order; fits into a byte.
inline constexpr int kMaxPriority = 100;

// Deliveries of an idempotent command: the first and one more.
inline constexpr int kMaxAttempts = 2;
// Unfinished commands a worker may hold ("only top 5 are kept", seed; here the rest wait).
inline constexpr int kWorkerWindow = 5;
// Deliveries that a worker lists in a call: many times more than it can hold.
inline constexpr int kMaxKnownDeliveries = 100;
// Workers of one target, and targets of one partition, that are remembered only because a suspended
// worker is expected back: more than any installation has. Beyond that they are forgotten, and
// their commands expire as if no worker were expected.
inline constexpr size_t kMaxSuspendedWorkers = 1000;
// Rows in one answer of ListCommands.
inline constexpr int kDefaultPageSize = 100;
inline constexpr int kMaxPageSize = 1000;
// Rows of each of three groups in one answer, which together are no larger than the largest page.
inline constexpr int kMaxGroupSize = 300;
// Updates that can wait for a slow reader before its filters are ended and its requests for more
// watches refused: more than a client's watches can have.
inline constexpr size_t kMaxWaitingUpdates = 30'000;
// The same in bytes, for updates of filters: contexts and error texts, most of which are short, and
// 500 for each update.
inline constexpr int64_t kMaxWaitingBytes = int64_t{16} << 20;
// Watches of one stream: as many as one client can have.
inline constexpr size_t kMaxWatchesOfStream = 25'000;
// Items that one WatchCommands message can add, remove or report.
inline constexpr int kMaxWatchesInMessage = 1000;

// Entries of removed commands that a partition keeps for reuse. A few are enough, because commands
// come and go at about the same rate.
inline constexpr size_t kMaxSpareEntries = 16;

// Capacity of a table. A struct, so that tests can set smaller limits.
struct CommandLimits {
  // Commands that wait in the queue of one target: of one client, as in the seed, and of all, so
  // that no client fills the queue for the others.
  int64_t queued_of_client = 100;
  int64_t queued = 1000;
  // Failed commands kept for each client ("circular buffer, max 100", seed).
  size_t failed_of_client = 100;
  // Of all clients: about 0.7 GiB without payloads, see ./dev bench. Of one client: an agent that
  // collects nothing for a minute would have to submit 1,600 commands a second.
  int64_t commands = 1'000'000;
  int64_t commands_of_client = 100'000;
  // Params and results. Registrations are refused above these limits, results above twice as much.
  int64_t payload_bytes = int64_t{1} << 30;
  int64_t payload_bytes_of_client = int64_t{256} << 20;
  // Held polls and watches. A wait with a stream of its own costs 15 KiB of gRPC's memory.
  int64_t waits = 100'000;
  int64_t waits_of_client = 25'000;
  // Each change of a client's command is compared with all of its filters.
  int64_t filters_of_client = 64;
  // Of roles that see all clients and watch one client, or all: 16 of them with the maximum each.
  int64_t filters_of_others = 1024;
  // Bytes that wait for the readers of all filters. One client gets at most half of them, each
  // further client half of the rest; roles that see all clients count as one.
  int64_t feed_bytes = int64_t{128} << 20;
  // Ids in each partition that are answered with "removed"; beyond that the oldest are answered
  // with "unknown".
  size_t tombstones = 100'000;
};

}  // namespace callslip::tracker
