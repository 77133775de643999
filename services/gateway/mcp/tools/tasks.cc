#include "gateway/mcp/tools/tasks.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gateway/json/command_json.h"
#include "gateway/json/tracker_error.h"
#include "gateway/mcp/tools/command_wait.h"
#include "gateway/mcp/tools/tool_result.h"

namespace callslip::gateway {
namespace {

// Commands end within seconds, and a poll is cheap.
constexpr int kPollIntervalMs = 1000;
constexpr int kPageSize = 50;

// The time from registration until the command is forgotten; null if unknown.
Json TimeToLive(const v1::Command& command) {
  if (!command.has_deadlines()) return nullptr;
  const absl::Duration retention = DurationOf(command.deadlines().result_retention());
  const absl::Time registered = TimeOf(command.register_time());
  if (command.has_end_time()) {
    return absl::ToInt64Milliseconds(TimeOf(command.end_time()) + retention - registered);
  }
  absl::Duration delay;
  if (command.has_not_before()) delay = TimeOf(command.not_before()) - registered;
  return absl::ToInt64Milliseconds(delay + DurationOf(command.deadlines().schedule_to_close()) +
                                   retention);
}

const google::protobuf::Timestamp& LastUpdate(const v1::Command& command) {
  if (command.has_end_time()) return command.end_time();
  if (command.has_start_time()) return command.start_time();
  if (command.has_deliver_time()) return command.deliver_time();
  return command.register_time();
}

std::string StatusMessage(const v1::Command& command) {
  if (!IsFinal(command.state())) return ProgressText(command);
  if (!command.has_error()) return "complete";
  const v1::CommandError& error = command.error();
  return absl::StrCat(error.code(), ": ", error.message(), error.hint().empty() ? "" : " ",
                      error.hint());
}

Json TaskOf(const v1::Command& command, absl::string_view failed) {
  Json task = {{"taskId", command.command_id()},
               {"statusMessage", StatusMessage(command)},
               {"createdAt", WireTime(command.register_time())},
               {"lastUpdatedAt", WireTime(LastUpdate(command))}};
  switch (command.state()) {
    case v1::COMMAND_STATE_COMPLETED: task["status"] = "completed"; break;
    case v1::COMMAND_STATE_CANCELLED: task["status"] = "cancelled"; break;
    default: task["status"] = std::string(IsFinal(command.state()) ? failed : "working");
  }
  return task;
}

}  // namespace

Json LegacyTask(const v1::Command& command) {
  Json task = TaskOf(command, "failed");
  task["ttl"] = TimeToLive(command);
  task["pollInterval"] = kPollIntervalMs;
  return task;
}

Json ModernTask(const v1::Command& command) {
  Json task = TaskOf(command, "completed");
  task["ttlMs"] = TimeToLive(command);
  task["pollIntervalMs"] = kPollIntervalMs;
  return task;
}

Json DetailedTask(const v1::Command& command) {
  Json task = ModernTask(command);
  if (task["status"] == "completed") {
    Json result = std::get<Json>(CommandResult(command).result);
    result["resultType"] = "complete";
    task["result"] = std::move(result);
  }
  return task;
}

RpcError RpcErrorOf(const absl::Status& status, Executed executed) {
  const TrackerError error = TrackerErrorOf(status);
  const bool callers = error.code == absl::StatusCode::kNotFound ||
                       error.code == absl::StatusCode::kInvalidArgument ||
                       error.code == absl::StatusCode::kFailedPrecondition;
  const CallVerdict verdict = VerdictOf(executed, error.repeatable);
  Json data = {{"error", error.reason},
               {"final", verdict.final},
               {"may_have_executed", verdict.may_have_executed}};
  if (!error.hint.empty()) data["hint"] = error.hint;
  if (error.retry_after.has_value()) {
    data["retry_after_ms"] = absl::ToInt64Milliseconds(*error.retry_after);
  }
  return {callers ? JsonRpcCode::kInvalidParams : JsonRpcCode::kInternalError, error.message,
          std::move(data)};
}

CommandTasks::Outcome CommandTasks::GetLegacy(std::shared_ptr<CallContext> context,
                                              std::string task_id) const {
  const auto command =
      co_await tracker_->Get(OnBehalfOf(context->principal()), std::move(task_id), /*peek=*/true);
  if (!command.ok()) co_return RpcErrorOf(command.status());
  co_return LegacyTask(*command);
}

CommandTasks::Outcome CommandTasks::Result(std::shared_ptr<CallContext> context,
                                           std::string task_id) const {
  // A single wait if the caller listens, because progress must grow throughout the call.
  const absl::Duration wait = context->listens() ? absl::InfiniteDuration() : kProgressInterval;
  std::optional<v1::Command> last;
  const auto tell_status = [context](const v1::Command& command) {
    context->Notify("notifications/tasks/status", LegacyTask(command));
  };
  while (true) {
    const absl::Time asked = clock_->Now();
    const auto command = co_await AwaitEnd(tracker_, clock_, context, task_id, wait, tell_status);
    if (!command.ok() && !PassesWithTime(command.status())) co_return RpcErrorOf(command.status());
    if (command.ok()) last = *command;
    if (!command.ok() || !IsFinal(command->state())) {
      // Clients and proxies do not time out as long as they receive something.
      const bool is_turn = clock_->Now() >= asked + wait / 2;
      if (is_turn && last.has_value()) tell_status(*last);
      if (!is_turn || !command.ok()) co_await PauseForDrain();
      continue;
    }
    Json result = std::get<Json>(CommandResult(*command).result);
    result["_meta"] = {{kMetaRelatedTask, {{"taskId", task_id}}}};
    co_return result;
  }
}

boost::asio::awaitable<absl::Status> CommandTasks::CancelCommand(std::string client_id,
                                                                 std::string command_id) const {
  v1::CancelCommandRequest request;
  request.set_client_id(std::move(client_id));
  request.set_command_id(std::move(command_id));
  const auto cancelled = co_await tracker_->Call(std::move(request));
  co_return cancelled.status();
}

CommandTasks::Outcome CommandTasks::CancelLegacy(std::shared_ptr<CallContext> context,
                                                 std::string task_id) const {
  const std::string client = OnBehalfOf(context->principal());
  const auto before = co_await tracker_->Get(client, task_id, /*peek=*/true);
  if (!before.ok()) co_return RpcErrorOf(before.status());
  if (IsFinal(before->state())) {
    co_return RpcError{JsonRpcCode::kInvalidParams,
                       absl::StrCat("The task has ended already: ", WireStatus(before->state()))};
  }
  const absl::Status cancelled = co_await CancelCommand(client, task_id);
  if (!cancelled.ok()) co_return RpcErrorOf(cancelled);
  co_return co_await GetLegacy(std::move(context), std::move(task_id));
}

CommandTasks::Outcome CommandTasks::List(std::shared_ptr<CallContext> context,
                                         std::string cursor) const {
  v1::ListCommandsRequest request;
  request.set_client_id(OnBehalfOf(context->principal()));
  request.set_page_token(std::move(cursor));
  request.set_page_size(kPageSize);
  const auto listed = co_await tracker_->Call(std::move(request));
  if (!listed.ok()) co_return RpcErrorOf(listed.status(), Executed::kNo);
  Json result = {{"tasks", Json::array()}};
  for (const v1::Command& command : listed->commands()) {
    result["tasks"].push_back(LegacyTask(command));
  }
  if (!listed->next_page_token().empty()) result["nextCursor"] = listed->next_page_token();
  co_return result;
}

CommandTasks::Outcome CommandTasks::Get(std::shared_ptr<CallContext> context,
                                        std::string task_id) const {
  const auto command =
      co_await tracker_->Get(OnBehalfOf(context->principal()), std::move(task_id), /*peek=*/false);
  if (!command.ok()) co_return RpcErrorOf(command.status());
  co_return DetailedTask(*command);
}

CommandTasks::Outcome CommandTasks::Update(std::shared_ptr<CallContext> context,
                                           std::string task_id, Json) const {
  // Commands never ask their client for input, so all responses are ignored.
  const auto command =
      co_await tracker_->Get(OnBehalfOf(context->principal()), std::move(task_id), /*peek=*/true);
  if (!command.ok()) co_return RpcErrorOf(command.status());
  co_return Json::object();
}

CommandTasks::Outcome CommandTasks::Cancel(std::shared_ptr<CallContext> context,
                                           std::string task_id) const {
  const absl::Status cancelled =
      co_await CancelCommand(OnBehalfOf(context->principal()), std::move(task_id));
  // A command that has ended remains as it is, and the cancellation counts as accepted.
  if (!cancelled.ok() && cancelled.code() != absl::StatusCode::kFailedPrecondition) {
    co_return RpcErrorOf(cancelled);
  }
  co_return Json::object();
}

}  // namespace callslip::gateway
