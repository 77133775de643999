#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "boost/asio/io_context.hpp"
#include "common/file.h"
#include "runner/agent/agent_environment.h"
#include "runner/agent/agent_process.h"

namespace callslip::runner {

// The environment in which commands are run for an agent: that of the agent itself.
struct CommandHost {
  boost::asio::io_context* context = nullptr;
  std::string keeper;                // Path of callslip-keeper.
  Environment environment;           // The agent's configured environment.
  std::vector<std::string> wrapper;  // The agent's wrapper.
};

struct Command {
  // The first is looked up in PATH. A single element that is not a plain word is a command line for
  // `sh -c`.
  std::vector<std::string> words;
  // In addition to the agent's. The agent can choose it freely, so only the command sees it, behind
  // the wrapper.
  Environment environment;
  // The directory it works in: an open folder, or where there is none, a path.
  std::shared_ptr<const File> folder;
  std::string directory;
  size_t output_limit = 1 << 20;
  // Processes that the command leaves behind live until Kill(), and can produce more output.
  bool lingers = false;
};

// The output of a command: stdout and stderr, in order of arrival.
struct CommandOutput {
  std::string text;        // The end of the output, starting at a character boundary.
  bool truncated = false;  // Earlier output was dropped.
};

// A command without input, in a session of its own behind a keeper: no descendant outlives this.
// Keeps itself alive until nothing of the command is left; the io_context must run until then. A
// command that cannot be executed ends with 127 or 126, as in a shell, with the reason in its
// output.
class CommandProcess : private AgentProcess::Listener,
                       public std::enable_shared_from_this<CommandProcess> {
 public:
  static constexpr size_t kMaxOutput = 1 << 20;  // In bytes.

  // `on_end` is called once, after Start() has returned, when the command itself has ended. Returns
  // an error if the system lacks the resources for a process.
  static absl::StatusOr<std::shared_ptr<CommandProcess>> Start(const CommandHost& host,
                                                               const Command& command,
                                                               std::function<void()> on_end);

  // The output so far.
  CommandOutput output() const;
  // Nullopt while it runs.
  const std::optional<AgentExit>& exit() const { return exit_; }
  // As in shells: the exit code, or 128 plus the signal. -1 while it runs.
  int exit_code() const;
  // Whether it was started and has ended.
  bool has_run() const;

  // Kills the command and all its descendants. Idempotent.
  void Kill();
  // Cancels the call of `on_end`.
  void Forget() { on_end_ = nullptr; }

 private:
  CommandProcess(size_t limit, std::function<void()> on_end)
      : limit_(limit), on_end_(std::move(on_end)) {}

  void OnOutput(absl::string_view bytes) override;
  void OnExit(const AgentExit& exit) override;
  void OnEnd(const AgentExit& exit) override;

  const size_t limit_;
  std::function<void()> on_end_;
  std::shared_ptr<AgentProcess> process_;
  std::shared_ptr<CommandProcess> self_;  // Set until OnEnd().
  std::string output_;                    // Up to twice the limit, so that little is moved.
  bool truncated_ = false;
  std::optional<AgentExit> exit_;
};

// The result of RunCommand().
struct CommandResult {
  CommandOutput output;
  int exit_code = 0;       // See CommandProcess::exit_code().
  bool has_run = false;    // False: not even its shell could be started. `output` says why.
  bool timed_out = false;  // The command was killed because of the timeout.
};

// Runs a command for at most `timeout`; calls `done` once, after RunCommand() has returned. Call
// Kill() of the result to end the command earlier.
absl::StatusOr<std::shared_ptr<CommandProcess>> RunCommand(
    const CommandHost& host, const Command& command, absl::Duration timeout,
    std::function<void(const CommandResult&)> done);

// A command line for `sh -c`.
Command ShellLine(absl::string_view line, std::shared_ptr<const File> folder);

}  // namespace callslip::runner
