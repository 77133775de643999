#include "tracker/rpc/worker_service.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/status_macros.h"
#include "tracker/domain/errors.h"
#include "tracker/domain/queue/target_status.h"
#include "tracker/rpc/command_convert.h"
#include "tracker/rpc/time_convert.h"

namespace callslip::tracker {
namespace {

WorkerReport ReportFrom(const v1::WorkerReport& message) {
  return {.name = message.name(),
          .version = message.version(),
          .browser = message.browser(),
          .paused = message.paused(),
          .tabs = std::make_shared<const std::string>(message.tabs())};
}

void Fill(const WorkerReport& report, v1::WorkerReport& message) {
  message.set_name(report.name);
  message.set_version(report.version);
  message.set_browser(report.browser);
  message.set_paused(report.paused);
  if (report.tabs != nullptr) message.set_tabs(*report.tabs);
}

void Fill(const CommandSnapshot& command, v1::WorkerCommand& message) {
  message.set_command_id(command.spec->id.ToString());
  message.set_type(std::string(command.spec->type()));
  message.set_state(ToProto(command.state));
  Set(command.deliver_time(), *message.mutable_deliver_time());
}

void Fill(const TargetStatus& target, absl::Time now, v1::Target& message) {
  message.set_target(target.load.target);
  message.set_queued(target.load.queued);
  if (target.load.oldest_ready != absl::InfiniteFuture()) {
    Set(std::max(now - target.load.oldest_ready, absl::ZeroDuration()),
        *message.mutable_oldest_queued());
  }
  message.set_delivered(target.load.delivered);
  message.set_running(target.load.running);
  message.set_workers_connected(target.workers.connected);
  message.set_workers_known(target.workers.known);
}

// Includes only the commands of `clients`.
void Fill(const WorkerStatus& worker, const ClientScope& clients, v1::Worker& message) {
  message.set_target(worker.target);
  message.set_worker_id(worker.worker_id);
  message.set_connected(worker.connected);
  Set(worker.seen_ago, *message.mutable_seen_ago());
  if (worker.report != nullptr) {
    Fill(*worker.report, *message.mutable_report());
    Set(worker.report_ago, *message.mutable_report_ago());
  }
  int others = 0;
  for (const CommandPtr& command : worker.commands) {
    if (clients.Covers(command->spec->client_id())) {
      Fill(*command, *message.add_commands());
    } else {
      ++others;
    }
  }
  message.set_other_commands(others);
}

}  // namespace

void WorkerService::ServeOn(AsyncServer& server) {
  server.ServeUnary("ReportWorker", this, &WorkerService::Report);
  server.ServeUnary("ListWorkers", this, &WorkerService::List);
  server.ServeUnary("ListTargets", this, &WorkerService::ListTargets);
  server.ServeUnary("AppendWorkerLog", this, &WorkerService::AppendLog);
  server.ServeUnary("ListWorkerLog", this, &WorkerService::ListLog);
}

absl::Status WorkerService::Report(const CallContext& caller,
                                   const v1::ReportWorkerRequest& request,
                                   v1::ReportWorkerResponse&) {
  if (!request.has_report()) return InvalidField("report", "is required");
  std::string target = request.target();
  std::string worker_id = request.worker_id();
  RETURN_IF_ERROR(EnforceScope(*caller.principal, target, worker_id));
  return registry_->Report(target, worker_id, ReportFrom(request.report()), clock_->Now(),
                           {caller.client_id, caller.Serves()});
}

absl::Status WorkerService::List(const CallContext& caller, const v1::ListWorkersRequest& request,
                                 v1::ListWorkersResponse& response) {
  ASSIGN_OR_RETURN(const ClientScope clients, caller.ScopeOf(request.all_clients() ? "*" : ""));
  ASSIGN_OR_RETURN(const WorkerPage page,
                   registry_->List(request.target(), request.page_size(), request.page_token(),
                                   table_->Activities(request.target()), clock_->Now()));
  for (const WorkerStatus& worker : page.workers) Fill(worker, clients, *response.add_workers());
  response.set_next_page_token(page.next_page_token);
  return absl::OkStatus();
}

absl::Status WorkerService::ListTargets(const CallContext& caller,
                                        const v1::ListTargetsRequest& request,
                                        v1::ListTargetsResponse& response) {
  ASSIGN_OR_RETURN(const ClientScope clients, caller.ScopeOf(request.all_clients() ? "*" : ""));
  if (request.page_size() < 0) return InvalidField("page_size", "must not be negative");
  const absl::Time now = clock_->Now();
  std::vector<TargetStatus> targets =
      JoinTargets(table_->Loads(clients), registry_->CountByTarget(table_->Activities(""), now),
                  request.contains());
  response.set_total(static_cast<int32_t>(targets.size()));
  const auto limit = static_cast<size_t>(request.page_size() == 0
                                             ? kMaxListedTargets
                                             : std::min(request.page_size(), kMaxListedTargets));
  if (targets.size() > limit) targets.resize(limit);
  for (const TargetStatus& target : targets) {
    v1::Target& message = *response.add_targets();
    Fill(target, now, message);
    message.set_queue_limit(table_->limits().queued);
  }
  return absl::OkStatus();
}

absl::Status WorkerService::AppendLog(const CallContext& caller,
                                      const v1::AppendWorkerLogRequest& request,
                                      v1::AppendWorkerLogResponse&) {
  std::string target = request.target();
  std::string worker_id = request.worker_id();
  RETURN_IF_ERROR(EnforceScope(*caller.principal, target, worker_id));
  if (!request.places().empty() && request.places_size() != request.entries_size()) {
    return InvalidField("places", "must be as many as entries, or none");
  }
  RETURN_IF_ERROR(
      registry_->Seen(target, worker_id, clock_->Now(), {caller.client_id, caller.Serves()})
          .status());
  std::vector<SeenByWorker> seen;
  for (int i = 0; i < request.entries_size(); ++i) {
    seen.push_back({std::make_shared<const std::string>(request.entries(i)),
                    request.places().empty() ? "" : request.places(i)});
  }
  return log_->Append(target, worker_id, request.kind(), caller.client_id, std::move(seen),
                      clock_->Now());
}

absl::Status WorkerService::ListLog(const CallContext& caller,
                                    const v1::ListWorkerLogRequest& request,
                                    v1::ListWorkerLogResponse& response) {
  ASSIGN_OR_RETURN(
      const std::vector<WorkerLogEntry> entries,
      log_->List(
          caller.scope,
          {.target = request.target(), .worker_id = request.worker_id(), .kind = request.kind()},
          request.page_size()));
  for (const WorkerLogEntry& entry : entries) {
    v1::WorkerLogEntry& message = *response.add_entries();
    message.set_sequence(entry.sequence);
    message.set_target(entry.target);
    message.set_worker_id(entry.worker_id);
    message.set_kind(entry.kind);
    Set(entry.time, *message.mutable_time());
    message.set_entry(*entry.entry);
  }
  return absl::OkStatus();
}

}  // namespace callslip::tracker
