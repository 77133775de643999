#include "gateway/mcp/tools/command_wait.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "boost/asio/steady_timer.hpp"
#include "boost/asio/this_coro.hpp"
#include "boost/asio/use_awaitable.hpp"
#include "gateway/json/command_json.h"
#include "gateway/json/tracker_error.h"
#include "gateway/mcp/protocol/call_span.h"

namespace callslip::gateway {

boost::asio::awaitable<absl::StatusOr<v1::Command>> AwaitEnd(
    TrackerClient* tracker, Clock* clock, std::shared_ptr<CallContext> context,
    std::string command_id, absl::Duration max_wait,
    std::function<void(const v1::Command&)> on_step) {
  const ActiveSpan span = BeginWaitSpan(*context, command_id);
  context->DropParams();
  std::string client = OnBehalfOf(context->principal());
  if (!context->listens() || max_wait == absl::ZeroDuration()) {
    co_return co_await tracker->WaitForEnd(std::move(client), std::move(command_id), max_wait);
  }
  const absl::Time deadline = clock->Now() + max_wait;
  int64_t seen = 0;
  // Progress counts the notifications: it must grow each time, which workers do not guarantee.
  for (int told = 1;; ++told) {
    const absl::Time asked = clock->Now();
    const absl::Duration left = std::max(deadline - asked, absl::ZeroDuration());
    const absl::Duration wait = std::min(left, kProgressInterval);
    auto command = co_await tracker->WaitForChange(client, command_id, seen, wait);
    if (clock->Now() >= deadline) co_return command;
    if (!command.ok()) {
      if (!PassesWithTime(command.status())) co_return command;
      context->NotifyProgress(told, std::nullopt, "waiting for the tracker");
      co_await PauseForDrain();
      continue;
    }
    if (IsFinal(command->state())) co_return command;
    if (command->revision() == seen && clock->Now() < asked + wait / 2) {
      co_await PauseForDrain();
      continue;
    }
    seen = command->revision();
    const std::string text = ProgressText(*command);
    context->NotifyProgress(told, std::nullopt, text);
    context->NotifyLog("info", command_id, text);
    if (on_step != nullptr) on_step(*command);
  }
}

boost::asio::awaitable<void> PauseForDrain() {
  const auto executor = co_await boost::asio::this_coro::executor;
  boost::asio::steady_timer pause(executor, std::chrono::milliseconds(100));
  co_await pause.async_wait(boost::asio::use_awaitable);
}

std::string ProgressText(const v1::Command& command) {
  if (command.command_class() == v1::COMMAND_CLASS_HUMAN) return "waiting for the user";
  std::string text(StageOf(command.state()));
  if (command.progress().fraction() > 0) {
    absl::StrAppend(&text, ", ", static_cast<int>(command.progress().fraction() * 100), " %");
  }
  if (!command.progress().message().empty()) {
    absl::StrAppend(&text, ": ", command.progress().message());
  }
  return text;
}

}  // namespace callslip::gateway
