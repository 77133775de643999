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

// Runs the other handlers that are ready.
asio::awaitable<void> Yield() {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  co_await asio::post(executor, asio::use_awaitable);
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

FakeTrackerClient::FakeTrackerClient(Clock* clock) : clock_(clock) {
  On<v1::RegisterCommandRequest>([this](const v1::RegisterCommandRequest& request) {
    v1::RegisterCommandResponse response;
    *response.mutable_command() = Add(request.client_id(), request.type());
    return response;
  });
  On<v1::ListCommandsRequest>([this](const auto& request) { return List(request); });
  On<v1::CancelCommandRequest>([this](const auto& request) { return Cancel(request); });
  On<v1::GetCommandRequest>(
      [this](const v1::GetCommandRequest& request) -> absl::StatusOr<v1::GetCommandResponse> {
        const absl::StatusOr<v1::Command*> command =
            Find(request.client_id(), request.command_id());
        if (!command.ok()) return command.status();
        v1::GetCommandResponse response;
        *response.mutable_command() = **command;
        return response;
      });
  // There are no drawings, so that every request waits.
  On<v1::RequestAnnotationsRequest>([this](const v1::RequestAnnotationsRequest& request) {
    v1::Command& command = Add(request.client_id(), "annotations");
    command.set_command_class(v1::COMMAND_CLASS_HUMAN);
    v1::RequestAnnotationsResponse response;
    *response.mutable_command() = command;
    return response;
  });
  On<v1::ListAnnotationsRequest>([](const auto&) { return v1::ListAnnotationsResponse(); });
  On<v1::GetHealthRequest>([this](const auto&) -> absl::StatusOr<v1::GetHealthResponse> {
    if (on_health == nullptr) return absl::UnimplementedError("the test does not answer it");
    return on_health();
  });
}

asio::awaitable<absl::Status> FakeTrackerClient::Send(
    const google::protobuf::MethodDescriptor& method, const google::protobuf::Message& request,
    CallOptions options, google::protobuf::Message* response) {
  const bool lists = method.name() == "ListCommands";
  if (lists) ++lists_;
  co_await Yield();
  if (lists && on_list != nullptr) co_await on_list();
  co_return Answer(request, options, response);
}

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

v1::ListCommandsResponse FakeTrackerClient::List(const v1::ListCommandsRequest& request) const {
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
  return response;
}

absl::StatusOr<v1::CancelCommandResponse> FakeTrackerClient::Cancel(
    const v1::CancelCommandRequest& request) {
  const absl::StatusOr<v1::Command*> command = Find(request.client_id(), request.command_id());
  if (!command.ok()) return command.status();
  if (IsFinal((*command)->state())) {
    return ErrorWithDetails(absl::StatusCode::kFailedPrecondition, "It has ended.",
                            {.reason = "already_ended", .hint = "Read its result."});
  }
  (*command)->set_state(v1::COMMAND_STATE_CANCELLED);
  (*command)->set_revision((*command)->revision() + 1);
  v1::CancelCommandResponse response;
  *response.mutable_command() = **command;
  return response;
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

std::unique_ptr<CommandFeed> FakeTrackerClient::Watch(std::string client_id, std::string owner,
                                                      v1::CommandFilter filter, bool only_changes) {
  return on_watch == nullptr ? nullptr : on_watch(client_id, owner, filter, only_changes);
}

}  // namespace callslip::gateway
