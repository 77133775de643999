#ifndef CALLSLIP_RUNNER_ACP_LINE_SPLITTER_H_
#define CALLSLIP_RUNNER_ACP_LINE_SPLITTER_H_

#include <cstddef>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"

namespace callslip::runner {

// What a line of an agent may have, as the protocol's own SDK has it.
inline constexpr size_t kMaxLineBytes = 32 << 20;

// Makes lines of what is read from a pipe. Holds no more than one line.
class LineSplitter {
 public:
  explicit LineSplitter(size_t max_line_bytes = kMaxLineBytes) : limit_(max_line_bytes) {}

  // Calls `take` with each line that is complete, without its "\n" or "\r\n"; never with an empty
  // one. False once a line is longer than the limit: then there is no telling where the next
  // begins, nothing is taken any more, and nothing is held.
  bool Feed(absl::string_view bytes, absl::FunctionRef<void(absl::string_view)> take);

 private:
  const size_t limit_;
  std::string begun_;  // A line whose end is yet to come.
  bool lost_ = false;
};

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_ACP_LINE_SPLITTER_H_
