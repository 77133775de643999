#include "runner/session/shell_commands.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "boost/asio/this_coro.hpp"
#include "common/text_scan.h"
#include "rpc_client/promise.h"

namespace callslip::runner {
namespace {

// The protocol's kind for a tool that executes something.
constexpr char kToolKind[] = "execute";
// Below the limit of 256 KiB for a message.
constexpr size_t kMaxResults = (size_t{256} << 10) - 1024;
// More than the note on a truncated result, and a line break.
constexpr size_t kNoteBytes = 128;

// The maximum length of each result, so that all of them fit into `most` bytes.
size_t ShareOf(const std::vector<std::string>& results, size_t most) {
  std::vector<size_t> sizes;
  for (const std::string& result : results) sizes.push_back(result.size() + kNoteBytes);
  std::sort(sizes.begin(), sizes.end());
  size_t left = most;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const size_t share = left / (sizes.size() - i);
    if (sizes[i] > share) return share - kNoteBytes;
    left -= sizes[i];
  }
  return most;
}

}  // namespace

void ShellCommands::Read(absl::string_view text) {
  const absl::string_view looked_at = text.substr(0, kMaxAnswerBytes - read_);
  read_ += looked_at.size();
  for (ShellCommand& command : detector_.Feed(looked_at)) found_.push_back(std::move(command));
}

boost::asio::awaitable<std::string> ShellCommands::Run() {
  // Text that the agent sends after the end of its answer is not part of it.
  const std::vector<ShellCommand> commands = std::exchange(found_, {});
  for (const ShellCommand& command : commands) {
    NewEvent event("tool_call");
    event.Set("tool_call_id", command.id)
        .Set("title", command.command)
        .Set("status", "queued")
        .Set("kind", kToolKind);
    recorder_->Add(std::move(event));
  }
  std::vector<std::string> told;
  for (const ShellCommand& command : commands) {
    const ShellResult result = co_await RunOne(command);
    told.push_back(FormatToolResults({result}));
    Record(command.id, result.ran ? "completed" : "failed", told.back());
  }
  co_return JoinResults(told, kMaxResults);
}

boost::asio::awaitable<ShellResult> ShellCommands::RunOne(const ShellCommand& command) {
  ShellResult result{.command_id = command.id, .command = command.command, .ran = false};
  const auto is_stopped = [&] {
    result.output = stopped_;
    was_cut_off_ = was_cut_off_ || !stopped_.empty();
    return !stopped_.empty();
  };
  if (is_stopped()) co_return result;
  Record(command.id, "running");
  // A command that is not recorded is not run: the session may have another runner by now.
  if (const absl::Status recorded = co_await recorder_->Flush(); !recorded.ok()) {
    result.output = std::string(recorded.message());
    co_return result;
  }
  if (is_stopped()) co_return result;
  ActiveSpan span = spans_->BeginCommand(command.id);
  const Promise<CommandResult> ended(co_await boost::asio::this_coro::executor);
  const absl::StatusOr<std::shared_ptr<CommandProcess>> process =
      RunCommand(host_, ShellLine(command.command, files_->working_folder()), kMaxCommandTime,
                 [ended](const CommandResult& told) { ended.Set(told); });
  if (!process.ok()) {
    span.Fail("not_run");
    result.output = WithoutBadUtf8(process.status().message());
    co_return result;
  }
  process_ = *process;
  const CommandResult end = co_await ended.Get();
  process_.reset();
  if (!end.has_run) {
    span.Fail("not_run");
    result.output = WithoutBadUtf8(end.output.text);
    co_return result;
  }
  result.ran = true;
  result.exit_code = end.exit_code;
  if (end.output.truncated) result.output = "[… more came before this …]\n";
  result.output += WithoutBadUtf8(end.output.text);
  if (end.timed_out) {
    span.Fail("timeout");
    absl::StrAppend(&result.output, "\nkilled after ", absl::FormatDuration(kMaxCommandTime));
  }
  co_return result;
}

void ShellCommands::Record(const std::string& id, const char* status, std::string title) {
  NewEvent event("tool_call_update");
  event.Set("tool_call_id", id).Set("status", status).SetUnlessEmpty("title", title);
  recorder_->Add(std::move(event));
}

void ShellCommands::Stop(std::string why) {
  stopped_ = std::move(why);
  if (process_ == nullptr) return;
  was_cut_off_ = true;
  process_->Kill();
}

std::string JoinResults(const std::vector<std::string>& results, size_t most) {
  const size_t share = ShareOf(results, most);
  std::string all;
  for (const std::string& result : results) {
    if (!all.empty() && all.back() != '\n') all += '\n';
    const absl::string_view told = CutText(result, share);
    absl::StrAppend(&all, told);
    if (told.size() < result.size()) {
      absl::StrAppend(&all, "\n[", result.size() - told.size(),
                      " bytes more are in the session's events]");
    }
  }
  return all;
}

}  // namespace callslip::runner
