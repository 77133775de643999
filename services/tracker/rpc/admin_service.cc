#include "tracker/rpc/admin_service.h"

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
  to.set_completed(from.completed());
  Fill(from.commands.dispatch, *to.mutable_dispatch_counts());
  if (from.journal.entries > 0) Fill(from.journal.appends, *to.mutable_journal_counts());
  to.set_storage_failures(from.storage.failures + from.journal.failures);
}

}  // namespace

void AdminService::ServeOn(AsyncServer& server) {
  server.ServeUnary<v1::GetHealthRequest, v1::GetHealthResponse>(
      {kName, "GetHealth"},
      [this](const CallContext&, const v1::GetHealthRequest&, v1::GetHealthResponse& response) {
        Fill(source_->Read(), response);
        return absl::OkStatus();
      },
      // It tells of a storage that fails while it does.
      Outputs::kFree);
}

}  // namespace callslip::tracker
