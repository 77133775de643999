#include "runner/session/shell_results.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/text_scan.h"

namespace callslip::runner {
namespace {

constexpr absl::string_view kLost =
    "[the output of a command was lost: it is in the session's events]";
// More than what is said where one is cut, and a line break.
constexpr size_t kNoteBytes = 128;

// The longest that each may be, so that all of them fit into `most` bytes.
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

std::string ShellResults(const std::vector<std::string>& results, size_t most) {
  const size_t share = ShareOf(results, most);
  std::string all;
  for (const std::string& result : results) {
    if (!all.empty() && all.back() != '\n') all += '\n';
    const absl::string_view told = CutText(result, share);
    absl::StrAppend(&all, result.empty() ? kLost : told);
    if (told.size() < result.size()) {
      absl::StrAppend(&all, "\n[", result.size() - told.size(),
                      " bytes more are in the session's events]");
    }
  }
  return all;
}

}  // namespace callslip::runner
