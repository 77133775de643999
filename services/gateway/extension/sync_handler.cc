#include <string>
#include <utility>
#include <variant>

#include "absl/algorithm/container.h"
#include "common/error_details.h"
#include "gateway/extension/sync_command.h"
#include "gateway/extension/sync_handlers.h"
#include "gateway/extension/sync_request.h"
#include "gateway/http/error_response.h"
#include "gateway/json/command_json.h"
#include "gateway/json/tracker_error.h"
#include "gateway/timeouts.h"

namespace callslip::gateway {
namespace {

// The time until the caller's next request, in milliseconds. Never 0, which it would interpret as
// one second. After a held request: immediately.
constexpr int kPollAfterHold = 20;
// For a caller with requests that may not be held: on average a command waits half of this.
constexpr int kPollWithoutHold = 500;
// While the caller executes commands: its heartbeats wait for this, its results do not.
constexpr int kPollAtWork = 500;

bool IsUnreachable(const absl::Status& status) {
  if (status.ok()) return false;
  const std::string reason = TrackerErrorOf(status).reason;
  return reason == "tracker_unreachable" || reason == "draining";
}

// Sends a result or, if it is too large, that it is.
boost::asio::awaitable<absl::Status> Complete(TrackerClient* tracker,
                                              v1::CompleteCommandRequest result) {
  v1::CompleteCommandRequest refused;
  refused.set_command_id(result.command_id());
  refused.set_lease_token(result.lease_token());
  refused.set_place(result.place());
  refused.set_context(result.context());
  const auto completed = co_await tracker->Call(std::move(result));
  if (completed.ok()) co_return absl::OkStatus();
  if (DetailsOf(completed.status()).reason != "result_too_large") co_return completed.status();
  v1::CommandError& error = *refused.mutable_error();
  error.set_code("result_too_large");
  error.set_message(std::string(completed.status().message()));
  error.set_hint("Ask for less at once.");
  error.set_may_have_executed(true);
  const auto failed = co_await tracker->Call(std::move(refused));
  co_return failed.status();
}

// Fails only if the tracker is unreachable: the caller then sends everything again, which is
// harmless. Moves the results out of `sync`.
boost::asio::awaitable<absl::Status> TakeReports(TrackerClient* tracker, const Principal& principal,
                                                 SyncRequest& sync) {
  for (v1::CompleteCommandRequest& result : sync.results) {
    const absl::Status completed = co_await Complete(tracker, std::move(result));
    if (IsUnreachable(completed)) co_return completed;
  }
  for (const v1::AcknowledgeCommandRequest& heartbeat : sync.heartbeats) {
    const auto acknowledged = co_await tracker->Call(heartbeat);
    if (IsUnreachable(acknowledged.status())) co_return acknowledged.status();
  }
  v1::ReportWorkerRequest report;
  report.set_worker_id(sync.worker_id);
  *report.mutable_report() = sync.report;
  const auto reported = co_await tracker->Call(std::move(report));
  if (IsUnreachable(reported.status())) co_return reported.status();
  if (sync.logs.empty()) co_return absl::OkStatus();
  v1::AppendWorkerLogRequest append;
  append.set_worker_id(sync.worker_id);
  append.set_kind("extension_logs");
  append.set_client_id(OnBehalfOf(principal));
  AddEntries(sync.logs, append);
  // A lost log entry does not justify sending the results again.
  (void)co_await tracker->Call(std::move(append));
  co_return absl::OkStatus();
}

// Whether the command may be handed out. Acknowledges it for a caller that is silent during
// execution.
boost::asio::awaitable<absl::StatusOr<bool>> HandOut(TrackerClient* tracker,
                                                     const v1::CommandLease& lease,
                                                     const SyncRequest& sync) {
  if (sync.reports_progress) co_return true;
  v1::AcknowledgeCommandRequest acknowledge;
  acknowledge.set_command_id(lease.command().command_id());
  acknowledge.set_lease_token(lease.lease_token());
  acknowledge.set_without_heartbeats(true);
  const auto acknowledged = co_await tracker->Call(std::move(acknowledge));
  if (!acknowledged.ok()) co_return acknowledged.status();
  co_return !IsFinal(acknowledged->state());
}

// Leases the commands for the caller, in its own format. Ends those that the format cannot express.
boost::asio::awaitable<absl::StatusOr<Json>> TakeCommands(TrackerClient* tracker,
                                                          const SyncRequest& sync) {
  v1::LeaseCommandsRequest lease;
  lease.set_worker_id(sync.worker_id);
  lease.set_without_proof(true);
  // A caller that executes commands one after the other would let the rest time out.
  if (!sync.reports_progress) lease.set_max_commands(1);
  // A result produced while the request is held would wait for the end of the hold.
  if (sync.may_be_held && sync.heartbeats.empty()) {
    lease.mutable_max_wait()->set_seconds(absl::ToInt64Seconds(kMaxPollHold));
  }
  const auto leased = co_await tracker->Call(std::move(lease));
  if (!leased.ok()) co_return leased.status();

  Json commands = Json::array();
  for (const v1::CommandLease& each : leased->leases()) {
    std::variant<Json, v1::CommandError> command = SyncCommand(each, sync);
    if (auto* refusal = std::get_if<v1::CommandError>(&command); refusal != nullptr) {
      v1::CompleteCommandRequest refused;
      refused.set_command_id(each.command().command_id());
      refused.set_lease_token(each.lease_token());
      *refused.mutable_error() = std::move(*refusal);
      (void)co_await tracker->Call(std::move(refused));
      continue;
    }
    const absl::StatusOr<bool> hand_out = co_await HandOut(tracker, each, sync);
    // Without its acknowledgement the command must not be executed: its lease expires by itself.
    if (!hand_out.ok() && commands.empty()) co_return hand_out.status();
    if (hand_out.value_or(false)) commands.push_back(std::move(std::get<Json>(command)));
  }
  co_return commands;
}

}  // namespace

boost::asio::awaitable<HttpResponse> HandleSync(TrackerClient* tracker, Clock* clock,
                                                std::shared_ptr<const HttpRequest> request) {
  absl::StatusOr<SyncRequest> sync = ParseSync(*request);
  if (!sync.ok()) co_return ErrorResponse(sync.status());
  std::string target;
  const absl::Status held = EnforceScope(request->principal, target, sync->worker_id);
  if (!held.ok()) co_return ErrorResponse(held);
  const auto proves = [](const auto& report) { return !report.lease_token().empty(); };
  const bool all_prove =
      absl::c_all_of(sync->results, proves) && absl::c_all_of(sync->heartbeats, proves);
  const Principal principal = request->principal;
  if (!all_prove && principal.scope.holds()) co_return LeaseMissing();
  // The results can be large: none is held twice.
  const std::shared_ptr<void> place = LeaveBody(request);
  const absl::Status taken = co_await TakeReports(tracker, principal, *sync);
  if (!taken.ok()) co_return ErrorResponse(taken);
  absl::StatusOr<Json> commands = co_await TakeCommands(tracker, *sync);
  if (!commands.ok()) co_return ErrorResponse(commands.status());

  const bool at_work = !commands->empty() || !sync->heartbeats.empty();
  Json answer = {{"ack", true}, {"capture_overrides", Json::object()}};
  answer["commands"] = *std::move(commands);
  answer["next_poll_ms"] = at_work             ? kPollAtWork
                           : sync->may_be_held ? kPollAfterHold
                                               : kPollWithoutHold;
  answer["server_time"] =
      absl::FormatTime("%Y-%m-%d%ET%H:%M:%E3SZ", clock->Now(), absl::UTCTimeZone());
  HttpResponse response{.body = Dump(answer)};
  // A cached answer would run its commands again.
  response.headers.emplace_back("Cache-Control", "no-store");
  co_return response;
}

}  // namespace callslip::gateway
