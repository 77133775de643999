#pragma once

#include <cstddef>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"

namespace callslip::runner {

// The longest line accepted from an agent; the same limit as in the protocol's own SDK.
inline constexpr size_t kMaxLineBytes = 32 << 20;

// Splits bytes read from a pipe into lines. Buffers at most one line.
class LineSplitter {
 public:
  explicit LineSplitter(size_t max_line_bytes = kMaxLineBytes) : limit_(max_line_bytes) {}

  // Calls `take` with each complete line, without its "\n" or "\r\n"; skips empty lines. Returns
  // false once a line exceeds the limit: the start of the next line is then unknown, so the
  // splitter discards all further input and buffers nothing.
  bool Feed(absl::string_view bytes, absl::FunctionRef<void(absl::string_view)> take);

 private:
  const size_t limit_;
  std::string begun_;  // An incomplete line.
  bool lost_ = false;
};

}  // namespace callslip::runner
