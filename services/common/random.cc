#include "common/random.h"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_format.h"

namespace callslip {
namespace {

// Draws from the kernel in blocks, since a system call for each id would cost as much as the rest
// of a registration. Used bytes are wiped, so that a memory dump shows no issued id.
class RandomBlock {
 public:
  template <typename T>
  T Take() {
    if (sizeof(T) > block_.size() - used_) Refill();
    T value;
    std::memcpy(&value, block_.data() + used_, sizeof(T));
    std::memset(block_.data() + used_, 0, sizeof(T));
    used_ += sizeof(T);
    return value;
  }

 private:
  using Block = std::array<char, 4096>;

  void Refill() {
    size_t filled = 0;
    while (filled < block_.size()) {
      const ssize_t got = getrandom(block_.data() + filled, block_.size() - filled, 0);
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

absl::uint128 Random128() {
  thread_local RandomBlock block;
  const auto high = block.Take<uint64_t>();
  const auto low = block.Take<uint64_t>();
  return absl::MakeUint128(high, low);
}

std::string RandomHex128() {
  const absl::uint128 random = Random128();
  return absl::StrFormat("%016x%016x", absl::Uint128High64(random), absl::Uint128Low64(random));
}

}  // namespace callslip
