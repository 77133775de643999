#ifndef CALLSLIP_COMMON_SHELL_COMMANDS_H_
#define CALLSLIP_COMMON_SHELL_COMMANDS_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

// Commands in an agent's text: <shell>ls -l</shell>. Each gets an id of its own, by which it is
// followed until its result is there; its text is not an id, since the same command may stand twice
// in one answer (seed 003).
namespace callslip {

// A longer one is not a command that anybody typed; its text is passed over.
inline constexpr size_t kMaxShellCommandBytes = size_t{64} << 10;
// Commands of one iteration; what comes after them is passed over.
inline constexpr size_t kMaxShellCommands = 1000;
// What of a command's output goes back to the agent.
inline constexpr size_t kMaxShellOutputBytes = size_t{16} << 10;

// Of an answer: a number of 32 bits in AddAgentTextRequest.
inline constexpr int64_t kMaxIteration = std::numeric_limits<int32_t>::max();

struct ShellCommand {
  std::string id;  // cmd-{iteration}-{index}
  std::string command;
  friend bool operator==(const ShellCommand&, const ShellCommand&) = default;
};

// "cmd-0-2": the third command of the first iteration.
inline constexpr absl::string_view kShellCommandIdPrefix = "cmd-";
std::string ShellCommandId(int64_t iteration, int64_t index);

struct ShellCommandPlace {
  int64_t iteration = 0;
  int64_t index = 0;
};
// Nothing for what is no such id.
std::optional<ShellCommandPlace> PlaceOfShellCommand(absl::string_view id);

// Finds the commands in text that comes in pieces, cut anywhere, and reports each as soon as its
// closing tag is there. The pieces' cuts make no difference. Holds no more than one command.
// Not thread-safe.
class ShellCommandDetector {
 public:
  // `iteration` counts the agent's answers within its loop, from 0.
  explicit ShellCommandDetector(int64_t iteration) : iteration_(iteration) {}

  // The commands that end in this piece. White space around a command is taken off; an empty one is
  // none. Between an opening tag and the first closing one everything is the command.
  std::vector<ShellCommand> Feed(absl::string_view text);

  int64_t iteration() const { return iteration_; }
  // Of the next command.
  int64_t next_index() const { return next_index_; }
  void SkipTo(int64_t index) { next_index_ = index; }

 private:
  void FeedByte(char byte, std::vector<ShellCommand>& found);
  void EndCommand(std::vector<ShellCommand>& found);

  int64_t iteration_;
  int64_t next_index_ = 0;
  bool inside_ = false;
  size_t matched_ = 0;  // Of the tag that is waited for.
  std::string command_;
  bool too_long_ = false;
};

struct ShellResult {
  std::string command_id;
  std::string command;
  std::string output;
  // Of the process; a command that did not run at all has none, and says why in `output`.
  bool ran = true;
  int exit_code = 0;
};

// What the agent is told about its commands, in their order, each with its output cut:
//
//   <result id="cmd-0-0" exit_code="0">
//   $ ls
//   README.md
//   </result>
//
// A closing tag within an output is made harmless.
std::string FormatToolResults(const std::vector<ShellResult>& results);

// `output`, or where it has more than `max_bytes`, its beginning and its end with a line between
// them that says how many bytes are left out. Cuts no UTF-8 sequence. The line is not counted.
std::string TruncateOutput(absl::string_view output, size_t max_bytes = kMaxShellOutputBytes);

}  // namespace callslip

#endif  // CALLSLIP_COMMON_SHELL_COMMANDS_H_
