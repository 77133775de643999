#include "tracker/rpc/command_service.h"

#include <string>
#include <utility>

#include "common/status_macros.h"
#include "tracker/domain/command/command_limits.h"
#include "tracker/domain/command/command_validation.h"
#include "tracker/domain/errors.h"
#include "tracker/rpc/command_convert.h"
#include "tracker/rpc/time_convert.h"
#include "tracker/rpc/worker_stream.h"

namespace callslip::tracker {
namespace {

// The changes of one command, for its own stream.
class WaitFeed final : public CommandFeed, public std::enable_shared_from_this<WaitFeed> {
 public:
  using Stream = ServerStream<v1::WaitForCommandResponse>;

  explicit WaitFeed(std::shared_ptr<Stream> stream) : stream_(std::move(stream)) {}

  void OnReady() override { stream_->Wake(); }

  std::optional<Outgoing<v1::WaitForCommandResponse>> Next() {
    std::optional<CommandUpdate> update = TakeOne();
    if (!update.has_value()) return std::nullopt;
    if (update->last) stream_->Finish(update->error);
    if (update->command == nullptr) return std::nullopt;
    Outgoing<v1::WaitForCommandResponse> next;
    Fill(*update->command, CommandView::kWithoutParams, *next.message.mutable_command());
    if (update->last) {
      next.if_sent = [self = shared_from_this(), end = *std::move(update)] {
        self->NoteReceived(end);
      };
    }
    return next;
  }

