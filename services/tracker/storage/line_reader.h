#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tracker/storage/disk.h"

namespace callslip::tracker {

// Reads the lines of a part of a file in order. Holds one line and one block, however long the file
// is. The disk and the file must outlive this.
class LineReader {
 public:
  // Reads [begin, end); `begin` must be the beginning of a line. Lines of more than `max_line`
  // bytes are reported without their text.
  LineReader(Disk* disk, const File* file, int64_t begin, int64_t end, size_t max_line);

  struct Line {
    absl::string_view text;  // Without the newline; valid until the next call.
    int64_t begin = 0;
    int64_t end = 0;  // After the newline.
  };
  // Returns false at the end, and if no newline follows. StorageFailed.
  absl::StatusOr<bool> Next(Line& line);

 private:
  absl::StatusOr<bool> ReadBlock();

  Disk* const disk_;
  const File* const file_;
  const int64_t end_;
  const size_t max_line_;
  // The part of the file from `offset_` on that has been read; the next line begins at `used_`.
  std::string buffer_;
  size_t used_ = 0;
  int64_t offset_;
  int64_t dropped_ = 0;  // Skipped bytes of a line that is too long.
};

}  // namespace callslip::tracker
