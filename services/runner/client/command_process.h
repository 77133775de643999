#ifndef CALLSLIP_RUNNER_CLIENT_COMMAND_PROCESS_H_
#define CALLSLIP_RUNNER_CLIENT_COMMAND_PROCESS_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "boost/asio/io_context.hpp"
#include "runner/agent/agent_environment.h"
#include "runner/agent/agent_process.h"

namespace callslip::runner {

// How commands are run for an agent: as it is itself.
struct CommandHost {
  boost::asio::io_context* context = nullptr;
  std::string keeper;                // The path of callslip-keeper.
  Environment environment;           // As configured for the agent.
  std::vector<std::string> wrapper;  // The agent's.
};

struct Command {
  // The first is looked up in PATH. One alone is a line for `sh -c` where it is no single word.
  std::vector<std::string> words;
  // Besides the agent's. Whoever has asked for the command may have chosen it: only the command
  // sees it, behind the wrapper.
  Environment environment;
  std::string directory;  // Any that can be changed to.
  size_t output_limit = 1 << 20;
  // What it leaves behind lives on, and may put out more, until Kill().
  bool lingers = false;
};

// What a command has printed, on stdout and stderr in the order in which it came.
struct CommandOutput {
  std::string text;        // The end of it, from the beginning of a character.
  bool truncated = false;  // There was more before.
};

// One command, with no input, in a session of its own behind a keeper: nothing that came of it
// outlives this. Lives until nothing of it is left, whoever holds it: the io_context has to run
// until then. What can't be executed ends with 127 or 126, as in a shell, and says why in its
// output.
class CommandProcess : private AgentProcess::Listener,
                       public std::enable_shared_from_this<CommandProcess> {
 public:
  static constexpr size_t kMostOutput = 1 << 20;  // Bytes.

  // `on_end` is called once, later: when the command itself has ended. An error where the directory
  // is not there, or the system has no room for a process.
  static absl::StatusOr<std::shared_ptr<CommandProcess>> Start(const CommandHost& host,
                                                               const Command& command,
                                                               std::function<void()> on_end);

  // So far.
  CommandOutput output() const;
  // Nothing while it runs.
  const std::optional<AgentExit>& exit() const { return exit_; }
  // As shells have it: what it returned, or 128 and the signal. -1 while it runs.
  int exit_code() const;

  // With all that came of it. Harmless when repeated.
  void Kill();
  // Nobody is told of its end any more.
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
  std::shared_ptr<CommandProcess> self_;  // Until OnEnd().
  std::string output_;                    // Up to twice the limit, so that little is moved.
  bool truncated_ = false;
  std::optional<AgentExit> exit_;
};

// How a command has ended that was waited for.
struct CommandResult {
  CommandOutput output;
  int exit_code = 0;       // As CommandProcess has it.
  bool timed_out = false;  // It was killed for that.
};

// Runs a command for `timeout` at most; `done` is told once, later. Whoever wants it to end sooner
// calls Kill() of what is returned.
absl::StatusOr<std::shared_ptr<CommandProcess>> RunCommand(
    const CommandHost& host, const Command& command, absl::Duration timeout,
    std::function<void(const CommandResult&)> done);

// A line for `sh -c`, whatever is in it.
Command ShellLine(absl::string_view line, std::string directory);

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_CLIENT_COMMAND_PROCESS_H_