 private:
  const std::shared_ptr<Stream> stream_;
};

}  // namespace

void CommandService::ServeOn(AsyncServer& server) {
  server.ServeUnary("RegisterCommand", this, &CommandService::Register);
  server.ServeUnary("GetCommand", this, &CommandService::Get);
  server.ServeUnary("ListCommands", this, &CommandService::List);
  server.ServeUnary("CancelCommand", this, &CommandService::Cancel);
  server.ServeUnary("ExpireCommand", this, &CommandService::Expire);
  server.ServeUnary("ReplayCommand", this, &CommandService::Replay);
  server.ServeUnary("AcknowledgeCommand", this, &CommandService::Acknowledge);
  server.ServeUnary("CompleteCommand", this, &CommandService::Complete);
  server.ServeHeld<v1::LeaseCommandsRequest, v1::LeaseCommandsResponse>(
      {kName, "LeaseCommands"}, [this](const CallContext& caller,
                                       const v1::LeaseCommandsRequest& request, const auto& reply) {
        const absl::Status status = Lease(caller, request, reply);
        if (!status.ok()) reply->Fail(status);
      });
  server.ServeStream<v1::StreamCommandsRequest, v1::StreamCommandsResponse>(
      {kName, "StreamCommands"},
      [this](const CallContext& caller, const v1::StreamCommandsRequest& request,
             const auto& stream) {
        const absl::Status status = Stream(caller, request, stream);
        if (!status.ok()) stream->Finish(status);
      });
  server.ServeStream<v1::WaitForCommandRequest, v1::WaitForCommandResponse>(
      {kName, "WaitForCommand"},
      [this](const CallContext& caller, const v1::WaitForCommandRequest& request,
             const auto& stream) {
        const absl::Status status = Wait(caller, request, stream);
        if (!status.ok()) stream->Finish(status);
      });
  server.ServeDuplex<v1::WatchCommandsRequest, v1::WatchCommandsResponse>(
      {kName, "WatchCommands"},
      [this](const CallContext& caller, auto call) { Watch(caller, std::move(call)); });
}

void CommandService::Drain() {
  std::vector<std::weak_ptr<WatchStream>> streams;
  {
    MutexLock lock(&mutex_);
    draining_ = true;
    streams = std::move(watch_streams_);
  }
  table_->Drain();
  for (const auto& weak : streams) {
    if (const auto stream = weak.lock()) stream->EndAfterWatches();
  }
}

absl::Status CommandService::Register(const CallContext& caller,
                                      const v1::RegisterCommandRequest& request,
                                      v1::RegisterCommandResponse& response) {
  ASSIGN_OR_RETURN(CommandRequest command, RequestFrom(caller, request));
  const absl::StatusOr<CommandRegistration> accepted =
      table_->Register(std::move(command), clock_->Now());
  if (!accepted.ok()) {
    log_.Refused(caller.client_id, request, accepted.status());
    return accepted.status();
  }
  const CommandRegistration& registration = *accepted;
  CommandLog::Note("command registered", *registration.command);
  Fill(*registration.command, CommandView::kWithoutParams, *response.mutable_command());
  response.set_existed(registration.existed);
  return absl::OkStatus();
}

absl::Status CommandService::Get(const CallContext& caller, const v1::GetCommandRequest& request,
                                 v1::GetCommandResponse& response) {
  bool collects = false;
  ASSIGN_OR_RETURN(const CommandPtr command,
                   FindOwnThenVisible(caller, [&](const ClientScope& clients) {
                     collects = !request.peek() && !clients.is_all();
                     return table_->Get(clients, request.command_id(), /*peek=*/true);
                   }));
  if (collects && IsTerminal(command->state)) {
    caller.WhenAnswered([this, command] { table_->Collect(*command); });
  }
  Fill(*command, CommandView::kFull, *response.mutable_command());
  return absl::OkStatus();
}

absl::Status CommandService::List(const CallContext& caller, const v1::ListCommandsRequest& request,
                                  v1::ListCommandsResponse& response) {
  ASSIGN_OR_RETURN(const CommandFilter filter, FilterFrom(request));
  ASSIGN_OR_RETURN(const ClientScope clients, caller.ScopeOf(request.owner()));
  if (request.of_each_group()) {
    ASSIGN_OR_RETURN(const CommandPage page,
                     table_->ListGroups(clients, filter, request.page_size()));
    for (const CommandPtr& command : page.commands) {
      Fill(*command, CommandView::kWithoutPayloads, *response.add_commands());
    }
    response.set_more_in_groups(!page.next_page_token.empty());
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const CommandPage page,
                   table_->List(clients, filter, request.page_size(), request.page_token()));
  for (const CommandPtr& command : page.commands) {
    Fill(*command, CommandView::kWithoutPayloads, *response.add_commands());
  }
  response.set_next_page_token(page.next_page_token);
  return absl::OkStatus();
}

absl::Status CommandService::Cancel(const CallContext& caller,
                                    const v1::CancelCommandRequest& request,
                                    v1::CancelCommandResponse& response) {
  ASSIGN_OR_RETURN(const CommandPtr command,
                   table_->Cancel(caller.scope, request.command_id(), clock_->Now()));
  Fill(*command, CommandView::kWithoutParams, *response.mutable_command());
  return absl::OkStatus();
}

absl::Status CommandService::Expire(const CallContext& caller,
                                    const v1::ExpireCommandRequest& request,
                                    v1::ExpireCommandResponse& response) {
  ASSIGN_OR_RETURN(const CommandPtr command,
                   table_->Expire(caller.scope, request.command_id(), ErrorFrom(request.error()),
                                  clock_->Now()));
  Fill(*command, CommandView::kWithoutParams, *response.mutable_command());
  return absl::OkStatus();
}

absl::Status CommandService::Replay(const CallContext& caller,
                                    const v1::ReplayCommandRequest& request,
                                    v1::ReplayCommandResponse& response) {
  ASSIGN_OR_RETURN(
      const CommandRegistration registration,
      table_->Replay(caller.scope, request.command_id(), request.request_id(), clock_->Now()));
  Fill(*registration.command, CommandView::kWithoutParams, *response.mutable_command());
  response.set_existed(registration.existed);
  return absl::OkStatus();
}

template <typename Request>
absl::StatusOr<PlaceClaim> CommandService::CheckReport(const CallContext& caller,
                                                       const Request& request) {
  const Principal& principal = *caller.principal;
  const WorkerScope& scope = principal.scope;
  const bool is_held = !scope.targets.empty() || principal.role == Role::kRunner;
  const bool is_known_by_name = !scope.worker_id.empty() && request.lease_token().empty();
  if (!is_held && !is_known_by_name && request.place().empty()) return PlaceClaim();
  RETURN_IF_ERROR(CheckName("place", request.place()));
  const absl::StatusOr<HeldCommand> held = table_->HeldBy(request.command_id());
  // A removed command takes no reports any more, and has its own error.
  if (!held.ok()) return PlaceClaim();
  const CommandSpec& spec = *held->command->spec;
  std::string target(spec.target());
  std::string any_name = scope.worker_id;
  const bool is_its_own = (!is_held || EnforceScope(principal, target, any_name).ok()) &&
                          (!is_known_by_name || held->worker_id == scope.worker_id);
  if (!is_its_own) return CommandNotFound(request.command_id());
  // If the caller serves only one client, its log entries belong to that client anyway; and the
  // places of a worker with the same name that serves all clients are not its own.
  if (held->worker_id.empty() || !caller.Serves().is_all()) return PlaceClaim();
  return PlaceClaim{.target = std::move(target),
                    .worker_id = held->worker_id,
                    .place = request.place(),
                    .client_id = std::string(spec.client_id()),
                    .delivered = held->command->deliver_time()};
}

absl::Status CommandService::Acknowledge(const CallContext& caller,
                                         const v1::AcknowledgeCommandRequest& request,
                                         v1::AcknowledgeCommandResponse& response) {
  ASSIGN_OR_RETURN(PlaceClaim claim, CheckReport(caller, request));
  ASSIGN_OR_RETURN(const AcknowledgeResult result,
                   table_->Acknowledge(
                       request.command_id(), ProofFrom(caller, request), ProgressFrom(request),
                       ContextFrom(request.context()), clock_->Now(),
                       request.without_heartbeats() ? Heartbeats::kNone : Heartbeats::kExpected));
  worker_log_->Claim(std::move(claim));
  response.set_cancel_requested(result.cancel_requested);
  response.set_state(ToProto(result.state));
  return absl::OkStatus();
}

absl::Status CommandService::Complete(const CallContext& caller,
                                      const v1::CompleteCommandRequest& request,
                                      v1::CompleteCommandResponse& response) {
  ASSIGN_OR_RETURN(PlaceClaim claim, CheckReport(caller, request));
  ASSIGN_OR_RETURN(CommandOutcome outcome, OutcomeFrom(request));
  ASSIGN_OR_RETURN(
      const CompleteResult result,
      table_->Complete(request.command_id(), ProofFrom(caller, request), std::move(outcome),
                       ContextFrom(request.context()), clock_->Now(), WorkFrom(request)));
  worker_log_->Claim(std::move(claim));
  if (!result.accepted) log_.LateResult(request.command_id(), result.state, caller.Trace());
  response.set_accepted(result.accepted);
  response.set_state(ToProto(result.state));
  return absl::OkStatus();
}

absl::Status CommandService::Lease(const CallContext& caller,
                                   const v1::LeaseCommandsRequest& request,
                                   const std::shared_ptr<LeaseReply>& reply) {
  const absl::Time now = clock_->Now();
  ASSIGN_OR_RETURN(const absl::Time until,
                   WaitUntil(request.max_wait(), kMaxPollWait, absl::ZeroDuration(), now));
  ASSIGN_OR_RETURN(const absl::Duration back_within,
                   DurationFrom("back_within", request.back_within()));
  ASSIGN_OR_RETURN(KnownDeliveries known, KnownFrom(request));
  std::string target = request.target();
  std::string worker_id = request.worker_id();
  RETURN_IF_ERROR(EnforceScope(*caller.principal, target, worker_id));
  ASSIGN_OR_RETURN(const std::shared_ptr<WorkerPresence> presence,
                   workers_->Seen(target, worker_id, now, {caller.client_id, caller.Serves()}));
  ASSIGN_OR_RETURN(const std::shared_ptr<HeldCall> call,
                   table_->Lease({.target = target,
                                  .worker_id = worker_id,
                                  .max_commands = request.max_commands(),
                                  .hold_until = until,
                                  .back_within = back_within,
                                  .proofs = ProofsFrom(request.without_proof()),
                                  .known = std::move(known),
                                  .client_id = caller.client_id,
                                  .clients = caller.Serves(),
                                  .presence = presence},
                                 now, [this, reply, presence](const WorkerNews& news) {
                                   presence->Seen(clock_->Now());
                                   for (const CommandLease& lease : news.leases) {
                                     CommandLog::Note("command delivered", *lease.command);
                                   }
                                   auto response = ToProto<v1::LeaseCommandsResponse>(news);
                                   // A command must not be lost when its caller has left meanwhile.
                                   reply->Finish(std::move(response), [this, leases = news.leases] {
                                     for (const CommandLease& lease : leases) {
                                       table_->GiveBack(lease, clock_->Now());
                                     }
                                   });
                                 }));
  if (call != nullptr) {
    reply->OnCallerLeft([this, call, presence] {
      const absl::Time left = clock_->Now();
      if (table_->Abandon(call, left)) presence->Seen(left);
    });
  }
  return absl::OkStatus();
}

absl::Status CommandService::Stream(const CallContext& caller,
                                    const v1::StreamCommandsRequest& request,
                                    const std::shared_ptr<WorkerStreamCall>& stream) {
  ASSIGN_OR_RETURN(const absl::Duration back_within,
                   DurationFrom("back_within", request.back_within()));
  std::string target = request.target();
  std::string worker_id = request.worker_id();
  RETURN_IF_ERROR(EnforceScope(*caller.principal, target, worker_id));
  ASSIGN_OR_RETURN(
      const std::shared_ptr<WorkerPresence> presence,
      workers_->Seen(target, worker_id, clock_->Now(), {caller.client_id, caller.Serves()}));
  LeaseRequest lease{.target = std::move(target),
                     .worker_id = std::move(worker_id),
                     .max_commands = kWorkerWindow,
                     .window = request.max_unfinished(),
                     .hold_until = absl::InfiniteFuture(),
                     .back_within = back_within,
                     .proofs = ProofsFrom(request.without_proof()),
                     .client_id = caller.client_id,
                     .clients = caller.Serves(),
                     .presence = presence};
  auto worker = std::make_shared<WorkerStream>(clock_, table_, std::move(lease), stream);
  // Destroyed with the source, however the stream ends.
  presence->Stays();
  const std::shared_ptr<WorkerPresence> stays(
      presence.get(),
      [presence, clock = clock_](WorkerPresence*) { presence->Left(clock->Now()); });
  stream->SetSource([worker, stays] { return worker->Next(); });
  stream->OnCallerLeft([worker] { worker->OnCallerLeft(); });
  stream->Wake();
  return absl::OkStatus();
}

absl::Status CommandService::Wait(const CallContext& caller,
                                  const v1::WaitForCommandRequest& request,
                                  const std::shared_ptr<WaitStream>& stream) {
  const absl::Time now = clock_->Now();
  ASSIGN_OR_RETURN(const absl::Time until, WaitUntil(request.max_wait(), kMaxWait, kMaxWait, now));
  auto feed = std::make_shared<WaitFeed>(stream);
  stream->SetSource([feed] { return feed->Next(); });
  ASSIGN_OR_RETURN(const CommandTable::Watching watching,
                   FindOwnThenVisible(caller, [&](const ClientScope& clients) {
                     return table_->Watch(request.command_id(),
                                          {.clients = clients,
                                           .after_revision = request.after_revision(),
                                           .until = until,
                                           .feed = feed});
                   }));
  stream->OnCallerLeft([this, watching] { table_->Unwatch(watching); });
  return absl::OkStatus();
}

void CommandService::Watch(const CallContext& caller, std::shared_ptr<WatchStream::Call> call) {
  const auto stream = std::make_shared<WatchStream>(clock_, table_, caller, call);
  bool draining = false;
  {
    MutexLock lock(&mutex_);
    draining = draining_;
    std::erase_if(watch_streams_, [](const auto& weak) { return weak.expired(); });
    if (!draining) watch_streams_.push_back(stream);
  }
  if (draining) {
    call->Finish(Draining());
  } else {
    stream->Begin();
  }
}

}  // namespace callslip::tracker
