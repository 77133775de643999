#include "tracker/metrics/tracker_metrics.h"

#include <numeric>
#include <string>

#include "absl/status/status.h"

namespace callslip::tracker {
namespace {

double AsDouble(int64_t number) { return static_cast<double>(number); }

std::string StateName(int state) {
  return std::string(CommandStateName(static_cast<CommandState>(state)));
}

// "OK", "RESOURCE_EXHAUSTED", …
std::string CodeName(size_t code) {
  return absl::StatusCodeToString(static_cast<absl::StatusCode>(code));
}

// Whether commands usually can end like this. These combinations are exported from the start, so
// that the first occurrence counts as an increase.
bool IsUsual(CommandState state, absl::string_view code) {
  if (code == "none") return state == CommandState::kCompleted;
  if (code == "worker_lost" || code == "result_dropped") return state == CommandState::kFailed;
  if (code == "execution_timeout") return state == CommandState::kTimedOut;
  if (code == "cancelled") return state == CommandState::kCancelled;
  if (code == "other") return state == CommandState::kFailed || state == CommandState::kTimedOut;
  return state == CommandState::kExpired;
}

void AddCommands(const TrackerStatistics& from, MetricsPage& page) {
  const CommandStatistics& commands = from.commands;
  for (int state = 0; state < kCommandStateCount; ++state) {
    page.Gauge("callslip_commands", "Commands in memory, by state.",
               AsDouble(commands.in_state[static_cast<size_t>(state)]),
               {{"state", StateName(state)}});
  }
  page.Counter("callslip_commands_registered_total", "Commands that were accepted.",
               AsDouble(commands.registered));
  for (int state = 0; state < kCommandStateCount; ++state) {
    if (!IsTerminal(static_cast<CommandState>(state))) continue;
    for (size_t code = 0; code < kEndCodes.size(); ++code) {
      const int64_t ended = commands.ended[static_cast<size_t>(state)][code];
      if (ended == 0 && !IsUsual(static_cast<CommandState>(state), kEndCodes[code])) continue;
      page.Counter("callslip_commands_ended_total",
                   "Commands that have ended, by state and error code. The codes of workers and "
                   "clients are other.",
                   AsDouble(ended),
                   {{"outcome", StateName(state)}, {"code", std::string(kEndCodes[code])}});
    }
  }
  page.Counter("callslip_commands_redelivered_total",
               "Repeated deliveries of commands whose lease was lost.",
               AsDouble(commands.redelivered));
  for (const AdmissionStatistics::Refused& refused : from.admission.refused) {
    page.Counter("callslip_refusals_total",
                 "Calls that were refused before they reached a service, by reason.",
                 AsDouble(refused.calls), {{"reason", refused.reason}});
  }
  page.Counter("callslip_late_results_total",
               "Results that came after their commands had ended otherwise.",
               AsDouble(from.late_results));
  page.Gauge("callslip_commands_leased", "Commands that a worker holds.", AsDouble(from.leased));
  page.Gauge("callslip_payload_bytes", "Params and results in memory.",
             AsDouble(from.payload_bytes));
  page.Gauge("callslip_queue_depth", "Commands that wait for a worker.", AsDouble(commands.queued));
  page.Gauge("callslip_queue_longest_depth",
             "Commands that wait for a worker of the target that has most of them.",
             AsDouble(commands.longest_queue));
  page.Gauge("callslip_queue_targets", "Targets for which commands wait.",
             AsDouble(commands.targets));
  page.Gauge("callslip_queue_oldest_seconds",
             "How long the oldest command that waits for a worker could have been delivered.",
             absl::ToDoubleSeconds(from.oldest_queued));
}

void AddLatencies(const CommandStatistics& commands, MetricsPage& page) {
  page.Histogram("callslip_dispatch_seconds",
                 "From when a command could be delivered to its first delivery.",
                 commands.dispatch);
  for (const auto& [name, histogram] :
       {std::pair("standard", &commands.standard), std::pair("human", &commands.human)}) {
    page.Histogram("callslip_command_seconds",
                   "From when a command could be delivered to its end, by class.", *histogram,
                   {{"class", name}});
  }
  page.Histogram("callslip_deadline_lateness_seconds",
                 "By how much the deadlines of commands were fired late.", commands.lateness);
}

void AddRpcs(const TrackerStatistics& from, MetricsPage& page) {
  for (const RpcStatistics& rpc : from.admission.rpcs) {
    page.Gauge("callslip_rpc_under_way", "Calls and streams that have not ended.",
               AsDouble(rpc.under_way), {{"method", rpc.method}});
  }
  for (const RpcStatistics& rpc : from.admission.rpcs) {
    for (size_t code = 0; code < kRpcCodes; ++code) {
      if (rpc.ended[code] == 0 && code != 0) continue;
      page.Counter("callslip_rpc_total", "Calls that have ended, by gRPC code.",
                   AsDouble(rpc.ended[code]), {{"method", rpc.method}, {"code", CodeName(code)}});
    }
  }
  for (const RpcStatistics& rpc : from.admission.rpcs) {
    if (rpc.latency.count() == 0) continue;
    page.Histogram("callslip_rpc_seconds",
                   "How long calls took; held calls and streams include their waiting.",
                   rpc.latency, {{"method", rpc.method}});
  }
}

void AddAgents(const TrackerStatistics& from, MetricsPage& page) {
  page.Gauge("callslip_runners", "Runners, by whether they are connected.", from.runners.connected,
             {{"connected", "yes"}});
  page.Gauge("callslip_runners", "", from.runners.known - from.runners.connected,
             {{"connected", "no"}});
  for (size_t status = 0; status < kAgentStatusCount; ++status) {
    page.Gauge("callslip_agents", "Active sessions by how their agent is; none: no runner has it.",
               AsDouble(from.agents[status]),
               {{"status", AgentStatusName(static_cast<AgentStatus>(status))}});
  }
}

}  // namespace

void AddMetrics(const TrackerStatistics& statistics, MetricsPage& page) {
  page.Gauge("callslip_ready", "Whether new commands are accepted.", statistics.ready ? 1 : 0);
  AddCommands(statistics, page);
  AddLatencies(statistics.commands, page);
  page.Gauge("callslip_waits", "Watches and held polls under way.", AsDouble(statistics.waits));
  page.Gauge("callslip_workers", "Workers, by whether they were heard of in the last seconds.",
             statistics.workers.connected, {{"connected", "yes"}});
  page.Gauge("callslip_workers", "", statistics.workers.known - statistics.workers.connected,
             {{"connected", "no"}});
  page.Gauge("callslip_sessions", "Recorded sessions.", AsDouble(statistics.sessions));
  AddAgents(statistics, page);
  page.Counter("callslip_session_events_total", "Events added to the logs of sessions.",
               AsDouble(statistics.appended_events));
  page.Counter("callslip_storage_written_bytes_total", "Bytes of sessions written to disk.",
               AsDouble(statistics.storage.written_bytes));
  page.Histogram("callslip_storage_sync_seconds", "How long syncs of files and folders took.",
                 statistics.storage.syncs);
  page.Counter("callslip_storage_failures_total", "Steps on the disk that failed.",
               AsDouble(statistics.storage.failures + statistics.journal.failures));
  page.Histogram("callslip_journal_append_seconds",
                 "How long appends to the journal of commands took.", statistics.journal.appends);
  page.Counter("callslip_journal_entries_total", "Changes of commands that were stored.",
               AsDouble(statistics.journal.entries));
  AddRpcs(statistics, page);
}

void AddCell(const CellStatistics& cell, MetricsPage& page) {
  page.Gauge("callslip_cell_owned", "Whether this tracker serves the cell that it shares.",
             cell.may_answer ? 1 : 0);
  if (cell.epoch == 0) return;
  page.Gauge("callslip_cell_epoch",
             "Number of owners that the cell has had, reported by the current one.",
             static_cast<double>(cell.epoch));
  page.Gauge("callslip_cell_has_copy",
             "Whether the database waits for a standby, reported by the current owner.",
             cell.has_copy ? 1 : 0);
}

MemoryUse MemoryUseOf(const TrackerStatistics& statistics) {
  const auto& in_state = statistics.commands.in_state;
  return {.payload_bytes = statistics.payload_bytes,
          .commands = std::accumulate(in_state.begin(), in_state.end(), int64_t{0}),
          .waits = statistics.waits,
          .feed_bytes = statistics.feed_bytes,
          .sessions = statistics.sessions,
          .worker_report_bytes = statistics.workers.report_bytes,
          .worker_log_bytes = statistics.worker_log_bytes};
}

}  // namespace callslip::tracker
