#include "common/shell_commands.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace callslip {
namespace {

constexpr absl::string_view kOpen = "<shell>";
constexpr absl::string_view kClose = "</shell>";

bool ContinuesSequence(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

}  // namespace

std::string ShellCommandId(int64_t iteration, int64_t index) {
  return absl::StrCat(kShellCommandIdPrefix, iteration, "-", index);
}

std::optional<ShellCommandPlace> PlaceOfShellCommand(absl::string_view id) {
  if (!absl::ConsumePrefix(&id, kShellCommandIdPrefix)) return std::nullopt;
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(id, absl::MaxSplits('-', 1));
  ShellCommandPlace place;
  const bool are_numbers = absl::SimpleAtoi(parts.first, &place.iteration) &&
                           absl::SimpleAtoi(parts.second, &place.index);
  if (!are_numbers || place.iteration < 0 || place.index < 0) return std::nullopt;
  if (place.iteration > kMaxIteration) return std::nullopt;
  return place;
}

std::vector<ShellCommand> ShellCommandDetector::Feed(absl::string_view text) {
  std::vector<ShellCommand> found;
  for (const char byte : text) FeedByte(byte, found);
  return found;
}

void ShellCommandDetector::FeedByte(char byte, std::vector<ShellCommand>& found) {
  const absl::string_view tag = inside_ ? kClose : kOpen;
  if (byte != tag[matched_]) {
    // "<" occurs only as a tag's first character, so a tag can begin anew only at this byte.
    if (inside_ && !too_long_) command_.append(tag.data(), matched_);
    matched_ = 0;
  }
  if (byte == tag[matched_]) {
    if (++matched_ < tag.size()) return;
    matched_ = 0;
    if (inside_) EndCommand(found);
    inside_ = !inside_;
    return;
  }
  if (!inside_ || too_long_) return;
  command_ += byte;
  if (command_.size() <= kMaxShellCommandBytes) return;
  too_long_ = true;
  command_ = std::string();
}

void ShellCommandDetector::EndCommand(std::vector<ShellCommand>& found) {
  const std::string command = std::exchange(command_, {});
  const absl::string_view stripped = absl::StripAsciiWhitespace(command);
  if (std::exchange(too_long_, false) || stripped.empty()) return;
  if (next_index_ >= static_cast<int64_t>(kMaxShellCommands)) return;
  found.push_back({ShellCommandId(iteration_, next_index_++), std::string(stripped)});
}

std::string FormatToolResults(const std::vector<ShellResult>& results) {
  std::string text;
  for (const ShellResult& result : results) {
    const std::string body = absl::StrCat("$ ", result.command, "\n",
                                          TruncateOutput(absl::StripSuffix(result.output, "\n")));
    absl::StrAppend(
        &text, "<result id=\"", result.command_id, "\" ",
        result.ran ? absl::StrCat("exit_code=\"", result.exit_code, "\"") : "error=\"not_run\"",
        ">\n", absl::StrReplaceAll(body, {{"</result>", "<\\/result>"}}), "\n</result>\n");
  }
  return text;
}

std::string TruncateOutput(absl::string_view output, size_t max_bytes) {
  if (output.size() <= max_bytes) return std::string(output);
  // The end says more about the outcome of a command than the beginning; both are useful.
  size_t head = max_bytes / 2;
  size_t tail = output.size() - (max_bytes - head);
  // Sequences have at most four bytes; anything longer is not UTF-8 and can be cut.
  for (int i = 0; i < 3 && head > 0 && ContinuesSequence(output[head]); ++i) --head;
  for (int i = 0; i < 3 && tail < output.size() && ContinuesSequence(output[tail]); ++i) ++tail;
  return absl::StrCat(output.substr(0, head), "\n[… ", tail - head, " bytes omitted …]\n",
                      output.substr(tail));
}

}  // namespace callslip
