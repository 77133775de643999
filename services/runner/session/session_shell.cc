// Shell commands in the answers of agents that have no tools of their own, for SessionRunner: the
// tracker finds them, this is their worker, and what they put out is the agent's next prompt.
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "runner/session/session_calls.h"
#include "runner/session/session_runner.h"

namespace callslip::runner {
namespace {

// Of one call; no character is cut.
constexpr size_t kPieceBytes = size_t{512} << 10;
// Below the 5 minutes that the tracker gives a command.
constexpr absl::Duration kCommandTime = absl::Minutes(4);
constexpr int kPageEvents = 1000;

size_t PieceEnd(const std::string& text, size_t from) {
  size_t end = std::min(text.size(), from + kPieceBytes);
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return end;
}

}  // namespace

boost::asio::awaitable<int32_t> SessionRunner::NextIteration() {
  if (iteration_ < 0) {
    auto request = For<v1::ReadEventsRequest>();
    request.set_limit(kPageEvents);
    request.set_type("agent_message");
    while (true) {
      const auto page = co_await Persistently(request);
      if (!page.ok()) break;
      for (const v1::SessionEvent& event : page->events()) {
        if (!event.agent_message().has_iteration()) continue;
        iteration_ = std::max(iteration_, event.agent_message().iteration());
      }
      if (!page->has_more()) break;
      request.set_after_seq(page->next_after_seq());
    }
  }
  co_return static_cast<int32_t>(++iteration_);
}

boost::asio::awaitable<std::string> SessionRunner::RunShellCommands() {
  const std::string text = std::exchange(answer_, "");
  if (text.empty()) co_return "";
  const int32_t iteration = co_await NextIteration();
  std::map<std::string, std::string> titles;  // By the ids of their tool calls.
  std::vector<std::string> order;
  for (size_t from = 0; from < text.size();) {
    const size_t end = PieceEnd(text, from);
    auto piece = For<v1::AddAgentTextRequest>();
    piece.set_iteration(iteration);
    piece.set_text(text.substr(from, end - from));
    piece.set_offset(static_cast<int64_t>(from));
    piece.set_end(end == text.size());
    const auto added = co_await Persistently(std::move(piece));
    if (!added.ok()) {
      Log(LogLevel::kWarning, "an answer could not be looked through for commands",
          {{"session", id()}, {"error", std::string(added.status().message())}});
      co_return "";
    }
    for (const v1::AddAgentTextResponse::Command& command : added->commands()) {
      order.push_back(command.id());
      titles.emplace(command.id(), "");
    }
    from = end;
  }
  if (order.empty()) co_return "";
  for (size_t done = 0; done < order.size() && !turn_->is_stopped && !released_;) {
    const bool has_one = co_await RunShellCommand();
    // One may have ended without this: cancelled, or refused.
    if (!has_one) break;
    ++done;
  }
  co_await ReadTitles(titles);
  std::string results;
  for (const std::string& command : order) {
    absl::StrAppend(&results, results.empty() || results.back() == '\n' ? "" : "\n",
                    titles[command]);
  }
  co_return results;
}

boost::asio::awaitable<bool> SessionRunner::RunShellCommand() {
  v1::LeaseCommandsRequest ask;
  ask.set_target(absl::StrCat("session-", id()));
  ask.set_worker_id(host_->runner_id);
  ask.set_max_commands(1);
  ask.mutable_max_wait()->set_seconds(2);
  const auto leased = co_await Persistently(std::move(ask));
  if (!leased.ok() || leased->leases().empty()) co_return false;
  const v1::CommandLease& lease = leased->leases(0);
  v1::AcknowledgeCommandRequest begun;
  begun.set_command_id(lease.command().command_id());
  begun.set_lease_token(lease.lease_token());
  begun.set_without_heartbeats(true);
  (void)co_await Persistently(std::move(begun));

  const Json params = Json::parse(lease.command().params(), nullptr, /*allow_exceptions=*/false);
  const Later<CommandResult> ended(host_->executor);
  const auto process = RunCommand(
      plan_.commands, ShellCommand(acp::TextOf(params, "command"), plan_.setup.directory),
      kCommandTime, [ended](const CommandResult& result) { ended.Set(result); });
  CommandResult result;
  if (process.ok()) {
    shell_command_ = *process;
    result = co_await ended.Get();
    shell_command_.reset();
  } else {
    result.output.text = std::string(process.status().message());
    result.exit_code = 126;
  }
  if (result.timed_out) {
    absl::StrAppend(&result.output.text, "\nkilled after ", absl::FormatDuration(kCommandTime));
  }
  v1::CompleteCommandRequest report;
  report.set_command_id(lease.command().command_id());
  report.set_lease_token(lease.lease_token());
  const Json told = {{"output", result.output.text}, {"exit_code", result.exit_code}};
  report.set_result(told.dump(-1, ' ', false, Json::error_handler_t::replace));
  co_return (co_await Persistently(std::move(report))).ok();
}

// How they have ended is recorded soon after that.
boost::asio::awaitable<void> SessionRunner::ReadTitles(std::map<std::string, std::string>& titles) {
  constexpr int kTries = 40;
  for (int i = 0; i < kTries && !released_; ++i) {
    auto request = For<v1::ReadEventsRequest>();
    request.set_limit(kPageEvents);
    request.set_type("tool_call_update");
    request.set_after_seq(turn_->seq);
    const auto page = co_await Persistently(std::move(request));
    size_t ended = 0;
    if (page.ok()) {
      for (const v1::SessionEvent& event : page->events()) {
        const v1::ToolCallUpdateEvent& update = event.tool_call_update();
        const bool is_over = update.status() == "completed" || update.status() == "failed";
        const auto title = titles.find(update.tool_call_id());
        if (!is_over || title == titles.end()) continue;
        title->second = update.title();
        ++ended;
      }
    }
    if (ended >= titles.size()) co_return;
    co_await Pause(*host_->timers, absl::Milliseconds(50));
  }
}

boost::asio::awaitable<void> SessionRunner::PromptWith(std::string results) {
  auto request = For<v1::StartTurnRequest>();
  request.mutable_prompt()->set_message(results);
  request.mutable_prompt()->set_prompt_id(absl::StrCat("shell-", iteration_, "-", turn_->id));
  const auto started = co_await Persistently(std::move(request));
  if (!started.ok()) {
    // Somebody's message came first: the agent is told with that.
    results_ = std::move(results);
    co_return;
  }
  Turn turn{.id = started->turn_id(), .message = {}, .seq = started->seq()};
  turn.message.set_message(results);
  turn.is_begun = true;
  next_turn_ = std::move(turn);
}

}  // namespace callslip::runner
