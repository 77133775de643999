// Shell commands in the answers of agents that have no tools of their own, for SessionRunner: the
// tracker finds them, this is their worker, and what they put out is the agent's next prompt.
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/error_details.h"
#include "common/log.h"
#include "common/text_scan.h"
#include "runner/session/session_calls.h"
#include "runner/session/session_runner.h"
#include "runner/session/shell_results.h"

namespace callslip::runner {
namespace {

// Of one call; no character is cut.
constexpr size_t kPieceBytes = size_t{512} << 10;
// Below the 5 minutes that the tracker gives a command.
constexpr absl::Duration kCommandTime = absl::Minutes(4);
constexpr int kPageEvents = 1000;
// Of what becomes of them: below the 256 KiB that a message may have.
constexpr size_t kMaxResults = (size_t{256} << 10) - 1024;

// How much of an answer, of which so much is shown, is shown before its end: none of what may be a
// command, since one that the tracker knows of is to run within its time.
size_t ShownEnd(absl::string_view text, size_t shown) {
  constexpr absl::string_view kTag = "<shell>";
  const size_t tag = text.find(kTag, shown);
  if (tag != absl::string_view::npos) return tag;
  for (size_t size = std::min(kTag.size() - 1, text.size()); size > 0; --size) {
    if (absl::EndsWith(text, kTag.substr(0, size))) return text.size() - size;
  }
  return text.size();
}

size_t PieceEnd(absl::string_view text, size_t from) {
  return from + CutText(text.substr(from), kPieceBytes).size();
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

void SessionRunner::ShowAnswer() {
  if (showing_.has_value()) return;
  showing_.emplace(host_->executor);
  Spawn([](std::shared_ptr<SessionRunner> self) -> boost::asio::awaitable<void> {
    co_await self->SendAnswer();
    std::exchange(self->showing_, std::nullopt)->Set(true);
  }(shared_from_this()));
}

boost::asio::awaitable<void> SessionRunner::SendAnswer() {
  while (true) {
    answer_is_long_ = answer_is_long_ || answer_.size() > kMaxAnswer;
    if (answer_is_long_) co_return co_await RecordAnswer();
    if (!answer_iteration_.has_value()) {
      answer_iteration_ = co_await NextIteration();
      shown_ = 0;
    }
    const size_t size = ShownEnd(answer_, shown_);
    if (shown_ >= size) co_return;
    const size_t end = PieceEnd(absl::string_view(answer_).substr(0, size), shown_);
    auto piece = For<v1::AddAgentTextRequest>();
    piece.set_iteration(*answer_iteration_);
    piece.set_offset(static_cast<int64_t>(shown_));
    piece.set_text(answer_.substr(shown_, end - shown_));
    const auto added = co_await host_->tracker->Call(std::move(piece));
    // What was not shown comes with the whole answer.
    shown_ = added.ok() ? end : std::string::npos;
  }
}

boost::asio::awaitable<void> SessionRunner::Shown() {
  if (!showing_.has_value()) co_return;
  const Later<bool> shown = *showing_;
  co_await shown.Get();
}

boost::asio::awaitable<void> SessionRunner::RecordAnswer() {
  size_t recorded = 0;
  if (answer_iteration_.has_value()) {
    // What was shown ends with what the tracker knows of it.
    auto end = For<v1::AddAgentTextRequest>();
    end.set_iteration(*std::exchange(answer_iteration_, std::nullopt));
    end.set_offset(0);
    end.set_end(true);
    const auto ended = co_await Persistently(std::move(end));
    if (ended.ok()) recorded = std::min(static_cast<size_t>(ended->length()), answer_.size());
  }
  const std::string rest = std::exchange(answer_, "").substr(recorded);
  if (rest.empty()) co_return;
  v1::SessionEvent event;
  event.mutable_agent_message()->set_text(rest);
  recorder_->Add(std::move(event));
}

boost::asio::awaitable<absl::StatusOr<std::string>> SessionRunner::RunShellCommands() {
  std::string text = std::exchange(answer_, "");
  if (text.empty()) co_return "";
  // From its beginning, whatever of it was shown: the tracker passes over what it knows.
  const int32_t iteration =
      answer_iteration_.has_value() ? *answer_iteration_ : co_await NextIteration();
  answer_iteration_.reset();
  std::map<std::string, std::string> titles;  // By the ids of their tool calls.
  std::vector<std::string> order;
  ShellCommands wanted;
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
          {{"session", id()},
           {"traceparent", spans_.UnderWay()},
           {"error", std::string(added.status().message())}});
      // It was said all the same.
      co_await Shown();
      answer_ = text + answer_;
      answer_iteration_ = iteration;
      co_await RecordAnswer();
      co_return added.status();
    }
    for (const v1::AddAgentTextResponse::Command& command : added->commands()) {
      order.push_back(command.id());
      titles.emplace(command.id(), "");
      // One that was refused is recorded as such.
      if (!command.command_id().empty()) wanted.emplace(command.command_id(), command.id());
    }
    from = end;
  }
  if (order.empty()) co_return "";
  // Also where the turn is stopped meanwhile: none is left to the turns that follow.
  while (!wanted.empty() && !released_) {
    const bool has_one = co_await RunShellCommand(wanted);
    // The others have ended without this: somebody has cancelled them.
    if (!has_one) break;
  }
  co_await ReadTitles(titles);
  std::vector<std::string> results;
  for (const std::string& command : order) results.push_back(std::move(titles[command]));
  co_return ShellResults(results, kMaxResults);
}

