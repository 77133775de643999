#pragma once

#include <unistd.h>

#include <cstddef>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace callslip {

// An open file, closed by the destructor.
class File {
 public:
  File() = default;
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  File& operator=(File&& other) noexcept {
    if (this != &other) {
      Close();
      descriptor_ = std::exchange(other.descriptor_, -1);
    }
    return *this;
  }
  ~File() { Close(); }

  void Close() {
    if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
  }
  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_ = -1;
};

// Writes all of `bytes`. False, with errno set, on failure.
bool WriteAll(const File& file, absl::string_view bytes);

// Appends the rest of the file to `contents`. False, with errno set, on failure: EFBIG if
// `contents` would be longer than `most` bytes.
bool ReadAll(const File& file, size_t most, std::string& contents);

}  // namespace callslip
