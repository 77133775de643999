#ifndef CALLSLIP_GATEWAY_JSON_WORKER_JSON_H_
#define CALLSLIP_GATEWAY_JSON_WORKER_JSON_H_

#include <cstddef>

#include "callslip/tracker/v1/worker.pb.h"
#include "callslip/tracker/v1/worker_service.pb.h"
#include "gateway/json/parse.h"

// Workers and targets as agents, people and programs see them in JSON: docs/http.md.
namespace callslip::gateway {

// A worker, with 20 of its tabs at most.
Json WorkerEntry(const callslip::tracker::v1::Worker& worker);

// What workers have seen, newest first: {"kind", "target", "worker", "time", "entry"}, or
// "entry_bytes" of what does not fit into `max_bytes` any more.
Json WorkerLogEntries(const callslip::tracker::v1::ListWorkerLogResponse& listed, size_t max_bytes);

// What is to be done at a target, and by whom.
Json TargetEntry(const callslip::tracker::v1::Target& target);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_JSON_WORKER_JSON_H_
