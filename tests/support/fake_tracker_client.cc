#include "support/fake_tracker_client.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "boost/asio/post.hpp"
#include "boost/asio/this_coro.hpp"
#include "boost/asio/use_awaitable.hpp"
#include "common/error_details.h"
#include "gateway/json/command_json.h"

namespace callslip::gateway {

namespace asio = boost::asio;

namespace {

// Lets everybody else have a turn.
asio::awaitable<void> Yield() {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  co_await asio::post(executor, asio::use_awaitable);
}

template <typename T>
asio::awaitable<absl::StatusOr<T>> Unimplemented() {
  co_return absl::UnimplementedError("no agent calls this");
}

class Count {
 public:
  explicit Count(int* number) : number_(number) { ++*number_; }
  Count(const Count&) = delete;
  ~Count() { --*number_; }

 private:
  int* const number_;
};

}  // namespace

void FakeTrackerClient::TakeStep(v1::Command& command, absl::Duration) {
  if (IsFinal(command.state())) return;
  command.set_state(static_cast<v1::CommandState>(command.state() + 1));
  command.set_revision(command.revision() + 1);
  if (command.state() == v1::COMMAND_STATE_COMPLETED) {
    *command.mutable_end_time() = command.register_time();
    command.set_result("1");
  }
}

v1::Command& FakeTrackerClient::Add(const std::string& client_id, const std::string& type) {
  const std::string id = absl::StrFormat("corr-1-%032d", commands_.size() + 1);
  v1::Command& command = commands_[id];
  command.set_command_id(id);
  command.set_client_id(client_id);
  command.set_type(type);
  command.set_state(v1::COMMAND_STATE_QUEUED);
  command.set_revision(1);
  command.mutable_register_time()->set_seconds(absl::ToUnixSeconds(clock_->Now()));
  return command;
}

absl::StatusOr<v1::Command*> FakeTrackerClient::Find(const std::string& client_id,
                                                     const std::string& command_id) {
  const auto command = commands_.find(command_id);
  if (command != commands_.end() && command->second.client_id() == client_id) {
    return &command->second;
  }
  return ErrorWithDetails(absl::StatusCode::kNotFound, "There is no such command.",
                          {.reason = "unknown_command", .hint = "Check the id."});
}

TrackerClient::Result<v1::RegisterCommandResponse> FakeTrackerClient::Register(
    v1::RegisterCommandRequest request) {
  co_await Yield();
  v1::RegisterCommandResponse response;
  *response.mutable_command() = Add(request.client_id(), request.type());
  co_return response;
}

TrackerClient::Result<v1::ListCommandsResponse> FakeTrackerClient::List(
    v1::ListCommandsRequest request, absl::Duration) {
  ++lists_;
  co_await Yield();
  if (on_list != nullptr) co_await on_list();
  v1::ListCommandsResponse response;
  for (const auto& [id, command] : commands_) {
    const auto& states = request.states();
    const bool listed =
        states.empty() || std::find(states.begin(), states.end(), command.state()) != states.end();
    if (!listed || command.client_id() != request.client_id()) continue;
    if (response.commands_size() == request.page_size()) {
      response.set_next_page_token("more");
      break;
    }
    *response.add_commands() = command;
  }
  co_return response;
}

TrackerClient::Result<v1::CancelCommandResponse> FakeTrackerClient::Cancel(
    v1::CancelCommandRequest request) {
  co_await Yield();
  const absl::StatusOr<v1::Command*> command = Find(request.client_id(), request.command_id());
  if (!command.ok()) co_return command.status();
  if (IsFinal((*command)->state())) {
    co_return ErrorWithDetails(absl::StatusCode::kFailedPrecondition, "It has ended.",
                               {.reason = "already_ended", .hint = "Read its result."});
  }
  (*command)->set_state(v1::COMMAND_STATE_CANCELLED);
  (*command)->set_revision((*command)->revision() + 1);
  v1::CancelCommandResponse response;
  *response.mutable_command() = **command;
  co_return response;
}

TrackerClient::Result<v1::Command> FakeTrackerClient::Get(std::string client_id,
                                                          std::string command_id, bool) {
  co_await Yield();
  const absl::StatusOr<v1::Command*> command = Find(client_id, command_id);
  if (!command.ok()) co_return command.status();
  co_return **command;
}

TrackerClient::Result<v1::Command> FakeTrackerClient::WaitForEnd(std::string client_id,
                                                                 std::string command_id,
                                                                 absl::Duration max_wait) {
  const Count count(&waits_);
  max_waits_.push_back(max_wait);
  co_await Yield();
  co_return EndOf(client_id, command_id, max_wait);
}

absl::StatusOr<v1::Command> FakeTrackerClient::EndOf(const std::string& client_id,
                                                     const std::string& command_id,
                                                     absl::Duration max_wait) {
  if (waits_to_lose-- > 0) return absl::UnavailableError("Socket closed");
  const absl::StatusOr<v1::Command*> command = Find(client_id, command_id);
  if (!command.ok()) return command.status();
  if (!IsFinal((*command)->state()) && max_wait > absl::ZeroDuration()) {
    on_wait(**command, max_wait);
  }
  return **command;
}

void FakeTrackerClient::BeginWaitForEnd(std::string client_id, std::string command_id,
                                        absl::Duration max_wait, asio::cancellation_slot,
                                        WaitDone done) {
  max_waits_.push_back(max_wait);
  std::move(done)(EndOf(client_id, command_id, max_wait));
}

TrackerClient::Result<v1::Command> FakeTrackerClient::WaitForChange(std::string client_id,
                                                                    std::string command_id,
                                                                    int64_t after_revision,
                                                                    absl::Duration max_wait) {
  const Count count(&waits_);
  max_waits_.push_back(max_wait);
  co_await Yield();
  if (waits_to_lose-- > 0) co_return absl::UnavailableError("Socket closed");
  const absl::StatusOr<v1::Command*> command = Find(client_id, command_id);
  if (!command.ok()) co_return command.status();
  const bool lasts = !IsFinal((*command)->state()) && (*command)->revision() <= after_revision;
  if (lasts && max_wait > absl::ZeroDuration()) on_wait(**command, max_wait);
  co_return **command;
}

TrackerClient::Result<v1::LeaseCommandsResponse> FakeTrackerClient::Lease(
    v1::LeaseCommandsRequest) {
  return Unimplemented<v1::LeaseCommandsResponse>();
}

TrackerClient::Result<v1::AcknowledgeCommandResponse> FakeTrackerClient::Acknowledge(
    v1::AcknowledgeCommandRequest, WorkerTrace) {
  return Unimplemented<v1::AcknowledgeCommandResponse>();
}

TrackerClient::Result<v1::CompleteCommandResponse> FakeTrackerClient::Complete(
    v1::CompleteCommandRequest, WorkerTrace) {
  return Unimplemented<v1::CompleteCommandResponse>();
}

TrackerClient::Result<v1::ExpireCommandResponse> FakeTrackerClient::Expire(
    v1::ExpireCommandRequest) {
  return Unimplemented<v1::ExpireCommandResponse>();
}

TrackerClient::Result<v1::ReplayCommandResponse> FakeTrackerClient::Replay(
    v1::ReplayCommandRequest) {
  return Unimplemented<v1::ReplayCommandResponse>();
}

TrackerClient::Result<v1::RequestAnnotationsResponse> FakeTrackerClient::RequestAnnotations(
    v1::RequestAnnotationsRequest request) {
  co_await Yield();
  v1::RequestAnnotationsResponse response;
  v1::Command& command = Add(request.client_id(), "annotations");
  command.set_command_class(v1::COMMAND_CLASS_HUMAN);
  *response.mutable_command() = command;
  co_return response;
}

TrackerClient::Result<v1::ListAnnotationsResponse> FakeTrackerClient::ListAnnotations(
    v1::ListAnnotationsRequest) {
  co_await Yield();
  co_return v1::ListAnnotationsResponse();
}

TrackerClient::Result<v1::AppendAnnotationsResponse> FakeTrackerClient::AppendAnnotations(
    v1::AppendAnnotationsRequest) {
  return Unimplemented<v1::AppendAnnotationsResponse>();
}

TrackerClient::Result<v1::ReportWorkerResponse> FakeTrackerClient::ReportWorker(
    v1::ReportWorkerRequest) {
  return Unimplemented<v1::ReportWorkerResponse>();
}

TrackerClient::Result<v1::ListWorkersResponse> FakeTrackerClient::ListWorkers(
    v1::ListWorkersRequest, absl::Duration) {
  return Unimplemented<v1::ListWorkersResponse>();
}

TrackerClient::Result<v1::ListTargetsResponse> FakeTrackerClient::ListTargets(
    v1::ListTargetsRequest) {
  return Unimplemented<v1::ListTargetsResponse>();
}

TrackerClient::Result<v1::AppendWorkerLogResponse> FakeTrackerClient::AppendWorkerLog(
    v1::AppendWorkerLogRequest) {
  return Unimplemented<v1::AppendWorkerLogResponse>();
}

TrackerClient::Result<v1::ListWorkerLogResponse> FakeTrackerClient::ListWorkerLog(
    v1::ListWorkerLogRequest) {
  return Unimplemented<v1::ListWorkerLogResponse>();
}

TrackerClient::Result<v1::GetHealthResponse> FakeTrackerClient::GetHealth(v1::GetHealthRequest,
                                                                          absl::Duration) {
  if (on_health == nullptr) co_return co_await Unimplemented<v1::GetHealthResponse>();
  co_return on_health();
}

std::unique_ptr<CommandFeed> FakeTrackerClient::Watch(std::string client_id, std::string owner,
                                                      v1::CommandFilter filter, bool only_changes) {
  return on_watch == nullptr ? nullptr : on_watch(client_id, owner, filter, only_changes);
}

}  // namespace callslip::gateway
