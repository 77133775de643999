#include "common/random.h"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_format.h"

namespace callslip {
namespace {

// Reads from the kernel in blocks, because a system call per id would cost as much as the rest of a
// registration. Used numbers are wiped, so that a memory dump shows no issued id.
class RandomBlock {
 public:
  uint64_t Take() {
    if (used_ == block_.size()) Refill();
    return std::exchange(block_[used_++], 0);
  }

 private:
  using Block = std::array<uint64_t, 512>;

  void Refill() {
    auto* bytes = reinterpret_cast<char*>(block_.data());
    size_t filled = 0;
    while (filled < sizeof(block_)) {
      const ssize_t got = getrandom(bytes + filled, sizeof(block_) - filled, 0);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) {
        std::perror("getrandom");
        std::abort();
      }
      filled += static_cast<size_t>(got);
    }
    used_ = 0;
  }

  Block block_;
  size_t used_ = block_.size();
};

}  // namespace

uint64_t Random64() {
  thread_local RandomBlock block;
  return block.Take();
}

std::string RandomHex128() {
  const uint64_t high = Random64();
  return absl::StrFormat("%016x%016x", high, Random64());
}

}  // namespace callslip
