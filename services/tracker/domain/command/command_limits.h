#ifndef CALLSLIP_TRACKER_DOMAIN_COMMAND_COMMAND_LIMITS_H_
#define CALLSLIP_TRACKER_DOMAIN_COMMAND_COMMAND_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace callslip::tracker {

// Every bound of the command table, with its reason. "Seed" is the correlation-id specification
// that Callslip implements.

// Names that callers choose: long enough for a UUID with a prefix, short enough to log.
inline constexpr size_t kMaxNameBytes = 128;
inline constexpr size_t kMaxTypeBytes = 64;
inline constexpr size_t kMaxErrorCodeBytes = 64;
// A script or a form's worth of text; larger inputs belong behind a URL.
inline constexpr size_t kMaxParamsBytes = size_t{1} << 20;
// A full-page screenshot as base64. With everything around it, it stays below the 10 MiB that MCP
// clients accept as one line.
inline constexpr size_t kMaxResultBytes = size_t{8} << 20;
// Tab id and URL; browsers cut URLs at 2 KiB to 8 KiB.
inline constexpr size_t kMaxContextBytes = size_t{8} << 10;
// Texts for people are cut, not refused, since they come with an outcome that must not be lost.
inline constexpr size_t kMaxErrorMessageBytes = size_t{4} << 10;
inline constexpr size_t kMaxHintBytes = size_t{1} << 10;
inline constexpr size_t kMaxProgressBytes = 256;
// Enough for any order that someone means; small enough for a byte.
inline constexpr int kMaxPriority = 100;

// Deliveries of an idempotent command: the first and one more.
inline constexpr int kMaxAttempts = 2;
// Unfinished commands a worker may hold ("only top 5 are kept", seed; here the rest wait).
inline constexpr int kWorkerWindow = 5;
// That a worker names; more than it can hold many times over.
inline constexpr int kMaxKnownDeliveries = 100;
// Workers of one target, and targets of one partition, that are remembered only because a suspended
// worker is expected back: more than anybody has. Beyond that they are forgotten, and their
// commands expire as if none were expected.
inline constexpr size_t kMaxSuspendedWorkers = 1000;
// Rows in one answer of ListCommands.
inline constexpr int kDefaultPageSize = 100;
inline constexpr int kMaxPageSize = 1000;
// Of each of three groups in one answer, which is no larger than the largest page.
inline constexpr int kMaxGroupSize = 300;
// Updates that wait for a slow reader until its filters are given up, and its requests for more
// watches refused: more than a client's watches can have.
inline constexpr size_t kMaxWaitingUpdates = 30'000;
// As many bytes of what the updates of filters show: contexts and texts of errors, most of which
// are short, and 500 for each.
inline constexpr int64_t kMaxWaitingBytes = int64_t{16} << 20;
// Watches of one stream: as many as of one client.
inline constexpr size_t kMaxWatchesOfStream = 25'000;
// What one WatchCommands message may add, remove or tell.
inline constexpr int kMaxWatchesInMessage = 1000;

// Entries of removed commands that a partition keeps for the next ones. A few are enough: commands
// come and go about equally often.
inline constexpr size_t kMaxSpareEntries = 16;

// How much a table holds. A struct, so that a test can reach each of them.
struct CommandLimits {
  // Commands that wait in the queue of one target: of one client, as the seed has it, and of all,
  // so that no client fills the queue for the others.
  int64_t queued_of_client = 100;
  int64_t queued = 1000;
  // Failed commands kept for each client ("circular buffer, max 100", seed).
  size_t failed_of_client = 100;
  // In all: about 0.7 GiB besides payloads, see ./dev bench. Of one client: an agent that collects
  // nothing for a minute would have to submit 1,600 commands a second.
  int64_t commands = 1'000'000;
  int64_t commands_of_client = 100'000;
  // Params and results. Registrations are refused above these, results above twice as much.
  int64_t payload_bytes = int64_t{1} << 30;
  int64_t payload_bytes_of_client = int64_t{256} << 20;
  // Held polls and watches. One that has a stream of its own costs 15 KiB of gRPC's.
  int64_t waits = 100'000;
  int64_t waits_of_client = 25'000;
  // Each change of a client's commands is held against all of its filters.
  int64_t filters_of_client = 64;
  // Of viewers and administrators who watch one client, or all: 16 of them with as many as they may
  // have.
  int64_t filters_of_others = 1024;
  // What waits for the readers of filters, of all of them. One client has half of it at most, and
  // of each further one half of what is left; viewers and administrators count as one.
  int64_t feed_bytes = int64_t{128} << 20;
  // Ids in each partition that still answer "removed"; beyond that the oldest answer "unknown".
  size_t tombstones = 100'000;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_COMMAND_COMMAND_LIMITS_H_
