#include "tracker/rpc/command_service.h"

#include <string>
#include <utility>

#include "common/mutex.h"
#include "common/status_macros.h"
#include "tracker/domain/errors.h"
#include "tracker/rpc/command_convert.h"

namespace callslip::tracker {
namespace {

Payload ContextOf(const std::string& context) {
  return context.empty() ? nullptr : std::make_shared<const std::string>(context);
}

// Forwards the changes of one command to one stream.
class StreamWatcher final : public CommandWatcher {
 public:
  explicit StreamWatcher(std::shared_ptr<LatestStream<v1::WaitForCommandResponse>> stream)
      : stream_(std::move(stream)) {}

  void OnCommand(const CommandSnapshot& command) override {
    v1::WaitForCommandResponse response;
    *response.mutable_command() = ToProto(command, CommandView::kWithoutParams);
    // The lock also keeps two messages in the order in which their revisions were compared.
    MutexLock lock(&mutex_);
    if (command.revision <= last_revision_) return;
    last_revision_ = command.revision;
    stream_->Send(std::move(response));
    if (IsTerminal(command.state)) stream_->Finish(absl::OkStatus());
  }

  void OnWaitOver() override { stream_->Finish(absl::OkStatus()); }

 private:
  const std::shared_ptr<LatestStream<v1::WaitForCommandResponse>> stream_;
  Mutex mutex_;
  int64_t last_revision_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace

void CommandService::ServeOn(AsyncServer& server) {
  using Async = v1::CommandService::AsyncService;
  const auto unary = [&](auto request, auto handler) {
    server.ServeUnary(&service_, request,
                      {[this, handler](const auto& message) { return (this->*handler)(message); }});
  };
  unary(&Async::RequestRegisterCommand, &CommandService::Register);
  unary(&Async::RequestGetCommand, &CommandService::Get);
  unary(&Async::RequestListCommands, &CommandService::List);
  unary(&Async::RequestCancelCommand, &CommandService::Cancel);
  unary(&Async::RequestAcknowledgeCommand, &CommandService::Acknowledge);
  unary(&Async::RequestCompleteCommand, &CommandService::Complete);
  server.ServeHeld(&service_, &Async::RequestLeaseCommands,
                   {[this](const auto& request, auto reply) { Lease(request, std::move(reply)); }});
  server.ServeStream(
      &service_, &Async::RequestWaitForCommand,
      {[this](const auto& request, auto stream) { Wait(request, std::move(stream)); }});
}

void CommandService::Drain() {
  draining_ = true;
  table_->EndAllWaits();
}

absl::StatusOr<v1::RegisterCommandResponse> CommandService::Register(
    const v1::RegisterCommandRequest& request) {
  if (draining_) return Draining();
  ASSIGN_OR_RETURN(CommandSpec spec, SpecFrom(request));
  ASSIGN_OR_RETURN(const CommandRegistration registration,
                   table_->Register(std::move(spec), clock_->Now()));
  v1::RegisterCommandResponse response;
  *response.mutable_command() = ToProto(registration.command, CommandView::kWithoutParams);
  response.set_existed(registration.existed);
  return response;
}

absl::StatusOr<v1::GetCommandResponse> CommandService::Get(const v1::GetCommandRequest& request) {
  ASSIGN_OR_RETURN(const CommandSnapshot command,
                   table_->Get(request.client_id(), request.command_id(), request.peek()));
  v1::GetCommandResponse response;
  *response.mutable_command() = ToProto(command, CommandView::kFull);
  return response;
}

absl::StatusOr<v1::ListCommandsResponse> CommandService::List(
    const v1::ListCommandsRequest& request) {
  ASSIGN_OR_RETURN(CommandFilter filter, FilterFrom(request));
  ASSIGN_OR_RETURN(const CommandPage page,
                   table_->List(std::move(filter), request.page_size(), request.page_token()));
  v1::ListCommandsResponse response;
  for (const CommandSnapshot& command : page.commands) {
    *response.add_commands() = ToProto(command, CommandView::kWithoutPayloads);
  }
  response.set_next_page_token(page.next_page_token);
  return response;
}

absl::StatusOr<v1::CancelCommandResponse> CommandService::Cancel(
    const v1::CancelCommandRequest& request) {
  ASSIGN_OR_RETURN(const CommandSnapshot command,
                   table_->Cancel(request.client_id(), request.command_id(), clock_->Now()));
  v1::CancelCommandResponse response;
  *response.mutable_command() = ToProto(command, CommandView::kWithoutParams);
  return response;
}

absl::StatusOr<v1::AcknowledgeCommandResponse> CommandService::Acknowledge(
    const v1::AcknowledgeCommandRequest& request) {
  ASSIGN_OR_RETURN(
      const AcknowledgeResult result,
      table_->Acknowledge(request.command_id(), request.lease_token(), ProgressFrom(request),
                          ContextOf(request.context()), clock_->Now()));
  v1::AcknowledgeCommandResponse response;
  response.set_cancel_requested(result.cancel_requested);
  response.set_state(ToProto(result.state));
  return response;
}

absl::StatusOr<v1::CompleteCommandResponse> CommandService::Complete(
    const v1::CompleteCommandRequest& request) {
  ASSIGN_OR_RETURN(CommandOutcome outcome, OutcomeFrom(request));
  ASSIGN_OR_RETURN(const CompleteResult result,
                   table_->Complete(request.command_id(), request.lease_token(), std::move(outcome),
                                    ContextOf(request.context()), clock_->Now()));
  v1::CompleteCommandResponse response;
  response.set_accepted(result.accepted);
  response.set_state(ToProto(result.state));
  return response;
}

void CommandService::Lease(const v1::LeaseCommandsRequest& request,
                           std::shared_ptr<LeaseReply> reply) {
  if (const absl::Status status = TryLease(request, reply); !status.ok()) reply->Fail(status);
}

absl::Status CommandService::TryLease(const v1::LeaseCommandsRequest& request,
                                      const std::shared_ptr<LeaseReply>& reply) {
  if (draining_) return Draining();
  ASSIGN_OR_RETURN(const absl::Duration max_wait, DurationFrom("max_wait", request.max_wait()));
  ASSIGN_OR_RETURN(const CommandTable::PollHandle poll,
                   table_->Lease({.target = request.target(),
                                  .worker_id = request.worker_id(),
                                  .max_commands = request.max_commands()},
                                 max_wait, clock_->Now(),
                                 [this, reply](const std::vector<CommandLease>& leases) {
                                   v1::LeaseCommandsResponse response;
                                   for (const CommandLease& lease : leases) {
                                     *response.add_leases() = ToProto(lease);
                                   }
                                   // A command must not be lost with a caller that has left
                                   // meanwhile.
                                   reply->Finish(response, [this, leases] {
                                     for (const CommandLease& lease : leases) {
                                       table_->GiveBack(lease, clock_->Now());
                                     }
                                   });
                                 }));
  if (poll.number != 0) reply->OnCallerLeft([this, poll] { table_->AbandonPoll(poll); });
  return absl::OkStatus();
}

void CommandService::Wait(const v1::WaitForCommandRequest& request,
                          std::shared_ptr<WaitStream> stream) {
  if (const absl::Status status = TryWait(request, stream); !status.ok()) stream->Finish(status);
}

absl::Status CommandService::TryWait(const v1::WaitForCommandRequest& request,
                                     const std::shared_ptr<WaitStream>& stream) {
  if (draining_) return Draining();
  ASSIGN_OR_RETURN(const absl::Duration max_wait, DurationFrom("max_wait", request.max_wait()));
  auto watcher = std::make_shared<StreamWatcher>(stream);
  RETURN_IF_ERROR(table_->Watch(request.client_id(), request.command_id(), request.after_revision(),
                                max_wait, watcher, clock_->Now()));
  // The stream holds this action and the watcher holds the stream; the weak pointer breaks the
  // circle once the table has let go of the watcher.
  stream->OnCallerLeft([this, id = request.command_id(), weak = std::weak_ptr(watcher)] {
    if (const auto held = weak.lock()) table_->Unwatch(id, held.get());
  });
  return absl::OkStatus();
}

}  // namespace callslip::tracker
