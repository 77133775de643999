#pragma once

#include <cstddef>

#include "callslip/tracker/v1/worker.pb.h"
#include "callslip/tracker/v1/worker_service.pb.h"
#include "gateway/json/parse.h"

// Workers and targets in JSON for agents, people and programs: docs/http.md.
namespace callslip::gateway {

// A worker, with at most 20 of its tabs.
Json WorkerEntry(const callslip::tracker::v1::Worker& worker);

// The worker log, newest first: {"kind", "target", "worker", "time", "entry"}, or "entry_bytes" for
// an entry that exceeds the rest of `max_bytes`.
Json WorkerLogEntries(const callslip::tracker::v1::ListWorkerLogResponse& listed, size_t max_bytes);

// The commands and workers of a target.
Json TargetEntry(const callslip::tracker::v1::Target& target);

}  // namespace callslip::gateway
