#include "runner/client/command_process.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "boost/asio/steady_timer.hpp"
#include "common/status_macros.h"

namespace callslip::runner {
namespace {

// Quotes a text as one shell word.
std::string Quoted(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

// The words as given, or a shell and its command line if there is only one element that is not a
// plain word.
std::vector<std::string> WordsOf(const Command& command) {
  const std::vector<std::string>& words = command.words;
  const bool is_word =
      words.size() != 1 || words[0].find_first_of(" \t\n|&;<>()$`\\\"'*?[#~%") == std::string::npos;
  if (is_word) return words;
  return {"sh", "-c", words[0]};
}

// Wraps the command in a shell, which closes its input, merges its output, and then executes it.
// With `is_told`, the shell reads the variables for the command from stdin: neither the keeper nor
// a wrapper has them in its environment, and they do not appear in process lists.
std::vector<std::string> BehindShell(const std::vector<std::string>& words, bool is_told) {
  std::vector<std::string> all = {
      "sh", "-c", is_told ? "eval \"$(cat)\"; exit 126" : "exec \"$@\" </dev/null 2>&1", "sh"};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

// The script for such a shell. `env` accepts variables of all names, unlike shells; but it would
// take a command with `=` in it for a variable, so another shell stands in between.
std::string Telling(const std::vector<std::string>& words, const Environment& environment) {
  std::string script = "exec </dev/null 2>&1\nexec env --";
  for (const auto& [name, value] : environment) {
    absl::StrAppend(&script, " ", Quoted(absl::StrCat(name, "=", value)));
  }
  if (absl::StrContains(words.front(), '=')) absl::StrAppend(&script, " sh -c 'exec \"$@\"' sh");
  return absl::StrCat(script, " \"$@\"\n");
}

// At most the last `limit` bytes, starting at a character boundary.
absl::string_view End(absl::string_view text, size_t limit) {
  if (text.size() <= limit) return text;
  text.remove_prefix(text.size() - limit);
  const auto is_inside = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
  for (int bytes = 0; bytes < 3 && !text.empty() && is_inside(text.front()); ++bytes) {
    text.remove_prefix(1);
  }
  return text;
}

}  // namespace

absl::StatusOr<std::shared_ptr<CommandProcess>> CommandProcess::Start(
    const CommandHost& host, const Command& command, std::function<void()> on_end) {
  if (command.words.empty() || command.words[0].empty()) {
    return absl::InvalidArgumentError("there is no command");
  }
  std::shared_ptr<CommandProcess> process(
      new CommandProcess(std::min(command.output_limit, kMaxOutput), std::move(on_end)));
  const std::vector<std::string> words = WordsOf(command);
  const bool is_told = !command.environment.empty();
  const AgentCommand start = {.arguments = Wrapped(host.wrapper, BehindShell(words, is_told)),
                              .environment = FormatEnvironment(host.environment),
                              .folder = command.folder,
                              .directory = command.directory,
                              .lingers = command.lingers};
  ASSIGN_OR_RETURN(process->process_,
                   AgentProcess::Start(*host.context, host.keeper, start, process.get()));
  process->self_ = process;
  if (is_told) {
    const std::shared_ptr<AgentProcess> shell = process->process_;
    shell->Write(Telling(words, command.environment),
                 [shell](bool /*whole*/) { shell->CloseInput(); });
  }
  return process;
}

CommandOutput CommandProcess::output() const {
  const absl::string_view end = End(output_, limit_);
  return {.text = std::string(end), .truncated = truncated_ || end.size() < output_.size()};
}

int CommandProcess::exit_code() const {
  constexpr int kNotFound = 127, kSignalled = 128, kSigKill = 9;
  if (!exit_.has_value()) return -1;
  switch (exit_->kind) {
    case AgentExit::Kind::kNotStarted:
    case AgentExit::Kind::kNoDirectory: return kNotFound;
    case AgentExit::Kind::kExited: return exit_->code;
    case AgentExit::Kind::kSignalled: return kSignalled + exit_->code;
    case AgentExit::Kind::kLost: return kSignalled + kSigKill;
  }
  return kNotFound;
}

bool CommandProcess::has_run() const {
  return exit_.has_value() && exit_->kind != AgentExit::Kind::kNotStarted &&
         exit_->kind != AgentExit::Kind::kNoDirectory;
}

void CommandProcess::Kill() {
  if (process_ != nullptr) process_->Kill();
}

void CommandProcess::OnOutput(absl::string_view bytes) {
  output_.append(bytes.data(), bytes.size());
  if (output_.size() <= 2 * limit_) return;
  output_ = std::string(End(output_, limit_));
  truncated_ = true;
}

void CommandProcess::OnExit(const AgentExit& exit) {
  exit_ = exit;
  // Not even the shell could be started, for example because the wrapper is missing.
  if (exit.kind == AgentExit::Kind::kNotStarted) OnOutput("callslip-runner: cannot be started\n");
  if (exit.kind == AgentExit::Kind::kNoDirectory) {
    OnOutput(absl::StrCat(
        "callslip-runner: the directory cannot be entered: ", std::strerror(exit.code), "\n"));
  }
  if (const auto on_end = std::move(on_end_); on_end != nullptr) on_end();
}

void CommandProcess::OnEnd(const AgentExit& exit) {
  const std::shared_ptr<CommandProcess> self = std::move(self_);
  process_ = nullptr;
  if (!exit_.has_value()) OnExit(exit);
}

absl::StatusOr<std::shared_ptr<CommandProcess>> RunCommand(
    const CommandHost& host, const Command& command, absl::Duration timeout,
    std::function<void(const CommandResult&)> done) {
  struct Run {
    explicit Run(boost::asio::io_context& context) : timer(context) {}
    boost::asio::steady_timer timer;
    std::weak_ptr<CommandProcess> process;  // Valid while it runs.
    bool timed_out = false;
  };
  const auto run = std::make_shared<Run>(*host.context);
  ASSIGN_OR_RETURN(std::shared_ptr<CommandProcess> process,
                   CommandProcess::Start(host, command, [run, done = std::move(done)] {
                     run->timer.cancel();
                     const auto ended = run->process.lock();
                     done({.output = ended->output(),
                           .exit_code = ended->exit_code(),
                           .has_run = ended->has_run(),
                           .timed_out = run->timed_out});
                   }));
  run->process = process;
  run->timer.expires_after(absl::ToChronoNanoseconds(timeout));
  run->timer.async_wait([run](const boost::system::error_code& error) {
    const auto running = run->process.lock();
    if (error || running == nullptr) return;
    run->timed_out = true;
    running->Kill();
  });
  return process;
}

Command ShellLine(absl::string_view line, std::shared_ptr<const File> folder) {
  return {.words = {"sh", "-c", std::string(line)}, .environment = {}, .folder = std::move(folder)};
}

}  // namespace callslip::runner
