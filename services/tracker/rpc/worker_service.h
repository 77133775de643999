#pragma once

#include "absl/status/status.h"
#include "callslip/tracker/v1/worker_service.pb.h"
#include "common/clock.h"
#include "tracker/domain/queue/command_table.h"
#include "tracker/domain/worker/worker_log.h"
#include "tracker/domain/worker/worker_registry.h"
#include "tracker/server/async_server.h"
#include "tracker/server/call_context.h"

namespace callslip::tracker {

// WorkerService over the worker registry and log: converts, calls the domain, converts back. The
// contract is in worker_service.proto. Must outlive the server that it serves on.
class WorkerService {
 public:
  static constexpr char kName[] = "callslip.tracker.v1.WorkerService";

  WorkerService(Clock* clock, CommandTable* table, WorkerRegistry* registry, WorkerLog* log)
      : clock_(clock), table_(table), registry_(registry), log_(log) {}

  // Call after the server was started with the service kName added to it.
  void ServeOn(AsyncServer& server);

 private:
  UnaryMethod<v1::ReportWorkerRequest, v1::ReportWorkerResponse> Report;
  UnaryMethod<v1::ListWorkersRequest, v1::ListWorkersResponse> List;
  UnaryMethod<v1::ListTargetsRequest, v1::ListTargetsResponse> ListTargets;
  UnaryMethod<v1::AppendWorkerLogRequest, v1::AppendWorkerLogResponse> AppendLog;
  UnaryMethod<v1::ListWorkerLogRequest, v1::ListWorkerLogResponse> ListLog;

  Clock* const clock_;
  CommandTable* const table_;
  WorkerRegistry* const registry_;
  WorkerLog* const log_;
};

}  // namespace callslip::tracker
