#include "tracker/storage/line_reader.h"

#include <algorithm>

#include "common/status_macros.h"

namespace callslip::tracker {
namespace {

constexpr size_t kBlockBytes = size_t{64} << 10;

}  // namespace

LineReader::LineReader(Disk* disk, const File* file, int64_t begin, int64_t end, size_t max_line)
    : disk_(disk), file_(file), end_(end), max_line_(max_line), offset_(begin) {}

absl::StatusOr<bool> LineReader::Next(Line& line) {
  size_t searched = used_;
  while (true) {
    const size_t newline = buffer_.find('\n', searched);
    if (newline != std::string::npos) {
      line.begin = offset_ + static_cast<int64_t>(used_) - dropped_;
      line.end = offset_ + static_cast<int64_t>(newline) + 1;
      line.text = absl::string_view(buffer_).substr(used_, newline - used_);
      if (dropped_ > 0 || line.text.size() > max_line_) line.text = {};
      dropped_ = 0;
      used_ = newline + 1;
      return true;
    }
    if (buffer_.size() - used_ > max_line_) {
      // Too long to keep; the rest is read only to find its end.
      dropped_ += static_cast<int64_t>(buffer_.size() - used_);
      used_ = buffer_.size();
    }
    offset_ += static_cast<int64_t>(used_);
    buffer_.erase(0, used_);
    used_ = 0;
    searched = buffer_.size();
    ASSIGN_OR_RETURN(const bool more, ReadBlock());
    if (!more) return false;
  }
}

absl::StatusOr<bool> LineReader::ReadBlock() {
  const size_t held = buffer_.size();
  const int64_t from = offset_ + static_cast<int64_t>(held);
  const auto want =
      static_cast<size_t>(std::min<int64_t>(static_cast<int64_t>(kBlockBytes), end_ - from));
  if (want == 0) return false;
  buffer_.resize(held + want);
  const absl::StatusOr<size_t> got = disk_->ReadAt(*file_, from, buffer_.data() + held, want);
  buffer_.resize(held + got.value_or(0));
  RETURN_IF_ERROR(got.status());
  return *got > 0;
}

}  // namespace callslip::tracker
