#include "tracker/rpc/admin_service.h"

#include <optional>
#include <string>

#include "common/version.h"
#include "tracker/rpc/command_convert.h"
#include "tracker/rpc/time_convert.h"

namespace callslip::tracker {
namespace {

void Fill(const LatencyHistogram& from, google::protobuf::RepeatedField<int64_t>& to) {
  to.Assign(from.counts.begin(), from.counts.end());
}

void Fill(const TrackerStatistics& from, v1::GetHealthResponse& to) {
  to.set_version(kVersion);
  Set(from.uptime, *to.mutable_uptime());
  to.set_ready(from.ready);
  for (const std::string& reason : from.reasons) to.add_reasons(reason);
  for (int i = 0; i < kCommandStateCount; ++i) {
    const int64_t commands = from.commands.in_state[static_cast<size_t>(i)];
    if (commands == 0) continue;
    v1::GetHealthResponse::StateCount& count = *to.add_states();
    count.set_state(ToProto(static_cast<CommandState>(i)));
    count.set_commands(commands);
  }
  to.set_queued(from.commands.queued);
  if (from.commands.oldest_queued_nanos != 0) Set(from.oldest_queued, *to.mutable_oldest_queued());
  to.set_longest_queue(from.commands.longest_queue);
  to.set_workers_connected(from.workers.connected);
  to.set_workers_known(from.workers.known);
  to.set_waits(from.waits);
  to.set_failed(from.failed());
  to.set_late_results(from.late_results);
  to.set_payload_bytes(from.payload_bytes);
  to.set_sessions(from.sessions);
  to.set_events_appended(from.appended_events);
  to.set_registered(from.commands.registered);
  to.set_completed(from.commands.EndedAs(CommandState::kCompleted));
  Fill(from.commands.dispatch, *to.mutable_dispatch_counts());
  if (from.journal.entries > 0) Fill(from.journal.appends, *to.mutable_journal_counts());
  to.set_storage_failures(from.storage.failures + from.journal.failures);
}

void Fill(const std::optional<StatisticsHistory::Quantiles>& from,
          v1::HistorySample::Latency* (v1::HistorySample::*mutable_latency)(),
          v1::HistorySample& to) {
  if (!from.has_value()) return;
  v1::HistorySample::Latency& latency = *(to.*mutable_latency)();
  Set(from->p50, *latency.mutable_p50());
  Set(from->p95, *latency.mutable_p95());
}

void Fill(const StatisticsHistory::Sample& from, v1::HistorySample& to) {
  Set(from.end, *to.mutable_time());
  Set(from.length, *to.mutable_length());
  to.set_registered(from.registered);
  to.set_completed(from.completed);
  for (size_t code = 0; code < kEndCodes.size(); ++code) {
    if (from.failed[code] == 0) continue;
    v1::HistorySample::Failures& failures = *to.add_failures();
    failures.set_code(std::string(kEndCodes[code]));
    failures.set_commands(from.failed[code]);
  }
  Fill(from.dispatch, &v1::HistorySample::mutable_delivery, to);
  Fill(from.standard, &v1::HistorySample::mutable_completion, to);
  to.set_queued(from.queued);
  to.set_sessions(from.sessions.active);
  to.set_sessions_in_turn(from.sessions.in_turn);
}

}  // namespace

void AdminService::ServeOn(AsyncServer& server) {
  server.ServeUnary<v1::GetHealthRequest, v1::GetHealthResponse>(
      {kName, "GetHealth"},
      [this](const CallContext&, const v1::GetHealthRequest& request,
             v1::GetHealthResponse& response) {
        Fill(source_->Read(), response);
        if (!request.with_history()) return absl::OkStatus();
        Set(clock_->Now(), *response.mutable_time());
        for (const StatisticsHistory::Sample& sample : source_->history().Read()) {
          Fill(sample, *response.add_history());
        }
        return absl::OkStatus();
      },
      // Not gated, because it must report a storage failure while the storage is failing.
      Outputs::kFree);
}

}  // namespace callslip::tracker
