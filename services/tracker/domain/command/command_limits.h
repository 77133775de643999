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
// A command with two deliveries needs six; the rest is for late results.
inline constexpr size_t kMaxTraceEntries = 32;

// Deliveries of an idempotent command: the first and one more.
inline constexpr int kMaxAttempts = 2;
// Unfinished commands a worker may hold ("only top 5 are kept", seed; here the rest wait).
inline constexpr int kWorkerWindow = 5;
// Commands that wait in the queue of one target.
inline constexpr size_t kQueueCapacity = 100;
// Failed commands kept for each client in each partition ("circular buffer, max 100", seed).
inline constexpr size_t kFailedRingCapacity = 100;
// Ids in each partition that still answer "removed"; beyond that they answer "unknown".
inline constexpr size_t kMaxTombstones = 100'000;
// Commands in all: about 1 GiB besides payloads, as measured with short names (1,045 bytes each).
inline constexpr size_t kMaxCommands = 1'000'000;
// Params and results in all. Registrations are refused above it; results are always taken.
inline constexpr int64_t kMaxPayloadBytes = int64_t{1} << 30;
// Held polls and waits in all; each costs a gRPC stream of about 15 KiB.
inline constexpr size_t kMaxWaits = 100'000;
// Rows in one answer of ListCommands.
inline constexpr int kDefaultPageSize = 100;
inline constexpr int kMaxPageSize = 1000;

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_COMMAND_COMMAND_LIMITS_H_
