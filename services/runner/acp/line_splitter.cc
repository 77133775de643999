#include "runner/acp/line_splitter.h"

#include "absl/strings/strip.h"

namespace callslip::runner {

bool LineSplitter::Feed(absl::string_view bytes, absl::FunctionRef<void(absl::string_view)> take) {
  while (!lost_ && !bytes.empty()) {
    const size_t end = bytes.find('\n');
    const absl::string_view part = bytes.substr(0, end);
    if (begun_.size() + part.size() > limit_) {
      lost_ = true;
      begun_ = std::string();
      break;
    }
    if (end == absl::string_view::npos) {
      begun_.append(part.data(), part.size());
      break;
    }
    bytes.remove_prefix(end + 1);
    absl::string_view line = part;
    if (!begun_.empty()) {
      begun_.append(part.data(), part.size());
      line = begun_;
    }
    line = absl::StripSuffix(line, "\r");
    if (!line.empty()) take(line);
    // Releases the memory of a long line.
    begun_ = std::string();
  }
  return !lost_;
}

}  // namespace callslip::runner
