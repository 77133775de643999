#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

// Shell commands in an agent's text: <shell>ls -l</shell>. Each gets its own id, by which it is
// tracked until its result is there. The text cannot serve as the id, because the same command can
// occur twice in one answer (seed 003).
namespace callslip {

// A longer text is not a real command and is skipped.
inline constexpr size_t kMaxShellCommandBytes = size_t{64} << 10;
// Commands of one iteration; later ones are skipped.
inline constexpr size_t kMaxShellCommands = 1000;
// The part of a command's output that is sent back to the agent.
inline constexpr size_t kMaxShellOutputBytes = size_t{16} << 10;

// Of an answer: a 32-bit number in AddAgentTextRequest.
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
// Nullopt if `id` is not a valid command id.
std::optional<ShellCommandPlace> PlaceOfShellCommand(absl::string_view id);

// Finds the commands in text that arrives in pieces, and reports each as soon as its closing tag
// arrives. It does not matter where the text is split. Buffers at most one command. Not
// thread-safe.
class ShellCommandDetector {
 public:
  // `iteration` counts the agent's answers within its loop, from 0.
  explicit ShellCommandDetector(int64_t iteration) : iteration_(iteration) {}

  // The commands that end in this piece. Surrounding white space is removed, and empty commands are
  // ignored. Everything between an opening tag and the first closing tag is the command.
  std::vector<ShellCommand> Feed(absl::string_view text);

  int64_t iteration() const { return iteration_; }
  // The index of the next command.
  int64_t next_index() const { return next_index_; }
  void SkipTo(int64_t index) { next_index_ = index; }

 private:
  void FeedByte(char byte, std::vector<ShellCommand>& found);
  void EndCommand(std::vector<ShellCommand>& found);

  int64_t iteration_;
  int64_t next_index_ = 0;
  bool inside_ = false;
  size_t matched_ = 0;  // The matched length of the expected tag.
  std::string command_;
  bool too_long_ = false;
};

struct ShellResult {
  std::string command_id;
  std::string command;
  std::string output;
  // False if the command did not run: it then has no exit code, and `output` states the reason.
  bool ran = true;
  int exit_code = 0;
};

// Formats the results of the agent's commands for the agent, in order, each with truncated output:
//
//   <result id="cmd-0-0" exit_code="0">
//   $ ls
//   README.md
//   </result>
//
// A closing tag within an output is escaped.
std::string FormatToolResults(const std::vector<ShellResult>& results);

// Returns `output`, or if it is longer than `max_bytes`, its beginning and its end with a line
// between them that states how many bytes were omitted. Keeps UTF-8 sequences whole. The line does
// not count toward `max_bytes`.
std::string TruncateOutput(absl::string_view output, size_t max_bytes = kMaxShellOutputBytes);

}  // namespace callslip
