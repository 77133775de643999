#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "boost/asio/awaitable.hpp"
#include "common/shell_commands.h"
#include "runner/client/command_process.h"
#include "runner/client/file_access.h"
#include "runner/session/recorder.h"
#include "runner/session/turn_spans.h"

namespace callslip::runner {

// The shell commands in one answer of an agent without tools of its own: detected while the answer
// streams in, and run one after the other once it is complete. Each is recorded as a `tool_call`:
// `queued`, `running`, then `completed` with its output as its title, or `failed` if it did not
// run. Use on the runner's thread.
class ShellCommands {
 public:
  // Limit of the searched part of an answer.
  static constexpr size_t kMaxAnswerBytes = size_t{4} << 20;
  static constexpr absl::Duration kMaxCommandTime = absl::Minutes(4);

  // The commands run in the working directory of `files`. `spans` must outlive this.
  ShellCommands(int64_t iteration, CommandHost host, std::shared_ptr<const FileAccess> files,
                std::shared_ptr<Recorder> recorder, const TurnSpans* spans)
      : host_(std::move(host)),
        files_(std::move(files)),
        recorder_(std::move(recorder)),
        spans_(spans),
        detector_(iteration) {}

  int64_t iteration() const { return detector_.iteration(); }
  // Processes the next text of the answer.
  void Read(absl::string_view text);
  // Runs the commands. Returns the results for the agent; empty if there were no commands. This
  // must outlive the coroutine.
  boost::asio::awaitable<std::string> Run();
  // Kills the running command. Records those that follow as not run, because of `why`.
  void Stop(std::string why);
  // A command was killed or not run because of Stop().
  bool was_cut_off() const { return was_cut_off_; }

 private:
  boost::asio::awaitable<ShellResult> RunOne(const ShellCommand& command);
  void Record(const std::string& id, const char* status, std::string title = "");

  const CommandHost host_;
  const std::shared_ptr<const FileAccess> files_;
  const std::shared_ptr<Recorder> recorder_;
  const TurnSpans* const spans_;
  ShellCommandDetector detector_;
  size_t read_ = 0;  // Bytes read.
  std::vector<ShellCommand> found_;
  std::shared_ptr<CommandProcess> process_;  // Set while a command runs.
  std::string stopped_;                      // Why no more commands are run; empty if not stopped.
  bool was_cut_off_ = false;
};

// Concatenates results of commands to at most `most` bytes: if they do not fit, the longest are
// truncated, with a note. `most` must be at least 256 per result.
std::string JoinResults(const std::vector<std::string>& results, size_t most);

}  // namespace callslip::runner
