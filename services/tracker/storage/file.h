#pragma once

#include <unistd.h>

#include <utility>

namespace callslip::tracker {

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

}  // namespace callslip::tracker
