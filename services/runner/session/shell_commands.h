#ifndef CALLSLIP_RUNNER_SESSION_SHELL_COMMANDS_H_
#define CALLSLIP_RUNNER_SESSION_SHELL_COMMANDS_H_

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

// The shell commands in one answer of an agent that has no tools of its own: found as the answer
// streams in, and run one after the other once it has come to its end. Each is recorded as a
// `tool_call`: `queued`, `running`, then `completed` with its output as its title, or `failed`
// where it did not run. Lives on the runner's one thread.
class ShellCommands {
 public:
  // Of an answer; what comes after it is not looked through.
  static constexpr size_t kMaxAnswerBytes = size_t{4} << 20;
  static constexpr absl::Duration kMaxCommandTime = absl::Minutes(4);

  // They run in the working directory of `files`. `spans` must outlive this.
  ShellCommands(int64_t iteration, CommandHost host, std::shared_ptr<const FileAccess> files,
                std::shared_ptr<Recorder> recorder, const TurnSpans* spans)
      : host_(std::move(host)),
        files_(std::move(files)),
        recorder_(std::move(recorder)),
        spans_(spans),
        detector_(iteration) {}

  int64_t iteration() const { return detector_.iteration(); }
  // What the agent says next.
  void Read(absl::string_view text);
  // Returns what the agent is to be told of them; empty where there were none. This must outlive
  // it.
  boost::asio::awaitable<std::string> Run();
  // Kills the one that runs. Those that follow are recorded as not run, because of `why`.
  void Stop(std::string why);
  // One was killed for that, or not run.
  bool was_cut_off() const { return was_cut_off_; }

 private:
  boost::asio::awaitable<ShellResult> RunOne(const ShellCommand& command);
  void Record(const std::string& id, const char* status, std::string title = "");

  const CommandHost host_;
  const std::shared_ptr<const FileAccess> files_;
  const std::shared_ptr<Recorder> recorder_;
  const TurnSpans* const spans_;
  ShellCommandDetector detector_;
  size_t read_ = 0;  // Bytes.
  std::vector<ShellCommand> found_;
  std::shared_ptr<CommandProcess> process_;  // While one runs.
  std::string stopped_;                      // Why no more is run; empty: it is.
  bool was_cut_off_ = false;
};

// What became of commands, one after the other, in at most `most` bytes: where all of it does not
// fit, the longest are cut, and say so. `most` is at least 256 for each.
std::string JoinResults(const std::vector<std::string>& results, size_t most);

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_SESSION_SHELL_COMMANDS_H_