boost::asio::awaitable<bool> SessionRunner::Refuse(const v1::CommandLease& lease,
                                                   std::string message) {
  v1::CompleteCommandRequest report;
  report.set_command_id(lease.command().command_id());
  report.set_lease_token(lease.lease_token());
  report.mutable_error()->set_code("not_run");
  report.mutable_error()->set_message(std::move(message));
  co_return (co_await Persistently(std::move(report))).ok();
}

boost::asio::awaitable<bool> SessionRunner::RunShellCommand(ShellCommands& wanted) {
  v1::LeaseCommandsRequest ask;
  ask.set_target(absl::StrCat("session-", id()));
  ask.set_worker_id(host_->runner_id);
  ask.set_max_commands(1);
  ask.mutable_max_wait()->set_seconds(2);
  const auto leased = co_await Persistently(std::move(ask));
  if (!leased.ok() || leased->leases().empty()) co_return false;
  const v1::CommandLease& lease = leased->leases(0);
  if (wanted.erase(lease.command().command_id()) == 0) {
    // Of an answer before this one, which nobody waits for any more.
    co_return co_await Refuse(lease, "the turn that it belongs to is over");
  }
  if (turn_->is_stopped) co_return co_await Refuse(lease, "the turn was stopped");
  v1::AcknowledgeCommandRequest begun;
  begun.set_command_id(lease.command().command_id());
  begun.set_lease_token(lease.lease_token());
  begun.set_without_heartbeats(true);
  // It was cancelled meanwhile, or is another worker's by now.
  if (!(co_await Persistently(std::move(begun))).ok()) co_return true;

  const Json params = Json::parse(lease.command().params(), nullptr, /*allow_exceptions=*/false);
  const Later<CommandResult> ended(host_->executor);
  absl::Status can_begin;
  if (!files_.has_value()) {
    // Its agent has ended with its answer.
    absl::StatusOr<FileAccess> files = FileAccess::Of(plan_.folders);
    can_begin = files.status();
    if (files.ok()) files_ = *std::move(files);
  }
  absl::StatusOr<std::shared_ptr<CommandProcess>> process = nullptr;
  if (!can_begin.ok()) {
    process = can_begin;
  } else {
    process = RunCommand(plan_.commands,
                         ShellCommand(acp::TextOf(params, "command"), files_->PathForProcesses()),
                         kCommandTime, [ended](const CommandResult& told) { ended.Set(told); });
  }
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
  report.set_result(Dump(told));
  co_return (co_await Persistently(std::move(report))).ok();
}

// How they have ended is recorded soon after that.
boost::asio::awaitable<void> SessionRunner::ReadTitles(std::map<std::string, std::string>& titles) {
  constexpr int kTries = 40;
  int64_t after = turn_->seq;
  size_t ended = 0;
  for (int i = 0; i < kTries && !released_;) {
    auto request = For<v1::ReadEventsRequest>();
    request.set_limit(kPageEvents);
    request.set_type("tool_call_update");
    request.set_after_seq(after);
    const auto page = co_await Persistently(std::move(request));
    if (!page.ok()) co_return;
    for (const v1::SessionEvent& event : page->events()) {
      after = event.seq();
      const v1::ToolCallUpdateEvent& update = event.tool_call_update();
      const bool is_over = update.status() == "completed" || update.status() == "failed";
      const auto title = titles.find(update.tool_call_id());
      if (!is_over || title == titles.end()) continue;
      title->second = update.title();
      ++ended;
    }
    if (ended >= titles.size()) co_return;
    if (page->has_more()) {
      after = page->next_after_seq();
      continue;
    }
    ++i;
    co_await Pause(*host_->timers, absl::Milliseconds(50));
  }
}

boost::asio::awaitable<void> SessionRunner::PromptWith(std::string results) {
  auto request = For<v1::StartTurnRequest>();
  request.mutable_prompt()->set_message(results);
  request.mutable_prompt()->set_prompt_id(absl::StrCat("shell-", iteration_, "-", turn_->id));
  const auto started = co_await Persistently(std::move(request));
  if (!started.ok()) {
    // Where somebody's message came first, the agent is told with that.
    if (callslip::DetailsOf(started.status()).reason != "turn_in_progress") {
      v1::SessionEvent event;
      event.mutable_error()->set_message(absl::StrCat(
          "the agent could not be told what became of its commands: ", started.status().message()));
      recorder_->Add(std::move(event));
    }
    results_ = std::move(results);
    co_return;
  }
  Turn turn{.id = started->turn_id(), .message = {}, .seq = started->seq()};
  turn.message.set_message(results);
  turn.is_begun = true;
  next_turn_ = std::move(turn);
}

}  // namespace callslip::runner
